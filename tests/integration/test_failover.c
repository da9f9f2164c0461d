/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection breaks at each DTO of a script, at either end: what the script
 * moves arrives once, in order and whole, over the other rail; then the rail
 * comes back.
 */
#include "failover.h"

/* Where it breaks: just before that DTO, or just after it. */
struct place {
    unsigned rank, rail;
    bool after;
};

/* The DTOs that this rank posts there in one script. */
static unsigned dtos(struct rank *r, const struct script *s,
                     const struct place *place)
{
    unsigned before = cut.posted[place->rail], mine, all[2];
    script_run(r, s, 0);
    barrier(r);
    mine = cut.posted[place->rail] - before;
    check(drail_job_allgather(r->job, &mine, sizeof mine, all, -1) == 0);
    return all[place->rank];
}

static void each_dto(struct rank *r, const struct place *place, unsigned step)
{
    struct script s;
    script_open(r, &s);
    unsigned n = dtos(r, &s, place);
    cut.after = place->after;
    check(n > 5);
    for (unsigned k = 0; k < n; k += step) {
        if (r->rank == place->rank)
            cut.left[place->rail] = k;
        script_run(r, &s, 1 + 2 * k);
        cut.left[place->rail] = CUT_NEVER;
        script_run(r, &s, 2 + 2 * k);
        await_rails(r);
    }
    check(r->rank != place->rank || cut.cuts > n / step / 2);
    check(stats_sum(r).failures >= cut.cuts);
    script_close(r, &s);
}

static void before_rail_0(struct rank *r)
{
    each_dto(r, &(struct place){.rank = 0, .rail = 0}, 1);
}

static void before_rail_1(struct rank *r)
{
    each_dto(r, &(struct place){.rank = 1, .rail = 1}, 1);
}

static void after_rail_0(struct rank *r)
{
    each_dto(r, &(struct place){.rank = 1, .rail = 0, .after = true}, 1);
}

static void after_rail_1(struct rank *r)
{
    each_dto(r, &(struct place){.rank = 0, .rail = 1, .after = true}, 1);
}

static void now_and_then(struct rank *r)
{
    each_dto(r, &(struct place){.rank = 0, .rail = 0}, 3);
}

/* An atomic under way on a rail that breaks: it is said that nobody knows. By
 * message, it comes once. */
static void atomics(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 8);
    uint64_t old, done = 0, unknown = 0;
    for (unsigned k = 0; k < 8; k++) {
        cut.after = k % 2;
        if (r->rank == 0) {
            cut.left[0] = k / 4; /* the first, or the one after it */
            for (unsigned i = 0; i < 3; i++) {
                int rc = drail_atomic(r->t, 1, DRAIL_FETCH_ADD, &m.keys[1], 0,
                                      1, 0, &old);
                check(rc == 0 || rc == DRAIL_EPEER);
                check(!rc || strstr(drail_last_error(r->t), "lost"));
                check(rc || (old >= done && old <= done + unknown));
                done += !rc;
                unknown += rc && strstr(drail_last_error(r->t), "or not");
            }
            cut.left[0] = CUT_NEVER;
            expect(r, 0, drail_notify(r->t, 1, 0, k));
        } else {
            await_note(r, k);
        }
        await_rails(r);
    }
    if (r->rank == 0) {
        expect(
            r, 0,
            drail_atomic(r->t, 1, DRAIL_FETCH_ADD, &m.keys[1], 0, 0, 0, &old));
        check(cut.cuts > 4 && done && old >= done && old <= done + unknown);
        expect(r, 0, drail_notify(r->t, 1, 0, 8));
    } else { /* by message, it serves them in its calls */
        await_note(r, 8);
    }
    memory_close(r, &m);
}

static void by_send(drail_config_t *cfg)
{
    nonthreaded(cfg);
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
}

static void by_immed(drail_config_t *cfg)
{
    nonthreaded(cfg);
    cfg->notify_by = DRAIL_NOTIFY_BY_IMMED;
}

static void threaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void two_eps(drail_config_t *cfg)
{
    nonthreaded(cfg);
    cfg->eps = 2;
}

/* Few credits: a message's parts on the rails wait for each other. */
static void shallow(drail_config_t *cfg)
{
    nonthreaded(cfg);
    cfg->depth = 4;
}

static const struct test tests[] = {
    {"before each DTO, rail 0", 2, before_rail_0, by_send, 0},
    {"before each DTO, rail 1", 2, before_rail_1, by_send, 0},
    {"after each DTO, rail 0", 2, after_rail_0, by_send, 0},
    {"after each DTO, rail 1", 2, after_rail_1, nonthreaded, 0},
    {"immediate data", 2, now_and_then, by_immed, 0},
    {"immediate data, rail 1", 2, before_rail_1, by_immed, 0},
    {"two EPs", 2, now_and_then, two_eps, 0},
    {"few credits", 2, now_and_then, shallow, 0},
    {"threads", 2, now_and_then, threaded, 0},
    {"threads, rail 1", 2, after_rail_1, threaded, 0},
    {"atomics", 2, atomics, nonthreaded, 0},
};

RUN_TESTS(tests)
