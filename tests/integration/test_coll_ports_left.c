/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that lose a rail: `auto` plans long all-reduces by the rails that each
 * rank has left, and again when the rail is back. What the transport says of
 * links is made up here; tests/hosts/lost_rail.sh cuts real ones.
 */
#include "coll/dcoll.h"

#include "ranks.h"
#include "tests/stand_in.h"

enum {
    LONG_BYTES = 16 << 20,
    MEDIUM_BYTES = 1 << 20,
    SHORT_BYTES = 4 << 10,
    NOBODY = -1
};

/* Is this rank's rail 1 lost? */
static bool lost;

STAND_IN void drail_rail_stats(const drail_t *t, unsigned rail,
                               drail_rail_stats_t *stats)
{
    real(drail_rail_stats)(t, rail, stats);
    stats->links = 1;
    stats->links_up = !(lost && rail == 1);
}

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    int64_t *mine, *all;
};

static dcoll_call_t call_of(const struct scene *s, size_t bytes)
{
    return (dcoll_call_t){.collective = DCOLL_ALLREDUCE,
                          .send = s->mine,
                          .recv = s->all,
                          .bytes = bytes,
                          .reduction = dcoll_reduction(DCOLL_INT64, DCOLL_SUM)};
}

static void give(const struct scene *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->mine[i] = s->r->rank + (int64_t)i;
        s->all[i] = -1;
    }
}

static void check_sums(const struct scene *s, size_t n)
{
    const int64_t ranks = s->r->size, sum = ranks * (ranks - 1) / 2;
    for (size_t i = 0; i < n; i++)
        check(s->all[i] == sum + ranks * (int64_t)i);
}

static void reduce(const struct scene *s, size_t bytes)
{
    const dcoll_call_t call = call_of(s, bytes);
    give(s, bytes / sizeof *s->mine);
    expect(s->r, 0, dcoll_run(s->team, &call));
    check_sums(s, bytes / sizeof *s->mine);
}

/* Does auto divide such a call by ports now? A call that does not block shows
 * the plan and does not change it. */
static bool divides(const struct scene *s, size_t bytes)
{
    const dcoll_call_t call = call_of(s, bytes);
    dcoll_request_t *q;
    give(s, bytes / sizeof *s->mine);
    expect(s->r, 0, dcoll_begin(s->team, &call, &q));
    const bool by_ports = !strcmp(dcoll_request_algorithm(q)->name, "shares");
    expect(s->r, 0, dcoll_wait(q, -1));
    check_sums(s, bytes / sizeof *s->mine);
    return by_ports;
}

static void in_scene(struct rank *r, void (*play)(const struct scene *s))
{
    struct scene s = {
        .r = r, .mine = malloc(LONG_BYTES), .all = malloc(LONG_BYTES)};
    check(s.mine && s.all);
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &s.team, NULL));
    play(&s);
    dcoll_team_free(s.team);
    free(s.mine);
    free(s.all);
}

/* The next call is planned for what is left, whichever rank has lost it. */
static void play_lost(const struct scene *s)
{
    static const int losers[] = {NOBODY, 3, NOBODY, 0, 2, NOBODY};
    for (unsigned i = 0; i < sizeof losers / sizeof *losers; i++) {
        lost = losers[i] == (int)s->r->rank;
        reduce(s, LONG_BYTES);
        check(divides(s, LONG_BYTES) == (losers[i] != NOBODY));
        reduce(s, LONG_BYTES);
    }
}

static void lost_and_back(struct rank *r)
{
    in_scene(r, play_lost);
}

/* No rank has more than another: shares would gain nothing. */
static void play_all(const struct scene *s)
{
    lost = true;
    reduce(s, LONG_BYTES);
    check(!divides(s, LONG_BYTES));
}

static void lost_by_all(struct rank *r)
{
    in_scene(r, play_all);
}

/* Shorter calls: as soon as they have the bytes of a long one. */
static void play_medium(const struct scene *s)
{
    lost = s->r->rank == 1;
    for (unsigned i = 0; i < LONG_BYTES / MEDIUM_BYTES; i++) {
        check(!divides(s, MEDIUM_BYTES));
        reduce(s, MEDIUM_BYTES);
    }
    check(divides(s, MEDIUM_BYTES));
}

static void shorter_calls(struct rank *r)
{
    in_scene(r, play_medium);
}

/* A call that names its algorithm is planned anew, too, on all ranks: also on
 * those that use the same buffers as before. */
static void play_named(const struct scene *s)
{
    for (unsigned i = 0; i < 2; i++) {
        struct scene moved = *s;
        lost = i && s->r->rank == 3;
        reduce(s, LONG_BYTES);
        if (i && s->r->rank == 1)
            moved.all += LONG_BYTES / 2 / sizeof *s->all;
        dcoll_call_t call = call_of(&moved, SHORT_BYTES);
        call.algorithm = "shares";
        give(&moved, SHORT_BYTES / sizeof *s->mine);
        expect(s->r, 0, dcoll_run(s->team, &call));
        check_sums(&moved, SHORT_BYTES / sizeof *s->mine);
    }
}

static void named_calls(struct rank *r)
{
    in_scene(r, play_named);
}

static const struct test tests[] = {
    {"a rail is lost, and back", 4, lost_and_back, nonthreaded, APART | PPN(1)},
    {"all ranks lose it", 3, lost_by_all, nonthreaded, APART | PPN(1)},
    {"shorter calls", 3, shorter_calls, nonthreaded, APART | PPN(1)},
    {"named calls", 4, named_calls, nonthreaded, APART | PPN(1)},
};

RUN_TESTS(tests)
