/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine names who drives the rails, but `auto`, which takes what has been
 * measured to be fastest. Policy adaptive leaves out rails in the same manner,
 * with any engine.
 */
#include "dapl_rail/stripe/tuning/way.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/stripe/tuning/timing.h"

/* Where one kind of message rests, another may not: then all are timed, for so
 * many messages, as those that are not would hide when the others began. */
#define AWAKE     64
#define STREAM_NS 1e6 /* what is under way lasts for longer than a trial */

struct way way_within(const drail_t *t, uint32_t rails)
{
    bool one = t->cfg.engine == DRAIL_ENGINE_SINGLE ||
               t->cfg.policy == DRAIL_POLICY_FIXED;
    return (struct way){
        .rails = one ? fixed_rail(t, rails) : rails,
        .threads = t->cfg.engine == DRAIL_ENGINE_THREADED,
    };
}

/* As the settings say it. */
static struct way settled(const drail_t *t)
{
    return way_within(t, t->measured);
}

static struct way chosen(const drail_t *t, struct choice *choice, uint32_t set,
                         unsigned size)
{
    struct way way = settled(t);
    way.set = set;
    way.rails = set & ~WITH_THREADS;
    way.threads |= (set & WITH_THREADS) != 0;
    way.slot = timing_slot(t, way.threads, size);
    way.choice = choice;
    return way;
}

struct way way_of_long(const drail_t *t, bool reads, size_t bytes)
{
    unsigned size = timing_size(bytes);
    struct choice *choice = timing_choice(t, reads, size);
    return chosen(t, choice, choice_set(choice), size);
}

/* Short messages take a rail of those that the shortest striped ones are known
 * to go well with. */
void way_settle(drail_t *t)
{
    bool long_ones = timing_applies(t);
    size_t threshold = t->cfg.stripe_threshold;
    struct way way = settled(t);
    if (long_ones) {
        unsigned size = timing_size(threshold);
        way = chosen(t, NULL, timing_choice(t, false, size)->champion, size);
    }
    t->timing->brief = (struct brief){
        .below = !long_ones  ? SIZE_MAX
                 : threshold ? threshold
                             : 1,
        .rails = way.rails,
        .threads = way.threads,
        .slot = way.slot,
    };
}

struct way way_lately(const drail_t *t)
{
    if (!timing_applies(t))
        return settled(t);
    unsigned size = timing_latest(t);
    struct choice *choice = timing_choice(t, false, size);
    return chosen(t, choice, choice->champion, size);
}

static bool due(struct timing *k, struct choice *choice, unsigned messages)
{
    if (!choice_rests(choice, messages)) {
        k->awake = AWAKE;
    } else if (k->awake) {
        k->awake--;
    } else {
        k->gap = true;
        return false;
    }
    return true;
}

/*
 * In a stream so long all rails pay: each carries what it can, and no message
 * waits for one of them. Nothing is tried, as it would begin to tell only after
 * all that is under way, and as much would have gone that way by then. Threads
 * are another matter, and so are policies that do not level what is under way.
 */
static bool streams(const drail_t *t, const struct choice *choice)
{
    return t->cfg.policy == DRAIL_POLICY_ADAPTIVE &&
           !(choice->flags & CHOICE_THREADS) && choice->rate > 0 &&
           (double)timing_under_way(t) > STREAM_NS * choice->rate;
}

struct way way_next_long(drail_t *t, bool reads, size_t bytes,
                         unsigned messages)
{
    timing_used(t, reads, timing_size(bytes));
    struct way way = way_of_long(t, reads, bytes);
    if (!due(t->timing, way.choice, messages))
        return way;
    timing_harvest(t); /* which may have made up its mind */
    way_settle(t);
    struct choice *choice = way.choice;
    way = way_of_long(t, reads, bytes);
    if (streams(t, choice))
        way = chosen(t, choice, choice->rails, timing_size(bytes));
    way.timed = true;
    return way;
}
