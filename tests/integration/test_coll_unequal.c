/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different sizes over real rails: gather, all-gather, scatter and
 * reduce-scatter with counts, in each form; then counts that are wrong or
 * differ between ranks.
 */
#include <sched.h>

#include "scene.h"

enum { RANKS_MOST = 7 };

/* Elements of the block of a rank. */
static size_t count_of(unsigned kind, unsigned rank)
{
    return kind == 0   ? rank % 3
           : kind == 1 ? 1000 * (rank == 1)
                       : 50 * rank + 1;
}

struct unequal {
    dcoll_call_t call;
    size_t counts[RANKS_MOST], begin[RANKS_MOST + 1]; /* bytes */
};

static void unequal_make(struct unequal *u, const struct scene *s,
                         const dcoll_algorithm_t *a, unsigned kind)
{
    const bool reduces = dcoll_collective_reduces(a->collective);
    for (unsigned r = 0; r < s->r->size; r++) {
        u->counts[r] = count_of(kind, r);
        u->begin[r + 1] = u->begin[r] + u->counts[r];
    }
    u->call = (dcoll_call_t){.collective = a->collective,
                             .root = kind % s->r->size,
                             .send = s->send,
                             .recv = s->recv,
                             .algorithm = a->name,
                             .reduction = reduces ? &affine_reduction : NULL,
                             .counts = u->counts};
}

static bool uses_root(const struct unequal *u)
{
    return u->call.collective == DCOLL_GATHER ||
           u->call.collective == DCOLL_SCATTER;
}

/* Does each rank send its own block, not one to each? */
static bool gathers(const struct unequal *u)
{
    return u->call.collective == DCOLL_GATHER ||
           u->call.collective == DCOLL_ALLGATHER;
}

/* In place: on all ranks, or at the root. */
static void put_in_place(struct unequal *u, const struct scene *s)
{
    if (uses_root(u) && s->r->rank != u->call.root)
        return;
    if (u->call.collective == DCOLL_SCATTER)
        u->call.recv = DCOLL_IN_PLACE;
    else
        u->call.send = DCOLL_IN_PLACE;
}

static void fill_unequal(struct scene *s, const struct unequal *u,
                         unsigned start)
{
    const unsigned me = s->r->rank, n = s->r->size;
    const bool in_place = u->call.send == DCOLL_IN_PLACE;
    memset(s->recv, 0xee, u->begin[n] + ROOM);
    if (gathers(u))
        fill(in_place ? s->recv + u->begin[me] : s->send, start, me, 0,
             u->counts[me]);
    else
        for (unsigned to = 0; to < n; to++)
            fill((in_place ? s->recv : s->send) + u->begin[to], start, me, to,
                 u->counts[to]);
}

static void check_unequal(struct scene *s, const struct unequal *u,
                          unsigned start)
{
    const unsigned me = s->r->rank, n = s->r->size;
    size_t end = u->begin[n];
    const bool idle = uses_root(u) && me != u->call.root;
    if (u->call.recv == DCOLL_IN_PLACE || (idle && gathers(u))) {
        end = 0; /* nothing is written */
    } else if (gathers(u)) {
        for (unsigned from = 0; from < n; from++)
            check(holds(s->recv + u->begin[from], start, from, 0,
                        u->counts[from]));
    } else if (u->call.collective == DCOLL_SCATTER) {
        check(holds(s->recv, start, u->call.root, me, u->counts[me]));
        end = u->counts[me];
    } else {
        for (size_t i = 0; i < u->counts[me]; i++) {
            unsigned char value = content(start, 0, me, i);
            for (unsigned r = 1; r < n; r++)
                value = affine(value, content(start, r, me, i));
            check(s->recv[i] == value);
        }
        end = u->call.send == DCOLL_IN_PLACE ? end : u->counts[me];
    }
    for (unsigned i = 0; i < ROOM; i++)
        check(s->recv[end + i] == 0xee);
}

static void run_forms(struct scene *s, struct unequal *u)
{
    const char *name = u->call.algorithm;
    dcoll_request_t *q;
    for (unsigned start = 0; start < 3; start++) {
        fill_unequal(s, u, start);
        good(s, dcoll_run(s->team, &u->call), name);
        check_unequal(s, u, start);
    }
    fill_unequal(s, u, 3);
    good(s, dcoll_begin(s->team, &u->call, &q), name);
    good(s, dcoll_wait(q, -1), name);
    check_unequal(s, u, 3);
    good(s, dcoll_init(s->team, &u->call, &q), name);
    for (unsigned start = 4; start < 7; start++) {
        fill_unequal(s, u, start);
        good(s, dcoll_start(q), name);
        good(s, dcoll_wait(q, -1), name);
        check_unequal(s, u, start);
    }
    good(s, dcoll_free(q), name);
}

