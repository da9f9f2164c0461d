/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More rails are not always faster: they may share a bus, be far away, or cost
 * more to drive than they carry at this size. No model knows all that, so it
 * is tried: now and then a challenger, another set of rails, gets the messages
 * of one epoch, and its rate is compared with the champion's in the epoch
 * before. It must win twice in a row, by a margin, as one epoch may just have
 * been disturbed.
 *
 * Trials cost what the challenger is slower. That is added up as a debt; as
 * long as the champion has not run for 100 times as long, there are no more
 * trials. The first round of candidates, and one after the champion's rate has
 * changed, are free.
 */
#include "choose.h"

#define EPOCH_MESSAGES 8      /* an epoch has at least so many … */
#define EPOCH_NS       500000 /* … and lasts so long */
#define SKIP_MESSAGES  2      /* caches, sleeping threads, messages under way */
#define MARGIN         1.03   /* a win */
#define WINS           2
#define HOPELESS       0.7 /* of the champion's rate: the trial ends early … */
#define HOPELESS_AFTER 2   /* … after so many samples */
#define BUDGET         0.01 /* part of the time that trials may lose */
#define DEBT_MAX       1000 /* messages: the process may just have slept */
#define GRANTS         3    /* new champions that get a free round, too */
#define PAUSE          32   /* epochs between trials, at least */
#define CHANGED        1.25 /* another rate than usual, up or down, … */
#define CHANGED_EPOCHS 2    /* … for so many epochs */
#define SMOOTHING      0.1  /* of the usual rate */
/* Between two such changes so many times what trials have lost in between. */
#define PATIENCE_MIN 20
#define PATIENCE_MAX 1280

static uint32_t bit(unsigned rail)
{
    return (uint32_t)1 << rail;
}

static uint32_t all(const struct choice *c)
{
    return bit(c->nrails) - 1;
}

/* Each rail alone; all; the champion with one rail more or less, which of two
 * rails makes no other set. */
static unsigned candidates(const struct choice *c)
{
    return c->nrails == 2 ? 3 : 2 * c->nrails + 1;
}

static uint32_t candidate(const struct choice *c, unsigned i)
{
    if (i < c->nrails)
        return bit(i);
    return i == c->nrails ? all(c) : c->champion ^ bit(i - c->nrails - 1);
}

static uint32_t next_candidate(struct choice *c)
{
    uint32_t set;
    do {
        set = candidate(c, c->next);
        c->next = (c->next + 1) % candidates(c);
    } while (!set || set == c->champion);
    return set;
}

void choice_init(struct choice *c, unsigned nrails)
{
    *c = (struct choice){.nrails = nrails, .patience = PATIENCE_MIN};
    c->champion = all(c);
    c->free = candidates(c) - 1;
    c->grants = GRANTS;
    c->epoch.skip = SKIP_MESSAGES;
}

uint32_t choice_set(const struct choice *c)
{
    return c->trial ? c->challenger : c->champion;
}

/* The next epoch, of the champion or of the challenger. */
static void turn(struct choice *c, bool trial)
{
    bool other = trial != c->trial;
    c->trial = trial;
    c->epoch = (struct epoch){.skip = other ? SKIP_MESSAGES : 0};
}

/* The rails of set that the champion does without have been tried. */
static void note_lost(struct choice *c, uint32_t set, double with,
                      double without)
{
    for (unsigned r = 0; r < c->nrails; r++)
        if (set & ~c->champion & bit(r)) {
            c->lost[r].with = (float)with;
            c->lost[r].without = (float)without;
        }
}

static void trial_ends(struct choice *c, double rate)
{
    bool won = rate > c->rate * MARGIN;
    if (won && ++c->wins < WINS) {
        turn(c, false);
        return; /* and once more */
    }
    if (won) {
        uint32_t before = c->champion;
        c->champion = c->challenger;
        note_lost(c, before, c->rate, rate);
        if (rate > c->rate * CHANGED)
            c->patience = PATIENCE_MIN;
        c->rate = c->usual = rate;
        if (c->grants) { /* it may have been a disturbance, after all */
            c->grants--;
            c->free = candidates(c) - 1;
        }
        c->trial = false; /* its messages just go on */
    } else if (!(c->champion & ~c->challenger)) {
        note_lost(c, c->challenger, rate, c->rate);
    }
    c->challenger = 0;
    c->wins = c->since = 0;
    turn(c, false);
}

/* When the champion's rate has changed, what was tried says nothing more. */
static void look_for_change(struct choice *c)
{
    bool odd = c->rate > c->usual * CHANGED || c->rate * CHANGED < c->usual;
    c->odd = odd ? c->odd + 1 : 0;
    if (!odd)
        c->usual += SMOOTHING * (c->rate - c->usual);
    if (c->odd < CHANGED_EPOCHS || c->quiet < c->patience * c->spent)
        return;
    c->usual = c->rate;
    c->odd = 0;
    c->free = candidates(c) - 1;
    c->grants = GRANTS;
    c->debt = c->quiet = c->spent = 0;
    if (c->patience < PATIENCE_MAX)
        c->patience *= 2; /* until it turns out to have been worth it */
}

static void champion_ends(struct choice *c, double rate)
{
    c->rate = rate;
    c->since++;
    if (c->usual > 0)
        look_for_change(c);
    else
        c->usual = rate;
    bool again = c->wins > 0;
    bool due = c->free || (c->since >= PAUSE && c->debt <= 0);
    if (!again && due) {
        c->challenger = next_candidate(c);
        c->free -= c->free > 0;
    }
    turn(c, again || due);
}

/* What trials cost: they, and the change back. */
static void account(struct choice *c, unsigned messages, double bytes,
                    double ns)
{
    if (c->trial || (c->epoch.skip && c->rate > 0)) {
        double fair = bytes / c->rate, most = DEBT_MAX * fair / messages;
        c->debt += ns - fair;
        c->spent += ns > fair ? ns - fair : 0;
        if (c->debt > most)
            c->debt = most;
        return;
    }
    c->quiet += ns;
    c->debt -= BUDGET * ns;
    if (c->debt < 0)
        c->debt = 0;
}

static bool hopeless(const struct choice *c, double bytes, double ns)
{
    return c->trial && bytes < c->rate * HOPELESS * ns;
}

void choice_measured(struct choice *c, uint32_t set, unsigned messages,
                     double bytes, double ns)
{
    struct epoch *e = &c->epoch;
    if (c->nrails < 2 || set != choice_set(c))
        return; /* started before this epoch */
    account(c, messages, bytes, ns);
    if (e->skip) {
        if (ns > 0)
            e->skip -= messages < e->skip ? messages : e->skip;
        return;
    }
    e->messages += messages;
    e->samples++;
    e->bytes += bytes;
    e->ns += ns;
    if (e->ns <= 0)
        return;
    bool complete = e->messages >= EPOCH_MESSAGES && e->ns >= EPOCH_NS;
    if (!complete &&
        !(e->samples >= HOPELESS_AFTER && hopeless(c, e->bytes, e->ns)))
        return;
    if (c->trial)
        trial_ends(c, e->bytes / e->ns);
    else
        champion_ends(c, e->bytes / e->ns);
}
