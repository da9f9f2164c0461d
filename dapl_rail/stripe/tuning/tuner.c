/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More rails are not always faster: they may share a bus, be far away, or cost
 * more to drive than they carry at this size; the same holds for threads. No
 * model knows all that, so it is tried: the first messages of a size are a
 * contest of all candidates, and the winner is the champion. Where there are
 * many rails, contests with what differs from it by one of them follow. Later,
 * now and then, one candidate challenges the champion. In a contest a turn
 * lasts for one part of an epoch.
 *
 * Trials cost what the challenger is slower. That is added up as a debt; as
 * long as the champion has not run for 100 times as long, there are no more
 * trials. The first contest, and one after the champion's rate has changed,
 * need not wait. The rate of the champion is that of an epoch, the median of
 * those of its parts, as one of them may have lasted for long just because
 * another process ran.
 *
 * To time messages costs little, but more than nothing: where nothing else
 * depends on it, an epoch of short ones in which all was as usual is followed
 * by a rest.
 */
#include "dapl_rail/stripe/tuning/tuner.h"

#define PART_NS        2e5 /* a part of an epoch lasts so long, at least */
#define TURN_MESSAGES  4   /* a turn is so many, at least, … */
#define TURN_NS        8e5 /* … but over then, however few it was, … */
#define TURN_NS_MIN    5e4 /* … and not before that */
#define LONG_NS        1e6 /* two parts that last so long are enough, … */
#define LONG_MESSAGES  20  /* … if they are of so many messages */
#define SKIP_MESSAGES  2 /* caches, sleeping threads, messages under way … */
#define SKIP_BYTES     8e6  /* … do not tell on as many of so many bytes */
#define BUDGET         0.01 /* part of the time that trials may lose */
#define LOSS_MAX       100  /* times as long: the process may have slept */
#define DEBT_MAX       1000 /* the same, of all that is to be made up for */
#define GRANTS         3    /* contests for new champions, in a row */
#define PAUSE          32   /* epochs between trials, at least */
#define REST           32   /* epochs without timing, after one with, … */
#define REST_NS        2e4  /* … where a message is over sooner than this */
#define CHANGED        1.25 /* another rate than usual, up or down, … */
#define CHANGED_EPOCHS 2    /* … for so many epochs */
#define SMOOTHING      0.1  /* of the usual rate */
/* Between two such changes so many times what trials have lost in between; as
 * they may lose their budget, it must be less than 1/BUDGET. */
#define PATIENCE_MIN 20
#define PATIENCE_MAX 80

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

/* Each rail alone; all, also with threads: these are all there are of two. */
static unsigned plain_candidates(const struct choice *c)
{
    return count(c->rails) + ways(c);
}

