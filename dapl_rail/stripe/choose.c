/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More rails are not always faster: they may share a bus, be far away, or cost
 * more to drive than they carry at this size; the same holds for threads. No
 * model knows all that, so it is tried: now and then a challenger, another set
 * of rails or the same with or without threads, gets the messages
 * of one epoch, and its rate is compared with the champion's in the epoch
 * before. The rate of an epoch is the median of those of its parts, as one of
 * them may have lasted for long just because another process ran; and it must
 * win twice in a row, by a margin.
 *
 * Trials cost what the challenger is slower. That is added up as a debt; as
 * long as the champion has not run for 100 times as long, there are no more
 * trials. The first round of candidates, and one after the champion's rate has
 * changed, are free.
 *
 * To time messages costs little, but more than nothing: where nothing else
 * depends on it, an epoch in which all was as usual is followed by a rest.
 */
#include "choose.h"

#define PART_NS        1e5  /* a part of an epoch lasts so long, at least */
#define LONG_NS        1e6  /* two that last so long are enough, … */
#define LONG_MESSAGES  20   /* … if they are of so many messages */
#define SKIP_MESSAGES  2    /* caches, sleeping threads, messages under way */
#define MARGIN         1.03 /* a win */
#define WINS           2
#define HOPELESS       0.7 /* of the champion's rate: the trial ends early … */
#define HOPELESS_AFTER 3   /* … after so many parts, all like that */
#define BUDGET         0.01 /* part of the time that trials may lose */
#define DEBT_MAX       1000 /* messages: the process may just have slept */
#define GRANTS         3    /* new champions that get a free round, too */
#define PAUSE          32   /* epochs between trials, at least */
#define REST           32   /* epochs without timing, after one with */
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

static unsigned count(uint32_t rails)
{
    return (unsigned)__builtin_popcount(rails);
}

static uint32_t nth(uint32_t rails, unsigned n)
{
    while (n--)
        rails &= rails - 1;
    return rails & -rails;
}

enum choice_kind choice_kind(uint32_t set)
{
    return set & WITH_THREADS   ? CHOICE_TEAM
           : several_rails(set) ? CHOICE_SEVERAL
                                : CHOICE_ONE;
}

static unsigned ways(const struct choice *c)
{
    return c->flags & CHOICE_THREADS ? 2 : 1;
}

/* Each rail alone; all; the champion with one rail more or less, which of two
 * rails makes no other set; the latter two also with threads, or without. */
static unsigned candidates(const struct choice *c)
{
    unsigned n = count(c->rails), near = n > 2 ? n + ways(c) - 1 : 0;
    return n + ways(c) + near;
}

static uint32_t candidate(const struct choice *c, unsigned i)
{
    unsigned n = count(c->rails);
    if (i < n)
        return nth(c->rails, i);
    i -= n;
    if (i < ways(c))
        return c->rails | (i ? WITH_THREADS : 0);
    i -= ways(c);
    uint32_t set = c->champion ^ (i < n ? nth(c->rails, i) : WITH_THREADS);
    return several_rails(set) ? set : set & ~WITH_THREADS;
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

void choice_init(struct choice *c, uint32_t rails, unsigned flags)
{
    *c = (struct choice){.rails = rails,
                         .flags = flags,
                         .champion = rails,
                         .patience = PATIENCE_MIN};
    c->free = candidates(c) - 1;
    c->grants = GRANTS;
    c->epoch.skip = SKIP_MESSAGES;
}

uint32_t choice_set(const struct choice *c)
{
    return c->trial ? c->challenger : c->champion;
}

bool choice_rests(struct choice *c, unsigned messages)
{
    if (!c->rest)
        return false;
    c->rest -= messages < c->rest ? messages : c->rest;
    return true;
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
    for (unsigned r = 0; r < DRAIL_MAX_RAILS; r++)
        if (set & ~c->champion & bit(r)) {
            c->lost[r].with = (float)with;
            c->lost[r].without = (float)without;
        }
}

static void trial_ends(struct choice *c, double rate)
{
    bool won = rate > c->rate * MARGIN;
    if (choice_kind(c->challenger) != choice_kind(c->champion))
        c->seen[choice_kind(c->challenger)] = rate;
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

/* Counted as if it were over: the champion goes on as it did. */
static void rest(struct choice *c)
{
    double ns = REST * EPOCH_PARTS * c->epoch.shortest;
    c->rest = REST * c->epoch.messages;
    c->since += REST;
    c->quiet += ns;
    c->debt = c->debt > BUDGET * ns ? c->debt - BUDGET * ns : 0;
}

static void champion_ends(struct choice *c, double rate)
{
    c->rate = c->seen[choice_kind(c->champion)] = rate;
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
    } else if (!again && !c->odd && c->flags & CHOICE_RESTS) {
        rest(c);
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

/* Insertion sort: the median. */
static double usual_rate(const struct epoch *e)
{
    double sorted[EPOCH_PARTS];
    for (unsigned i = 0; i < e->parts; i++) {
        unsigned at = i;
        for (; at && sorted[at - 1] > e->rate[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = e->rate[i];
    }
    return sorted[e->parts / 2];
}

static bool hopeless(const struct choice *c)
{
    const struct epoch *e = &c->epoch;
    if (!c->trial || e->parts < HOPELESS_AFTER)
        return false;
    for (unsigned i = 0; i < e->parts; i++)
        if (e->rate[i] >= HOPELESS * c->rate)
            return false;
    return true;
}

/* Is a part complete with these messages? */
static bool part_ends(struct epoch *e, unsigned messages, double bytes,
                      double ns)
{
    e->messages += messages;
    e->part_bytes += bytes;
    e->part_ns += ns;
    if (e->part_ns < PART_NS)
        return false;
    if (!e->parts || e->part_ns < e->shortest)
        e->shortest = e->part_ns;
    e->rate[e->parts++] = e->part_bytes / e->part_ns;
    e->part_bytes = e->part_ns = 0;
    return true;
}

static bool complete(const struct epoch *e)
{
    return e->parts == EPOCH_PARTS ||
           (e->parts > 1 && e->messages >= LONG_MESSAGES &&
            e->shortest >= LONG_NS);
}

void choice_measured(struct choice *c, uint32_t set, unsigned messages,
                     double bytes, double ns)
{
    struct epoch *e = &c->epoch;
    if (!several_rails(c->rails) || c->rest || set != choice_set(c))
        return; /* not asked for, or started before this epoch */
    account(c, messages, bytes, ns);
    if (e->skip) {
        if (ns > 0)
            e->skip -= messages < e->skip ? messages : e->skip;
        return;
    }
    if (!part_ends(e, messages, bytes, ns) || !(complete(e) || hopeless(c)))
        return;
    if (c->trial)
        trial_ends(c, usual_rate(e));
    else
        champion_ends(c, usual_rate(e));
}