static void every_algorithm(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned way = 0; (*a)->unequal && way < 6; way++) {
            struct unequal u = {0};
            unequal_make(&u, &s, *a, way / 2);
            dcoll_args_t args = {.collective = (*a)->collective};
            if (dcoll_refusal(*a, dcoll_team_shape(s.team), &args))
                continue;
            if (way % 2)
                put_in_place(&u, &s);
            run_forms(&s, &u);
        }
    scene_close(&s);
}

/* The functions; the choice is the team's. Other counts need another request;
 * so do equal blocks of the same buffers. */
static void plain_functions(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    for (unsigned i = 0; i < 12; i++) {
        struct unequal u = {0};
        unequal_make(&u, &s, dcoll_algorithm_find(DCOLL_ALLGATHER, "direct"),
                     i % 3);
        fill_unequal(&s, &u, i);
        good(&s, dcoll_allgatherv(s.team, s.send, s.recv, u.counts), "v");
        check_unequal(&s, &u, i);
        dcoll_call_t equal = {.collective = DCOLL_ALLGATHER,
                              .send = s.send,
                              .recv = s.recv,
                              .bytes = 50};
        give(&s, &equal, i);
        good(&s, dcoll_run(s.team, &equal), "equal");
        check(got(&s, &equal, i));
        u.call.collective = DCOLL_GATHER;
        fill_unequal(&s, &u, i);
        good(&s, dcoll_gatherv(s.team, s.send, s.recv, u.counts, u.call.root),
             "gatherv");
        check_unequal(&s, &u, i);
        u.call.collective = DCOLL_SCATTER;
        fill_unequal(&s, &u, i);
        good(&s, dcoll_scatterv(s.team, s.send, s.recv, u.counts, u.call.root),
             "scatterv");
        check_unequal(&s, &u, i);
        u.call.collective = DCOLL_REDUCE_SCATTER_BLOCK;
        fill_unequal(&s, &u, i);
        good(&s,
             dcoll_reduce_scatter(s.team, s.send, s.recv, u.counts,
                                  &affine_reduction),
             "reduce-scatter");
        check_unequal(&s, &u, i);
    }
    scene_close(&s);
}

static void refused(struct scene *s, int rc, const char *part)
{
    team_fails(s->r, s->team, rc, DRAIL_EINVAL, part);
}

static void check_untouched(const struct scene *s)
{
    for (unsigned i = 0; i < MOST; i++)
        check(s->recv[i] == 0xee);
}

/* Wrong on this rank alone: nothing is written, and the team goes on. */
static void bad_counts(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    size_t counts[] = {8, 0}, much[] = {8, (size_t)-1};
    const dcoll_reduction_t *sum = dcoll_reduction(DCOLL_INT64, DCOLL_SUM);
    memset(s.recv, 0xee, MOST);
    refused(&s, dcoll_allgatherv(s.team, s.send, s.recv, NULL),
            "counts is NULL");
    refused(&s, dcoll_allgatherv(s.team, s.send, s.recv, much),
            "counts[1] is -1");
    refused(&s, dcoll_gatherv(s.team, s.send, s.recv, much, 0),
            "counts[1] is -1");
    refused(&s, dcoll_gatherv(s.team, s.send, s.recv, counts, 2), "root 2");
    refused(&s, dcoll_scatterv(s.team, s.send, s.recv, NULL, 0),
            "counts is NULL");
    if (r->rank == 0) {
        refused(&s, dcoll_gatherv(s.team, s.send, NULL, counts, 0),
                "recv is NULL");
        refused(&s, dcoll_scatterv(s.team, NULL, s.recv, counts, 0),
                "send is NULL");
    }
    refused(&s, dcoll_reduce_scatter(s.team, s.send, s.recv, much, sum),
            "counts[1] is -1");
    if (r->rank == 0)
        refused(&s, dcoll_allgatherv(s.team, NULL, s.recv, counts),
                "send is NULL");
    refused(&s, dcoll_allgatherv(s.team, s.send, NULL, counts), "recv is NULL");
    refused(&s,
            dcoll_run(s.team, &(dcoll_call_t){.collective = DCOLL_BCAST,
                                              .recv = s.recv,
                                              .counts = counts}),
            "counts: allowed in");
    check_untouched(&s);
    /* a rank without bytes needs no send */
    good(&s, dcoll_allgatherv(s.team, r->rank ? NULL : s.send, s.recv, counts),
         "right");
    scene_close(&s);
}

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* A call of this form; a prepared one is not started. */
static int call_as(struct scene *s, unsigned form, const dcoll_call_t *call)
{
    dcoll_request_t *q;
    return form == BLOCKING      ? dcoll_run(s->team, call)
           : form == NONBLOCKING ? dcoll_begin(s->team, call, &q)
                                 : dcoll_init(s->team, call, &q);
}

