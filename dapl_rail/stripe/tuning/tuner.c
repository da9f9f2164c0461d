/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More rails are not always faster: they may share a bus, be far away, or cost
 * more to drive than they carry at this size. The same holds for threads. No
 * model knows all that, so sets are tried. The first messages of a size compare
 * each rail alone, all rails, and all rails with threads; the winner becomes
 * the champion. With more than two rails, comparisons with its neighbours
 * follow: sets that differ from it by one rail, or by threads. Later, now and
 * then, one challenger is compared with the champion (a trial). In a comparison
 * a turn lasts for one part of an epoch.
 *
 * A trial costs the time by which the challenger is slower. This time is added
 * up as a debt: the next trial waits until the champion has run for 100 times
 * the debt. The first comparison does not wait, nor does one after the
 * champion's rate has changed. The rate of an epoch is the median of the rates
 * of its parts, because another process may have disturbed one of them.
 *
 * Timing messages costs a little. So after an epoch of short messages with the
 * usual rate, the next ones are not timed (a rest), if nothing else needs it.
 */
#include "dapl_rail/stripe/tuning/tuner.h"

#define PART_NS        2e5 /* least time of a part of an epoch */
#define TURN_MESSAGES  4   /* a turn has so many messages at least, … */
#define TURN_NS        8e5 /* … but ends after so long in any case, … */
#define TURN_NS_MIN    5e4 /* … and not earlier than this */
#define LONG_NS        1e6 /* two parts that last so long are enough, … */
#define LONG_MESSAGES  20  /* … if they have so many messages */
#define SKIP_MESSAGES  2   /* do not count after a change of set: caches, … */
#define SKIP_BYTES     8e6 /* … sleeping threads; unless they are so long */
#define BUDGET         0.01 /* part of the time that trials may lose */
#define LOSS_MAX       100  /* most that a message may lose, in its own time */
#define DEBT_MAX       1000 /* the same of the debt: the process may sleep */
#define GRANTS         3    /* comparisons with neighbours, in a row */
#define PAUSE          32   /* epochs between trials, at least */
#define REST           32 /* epochs without timing after one with timing, … */
#define REST_NS        2e4  /* … if a message takes less than this */
#define CHANGED        1.25 /* another rate than usual, up or down, … */
#define CHANGED_EPOCHS 2    /* … for so many epochs */
#define SMOOTHING      0.1  /* of the usual rate */
/* A change counts only if the time without trials since the last change is so
 * many times what trials have lost. Less than 1/BUDGET, as trials may lose
 * their budget. */
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

enum tuner_kind tuner_kind(uint32_t set)
{
    return set & WITH_THREADS   ? TUNER_TEAM
           : several_rails(set) ? TUNER_SEVERAL
                                : TUNER_ONE;
}

static unsigned ways(const struct tuner *c)
{
    return c->flags & TUNER_THREADS ? 2 : 1;
}

/* Each rail alone, all, all with threads: with two rails there are no others.
 */
static unsigned basic_sets(const struct tuner *c)
{
    return count(c->rails) + ways(c);
}

/* Also neighbours: the champion with one rail more or less, or with or without
 * threads. */
static unsigned all_sets(const struct tuner *c)
{
    unsigned n = count(c->rails), near = n > 2 ? n + ways(c) - 1 : 0;
    return basic_sets(c) + near;
}

static uint32_t nth_set(const struct tuner *c, unsigned i)
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

static uint32_t next_set(struct tuner *c)
{
    uint32_t set;
    do {
        set = nth_set(c, c->next);
        c->next = (c->next + 1) % all_sets(c);
    } while (!set || set == c->champion);
    return set;
}

/* The champion against the sets first … end - 1. */
static void compare(struct tuner *c, unsigned first, unsigned end)
{
    comparison_begin(&c->comparison, c->champion, false);
    for (unsigned i = first; i < end; i++)
        if (nth_set(c, i))
            comparison_add(&c->comparison, nth_set(c, i));
}

static void compare_basic(struct tuner *c)
{
    c->grants = GRANTS;
    c->stint = 0;
    compare(c, 0, basic_sets(c));
}

static void trial(struct tuner *c)
{
    comparison_begin(&c->comparison, c->champion, true);
    comparison_add(&c->comparison, next_set(c));
}

void tuner_init(struct tuner *c, uint32_t rails, unsigned flags)
{
    *c = (struct tuner){.rails = rails,
                        .flags = flags,
                        .champion = rails,
                        .patience = PATIENCE_MIN};
    c->epoch.skip = SKIP_MESSAGES;
    if (several_rails(rails))
        compare_basic(c);
}

void tuner_adopt(struct tuner *c, uint32_t champion)
{
    if (c->rate > 0 || c->champion == champion)
        return;
    c->champion = champion;
    c->epoch = (struct epoch){.skip = SKIP_MESSAGES};
    compare_basic(c);
}

bool tuner_rests(struct tuner *c, unsigned messages)
{
    if (!c->rest)
        return false;
    c->rest -= messages < c->rest ? messages : c->rest;
    return true;
}

/* Begins the next epoch, after one with this set. */
static void next_epoch(struct tuner *c, uint32_t before)
{
    unsigned skip = c->stint > SKIP_MESSAGES ? c->stint : SKIP_MESSAGES;
    c->epoch = (struct epoch){.skip = tuner_set(c) != before ? skip : 0};
}