/* And the champion with one rail more or less, or with threads, or without. */
static unsigned candidates(const struct choice *c)
{
    unsigned n = count(c->rails), near = n > 2 ? n + ways(c) - 1 : 0;
    return plain_candidates(c) + near;
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

/* Of the champion and the candidates first … end - 1. */
static void contest(struct choice *c, unsigned first, unsigned end)
{
    contest_begin(&c->contest, c->champion, false);
    for (unsigned i = first; i < end; i++)
        if (candidate(c, i))
            contest_add(&c->contest, candidate(c, i));
}

static void contest_of_all(struct choice *c)
{
    c->grants = GRANTS;
    c->stint = 0;
    contest(c, 0, plain_candidates(c));
}

static void trial(struct choice *c)
{
    contest_begin(&c->contest, c->champion, true);
    contest_add(&c->contest, next_candidate(c));
}

void choice_init(struct choice *c, uint32_t rails, unsigned flags)
{
    *c = (struct choice){.rails = rails,
                         .flags = flags,
                         .champion = rails,
                         .patience = PATIENCE_MIN};
    c->epoch.skip = SKIP_MESSAGES;
    if (several_rails(rails))
        contest_of_all(c);
}

void choice_adopt(struct choice *c, uint32_t champion)
{
    if (c->rate > 0 || c->champion == champion)
        return;
    c->champion = champion;
    c->epoch = (struct epoch){.skip = SKIP_MESSAGES};
    contest_of_all(c);
}

bool choice_rests(struct choice *c, unsigned messages)
{
    if (!c->rest)
        return false;
    c->rest -= messages < c->rest ? messages : c->rest;
    return true;
}

/* The next epoch; was this set in use before? */
static void next_epoch(struct choice *c, uint32_t before)
{
    unsigned skip = c->stint > SKIP_MESSAGES ? c->stint : SKIP_MESSAGES;
    c->epoch = (struct epoch){.skip = choice_set(c) != before ? skip : 0};
}

/* The best in the contest of this kind that uses these rails, too. */
static double best_of(const struct contest *contest, unsigned kinds,
                      uint32_t rails)
{
    double best = 0;
    for (unsigned i = 0; i < contest->count; i++) {
        const struct entrant *e = &contest->entrants[i];
        double rate = entrant_rate(e);
        if (kinds >> choice_kind(e->set) & 1 && !(rails & ~e->set) &&
            rate > best)
            best = rate;
    }
    return best;
}

/* What each kind has reached, and the champion with one rail more. */
static void note_rates(struct choice *c)
{
    uint32_t rails = c->champion & ~WITH_THREADS;
    for (unsigned k = 0; k < CHOICE_KINDS; k++) {
        double rate = best_of(&c->contest, 1u << k, 0);
        if (rate > 0)
            c->seen[k] = rate;
    }
    c->seen[choice_kind(c->champion)] = c->rate;
    for (uint32_t left = c->rails & ~rails; left; left &= left - 1) {
        double with = best_of(&c->contest, ~0u, rails | (left & -left));
        if (with > 0) {
            unsigned r = (unsigned)__builtin_ctz(left);
            c->lost[r].with = (float)with;
            c->lost[r].without = (float)c->rate;
        }
    }
}

static void contest_ends(struct choice *c)
{
    const struct entrant *winner = contest_winner(&c->contest);
    bool other = winner->set != c->champion, first = !c->settled;
    double before = c->rate;
    c->champion = winner->set;
    c->rate = entrant_rate(winner);
    c->contest.in = 0;
    c->settled = true;
    c->since = 0;
    note_rates(c);
    if (other || c->usual <= 0)
        c->usual = c->rate;
    if (other && !first && c->rate > before * CHANGED)
        c->patience = PATIENCE_MIN;
    /* it may not be the best of those like it */
    if ((other || first) && c->grants && count(c->rails) > 2) {
        c->grants--;
        contest(c, plain_candidates(c), candidates(c));
    }
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
    c->debt = c->quiet = c->spent = 0;
    if (c->patience < PATIENCE_MAX)
        c->patience *= 2; /* until it turns out to have been worth it */
    contest_of_all(c);
}

/* Would the clock tell on messages as short as these? Long ones would hide a
 * change for long. */
static bool brief(const struct epoch *e)
{
    return e->shortest * e->parts < REST_NS * e->messages;
}

/* Counted as if it were over: the champion goes on as it did. */
static void rest(struct choice *c)
{
    double ns = REST * c->epoch.parts * c->epoch.shortest;
    c->rest = REST * c->epoch.messages;
    c->since += REST;
    c->quiet += ns;
    c->debt = c->debt > BUDGET * ns ? c->debt - BUDGET * ns : 0;
}

static void champion_ends(struct choice *c, double rate)
{
    c->rate = c->seen[choice_kind(c->champion)] = rate;
    c->since++;
    look_for_change(c);
    if (c->contest.in)
        return;
    if (c->since >= PAUSE && c->debt <= 0)
        trial(c);
    else if (!c->odd && c->flags & CHOICE_RESTS && brief(&c->epoch))
        rest(c);
}

/* What trials cost: they, and the change back. */
static void account(struct choice *c, double bytes, double ns)
{
    if (c->rate > 0 && (c->epoch.skip || choice_tries(c))) {
        double fair = bytes / c->rate, lost = ns - fair;
        if (lost > LOSS_MAX * fair)
            lost = LOSS_MAX * fair;
        c->debt += lost;
        c->spent += lost > 0 ? lost : 0;
        if (c->debt > DEBT_MAX * fair)
            c->debt = DEBT_MAX * fair;
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

/*
 * Is a part complete with these messages? The turns of a contest are as many
 * messages as the first part was, rounded: where both sides send to each other
 * and each waits for the other's messages, they mostly change at the same time.
 * What one side alone does differently would hardly tell.
 */
static bool part_ends(struct choice *c, unsigned messages, double bytes,
                      double ns)
{
    struct epoch *e = &c->epoch;
    e->messages += messages;
    e->part_bytes += bytes;
    e->part_ns += ns;
    bool enough = e->part_ns >= PART_NS;
    if (c->contest.in && c->stint)
        enough = e->part_ns >= TURN_NS ||
                 (e->part_ns >= TURN_NS_MIN && e->messages >= c->stint);
    if (!enough)
        return false;
    if (!e->parts || e->part_ns < e->shortest)
        e->shortest = e->part_ns;
    e->rate[e->parts++] = e->part_bytes / e->part_ns;
    e->part_bytes = e->part_ns = 0;
    if (!c->stint)
        c->stint = e->messages < TURN_MESSAGES
                       ? TURN_MESSAGES
                       : 1u << (31 - __builtin_clz(e->messages));
    return true;
}

static bool complete(const struct epoch *e)
{
    return e->parts == EPOCH_PARTS ||
           (e->parts > 1 && e->messages >= LONG_MESSAGES &&
            e->shortest >= LONG_NS);
}

/* Does the change to this set tell on so much? For as many messages as are
 * measured then: threads that are not needed any more spin for a while. */
static bool skipped(struct epoch *e, unsigned messages, double bytes, double ns)
{
    if (!e->skip || (messages >= LONG_MESSAGES && bytes >= SKIP_BYTES))
        return false;
    if (ns > 0)
        e->skip -= messages < e->skip ? messages : e->skip;
    e->skip_ns += ns;
    if (e->skip_ns >= TURN_NS)
        e->skip = 0;
    return true;
}

void choice_measured(struct choice *c, uint32_t set, unsigned messages,
                     double bytes, double ns)
{
    struct epoch *e = &c->epoch;
    if (!several_rails(c->rails) || c->rest || set != choice_set(c))
        return; /* not asked for, or started before this epoch */
    account(c, bytes, ns);
    if (skipped(e, messages, bytes, ns) || !part_ends(c, messages, bytes, ns))
        return;
    if (c->contest.in) {
        double rate = e->rate[0];
        if (c->rate <= 0)
            c->rate = rate;
        if (contest_turn(&c->contest, rate))
            contest_ends(c);
    } else if (complete(e)) {
        champion_ends(c, usual_rate(e));
    } else {
        return;
    }
    next_epoch(c, set);
}