static const dcoll_collective_t with_counts[] = {
    DCOLL_ALLGATHER, DCOLL_GATHER, DCOLL_SCATTER, DCOLL_REDUCE_SCATTER_BLOCK};
enum { WITH_COUNTS = sizeof with_counts / sizeof *with_counts };

static dcoll_call_t counted(const struct scene *s, dcoll_collective_t what,
                            const size_t *counts)
{
    const bool reduces = dcoll_collective_reduces(what);
    return (dcoll_call_t){.collective = what,
                          .send = s->send,
                          .recv = s->recv,
                          .reduction = reduces ? &affine_reduction : NULL,
                          .counts = counts};
}

/* One rank's counts differ: all are told, and nothing is written. */
static void try_different(struct rank *r, dcoll_collective_t what,
                          unsigned form)
{
    struct scene s;
    scene_open(&s, r, 2);
    size_t counts[] = {8, 16, 24};
    if (r->rank == 1)
        counts[2] = 16;
    memset(s.recv, 0xee, MOST);
    const dcoll_call_t call = counted(&s, what, counts);
    refused(&s, call_as(&s, form, &call), "counts");
    check(strstr(dcoll_last_error(s.team), "rank 1") != NULL || r->rank == 1);
    check_untouched(&s);
    barrier(r);
    dcoll_team_free(s.team);
}

static void different_counts(struct rank *r)
{
    for (unsigned i = 0; i < WITH_COUNTS * FORMS; i++)
        try_different(r, with_counts[i / FORMS], i % FORMS);
}

/* A count of rank 1 is negative, or it has no buffer: it is told so, and skips
 * the call. The others are told that rank 1 did, and nothing is written. */
static void try_wrong_on_one(struct rank *r, dcoll_collective_t what,
                             unsigned form, bool negative)
{
    struct scene s;
    scene_open(&s, r, 2);
    const bool faulty = r->rank == 1;
    const size_t counts[] = {8, 16, negative && faulty ? (size_t)-2 : 24};
    memset(s.recv, 0xee, MOST);
    dcoll_call_t call = counted(&s, what, counts);
    call.root = 1;
    if (faulty && !negative)
        call.send = NULL;
    if (faulty) {
        refused(&s, call_as(&s, form, &call),
                negative ? "counts[2] is -2" : "send is NULL");
        check(!dcoll_team_error(s.team));
        dcoll_team_skip(s.team);
        refused(&s, dcoll_barrier(s.team), NULL);
    } else {
        refused(&s, call_as(&s, form, &call), "rank 1");
    }
    check_untouched(&s);
    barrier(r);
    dcoll_team_free(s.team);
}

static void wrong_on_one(struct rank *r)
{
    for (unsigned i = 0; i < 2 * WITH_COUNTS * FORMS; i++)
        try_wrong_on_one(r, with_counts[i / 2 / FORMS], i / 2 % FORMS, i % 2);
}

static void short_timeout(drail_config_t *cfg)
{
    cfg->timeout_ms = 5000;
}

static const struct test tests[] = {
    {"one rank", 1, every_algorithm, NULL, APART},
    {"two nodes of one", 2, every_algorithm, NULL, APART | PPN(1)},
    {"four ranks", 4, every_algorithm, NULL, APART},
    {"seven ranks on nodes of three", 7, every_algorithm, NULL, APART | PPN(3)},
    {"functions", 3, plain_functions, NULL, APART},
    {"functions, three nodes", 3, plain_functions, NULL, APART | PPN(1)},
    {"bad counts", 2, bad_counts, NULL, APART},
    {"different counts", 3, different_counts, short_timeout, APART},
    {"different counts, three nodes", 3, different_counts, short_timeout,
     APART | PPN(1)},
    {"wrong on one rank", 3, wrong_on_one, short_timeout, APART},
    {"wrong on one rank, three nodes", 3, wrong_on_one, short_timeout,
     APART | PPN(1)},
};

RUN_TESTS(tests)