/* The best rate in the comparison of these kinds that uses all these rails. */
static double best_of(const struct comparison *p, unsigned kinds,
                      uint32_t rails)
{
    double best = 0;
    for (unsigned i = 0; i < p->count; i++) {
        const struct candidate *e = &p->candidates[i];
        double rate = candidate_rate(e);
        if (kinds >> tuner_kind(e->set) & 1 && !(rails & ~e->set) &&
            rate > best)
            best = rate;
    }
    return best;
}

/* For drail_explain: the best rate of each kind, and of the champion with one
 * rail more. */
static void note_rates(struct tuner *c)
{
    uint32_t rails = c->champion & ~WITH_THREADS;
    for (unsigned k = 0; k < TUNER_KINDS; k++) {
        double rate = best_of(&c->comparison, 1u << k, 0);
        if (rate > 0)
            c->seen[k] = rate;
    }
    c->seen[tuner_kind(c->champion)] = c->rate;
    for (uint32_t left = c->rails & ~rails; left; left &= left - 1) {
        double with = best_of(&c->comparison, ~0u, rails | (left & -left));
        if (with > 0) {
            unsigned r = (unsigned)__builtin_ctz(left);
            c->lost[r].with = (float)with;
            c->lost[r].without = (float)c->rate;
        }
    }
}

static void comparison_ends(struct tuner *c)
{
    const struct candidate *winner = comparison_winner(&c->comparison);
    bool other = winner->set != c->champion, first = !c->settled;
    double before = c->rate;
    c->champion = winner->set;
    c->rate = candidate_rate(winner);
    c->comparison.in = 0;
    c->settled = true;
    c->since = 0;
    note_rates(c);
    if (other || c->usual <= 0)
        c->usual = c->rate;
    if (other && !first && c->rate > before * CHANGED)
        c->patience = PATIENCE_MIN;
    /* a neighbour may be faster */
    if ((other || first) && c->grants && count(c->rails) > 2) {
        c->grants--;
        compare(c, basic_sets(c), all_sets(c));
    }
}

/* When the champion's rate has changed, earlier comparisons count no more. */
static void look_for_change(struct tuner *c)
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
    compare_basic(c);
}

/* Are these messages so short that reading the clock matters? A rest of long
 * ones would hide a change for too long. */
static bool brief(const struct epoch *e)
{
    return e->shortest * e->parts < REST_NS * e->messages;
}

/* The rest is accounted for at once, as if the champion went on as before. */
static void rest(struct tuner *c)
{
    double ns = REST * c->epoch.parts * c->epoch.shortest;
    c->rest = REST * c->epoch.messages;
    c->since += REST;
    c->quiet += ns;
    c->debt = c->debt > BUDGET * ns ? c->debt - BUDGET * ns : 0;
}

static void champion_ends(struct tuner *c, double rate)
{
    c->rate = c->seen[tuner_kind(c->champion)] = rate;
    c->since++;
    look_for_change(c);
    if (c->comparison.in)
        return;
    if (c->since >= PAUSE && c->debt <= 0)
        trial(c);
    else if (!c->odd && c->flags & TUNER_RESTS && brief(&c->epoch))
        rest(c);
}

/* The cost of trials, and of the change back to the champion. */
static void account(struct tuner *c, double bytes, double ns)
{
    if (c->rate > 0 && (c->epoch.skip || tuner_tries(c))) {
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

/*
 * Adds messages to the part. Is it complete? The turns of a comparison have as
 * many messages as the first part, rounded down to a power of two. So two ranks
 * that exchange messages mostly change sets at the same time; if only one of
 * them changed, the times would hardly differ.
 */
static bool part_ends(struct tuner *c, unsigned messages, double bytes,
                      double ns)
{
    struct epoch *e = &c->epoch;
    e->messages += messages;
    e->part_bytes += bytes;
    e->part_ns += ns;
    bool enough = e->part_ns >= PART_NS;
    if (c->comparison.in && c->stint)
        enough = e->part_ns >= TURN_NS ||
                 (e->part_ns >= TURN_NS_MIN && e->messages >= c->stint);
    if (!enough)
        return false;
    if (!e->parts || e->part_ns < e->shortest)
        e->shortest = e->part_ns;
    insert_rate(e->rate, e->parts++, e->part_bytes / e->part_ns);
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

/* Do these messages still show the change to this set, and so not count? Also
 * after a change back: threads that are not needed any more spin for a while.
 */
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

bool tuner_tries_one_rail(const struct tuner *c)
{
    return tuner_tries(c) && c->comparison.in & 1 && c->rate > 0 &&
           several_rails(c->champion) && !several_rails(tuner_set(c));
}

void tuner_rule_out(struct tuner *c)
{
    const uint32_t set = tuner_set(c);
    if (comparison_rule_out(&c->comparison))
        comparison_ends(c);
    next_epoch(c, set);
}

void tuner_measured(struct tuner *c, uint32_t set, unsigned messages,
                    double bytes, double ns)
{
    struct epoch *e = &c->epoch;
    if (!several_rails(c->rails) || c->rest || set != tuner_set(c))
        return; /* started before this epoch, or not timed for the tuner */
    account(c, bytes, ns);
    if (skipped(e, messages, bytes, ns) || !part_ends(c, messages, bytes, ns))
        return;
    if (c->comparison.in) {
        double rate = e->rate[0];
        if (c->rate <= 0)
            c->rate = rate;
        if (comparison_record(&c->comparison, rate))
            comparison_ends(c);
    } else if (complete(e)) {
        champion_ends(c, e->rate[e->parts / 2]); /* the median */
    } else {
        return;
    }
    next_epoch(c, set);
}
