/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over real rails: every algorithm with every kind of call, fresh
 * contents and skewed ranks; then calls that must fail.
 */
#include <sched.h>

#include "scene.h"

#define STARTS 3 /* one more than the depth of most */

/* Ranks arrive at different times. */
static void skew(struct scene *s, unsigned start)
{
    if ((s->r->rank + start) % 3 == 0)
        for (uint64_t spin = rnd(s->r) % 20000; spin; spin--)
            __asm__ volatile("");
}

static void run_persistent(struct scene *s, const dcoll_call_t *c)
{
    dcoll_request_t *q;
    good(s, dcoll_init(s->team, c, &q), c->algorithm);
    for (unsigned start = 0; start < STARTS; start++) {
        give(s, c, start);
        skew(s, start);
        good(s, dcoll_start(q), c->algorithm);
        good(s, dcoll_wait(q, -1), c->algorithm);
        check(got(s, c, start));
    }
    good(s, dcoll_free(q), c->algorithm);
}

static void run_blocking(struct scene *s, const dcoll_call_t *c)
{
    for (unsigned start = 0; start < 2; start++) {
        give(s, c, start);
        good(s, dcoll_run(s->team, c), c->algorithm);
        check(got(s, c, start));
    }
}

static void run_begun(struct scene *s, const dcoll_call_t *c)
{
    dcoll_request_t *q;
    int rc;
    give(s, c, 7);
    good(s, dcoll_begin(s->team, c, &q), c->algorithm);
    while ((rc = dcoll_test(q)) == DRAIL_EAGAIN)
        sched_yield();
    good(s, rc, c->algorithm);
    check(got(s, c, 7));
}

static void run_algorithm(struct scene *s, const dcoll_algorithm_t *a)
{
    static const size_t sizes[] = {0, 1, 8, 57, 1000, MOST};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            dcoll_call_t c;
            if (!scene_call(s, a, sizes[i], (i + in_place) % s->r->size,
                            in_place, &c))
                continue;
            run_persistent(s, &c);
            if (i % 2)
                continue;
            run_blocking(s, &c);
            run_begun(s, &c);
        }
}

static void algorithms(struct rank *r, unsigned depth)
{
    struct scene s;
    unsigned done = 0;
    scene_open(&s, r, depth);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        dcoll_args_t args = {
            .collective = (*a)->collective, .commutes = true, .depth = depth};
        if (dcoll_refusal(*a, dcoll_team_shape(s.team), &args))
            continue;
        run_algorithm(&s, *a);
        done++;
    }
    check(done > 10);
    scene_close(&s);
}

static void every_algorithm(struct rank *r)
{
    algorithms(r, 2);
}

static void every_algorithm_depth_1(struct rank *r)
{
    algorithms(r, 1);
}

/* --------------------------------------------------- several under way */

static void overlapping(struct rank *r)
{
    struct scene s;
    enum { N = 4 };
    dcoll_request_t *q[N];
    unsigned char *recv[N];
    unsigned char send[N][16];
    scene_open(&s, r, 2);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < N; i++) {
            recv[i] = s.recv + i * 16 * r->size;
            fill(send[i], round, r->rank, i, 16);
            dcoll_call_t c = {
                DCOLL_ALLGATHER, send[i], recv[i], 16, 0, NULL, NULL, NULL};
            good(&s, dcoll_begin(s.team, &c, &q[i]), "begin");
        }
        /* ranks end them in different orders */
        for (unsigned i = 0; i < N; i++)
            good(&s, dcoll_wait(q[(i + r->rank) % N], -1), "wait");
        for (unsigned i = 0; i < N; i++)
            for (unsigned from = 0; from < r->size; from++)
                check(holds(recv[i] + from * 16, round, from, i, 16));
    }
    scene_close(&s);
}

/* A collective under way must not wait for a rank that prepares the next
 * call. */
static void prepared_while_started(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q;
    dcoll_call_t c = {DCOLL_ALLGATHER, NULL, NULL, 8, 0, "bruck", NULL, NULL};
    scene_open(&s, r, 2);
    c.send = s.send;
    c.recv = s.recv;
    give(&s, &c, 3);
    good(&s, dcoll_init(s.team, &c, &q), "init");
    good(&s, dcoll_start(q), "start");
    if (r->rank == 0)
        good(&s, dcoll_wait(q, -1), "wait");
    good(&s, dcoll_barrier(s.team), "barrier");
    good(&s, dcoll_wait(q, -1), "wait");
    check(got(&s, &c, 3));
    scene_close(&s);
}

/* More starts than the transport has credits for, before anybody waits. */
static void many_started(struct rank *r)
{
    struct scene s;
    enum { N = 40 };
    dcoll_request_t *q[N];
    scene_open(&s, r, 2);
    good(&s, dcoll_barrier(s.team), "barrier"); /* prepares that of the end */
    for (unsigned i = 0; i < N; i++) {
        dcoll_call_t c = {DCOLL_BCAST, NULL, s.recv + 64 * i, 64, 0, "binomial",
                          NULL,        NULL};
        good(&s, dcoll_init(s.team, &c, &q[i]), "init");
    }
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < N; i++) {
            if (r->rank == 0)
                fill(s.recv + 64 * i, round, i, 0, 64);
            good(&s, dcoll_start(q[i]), "start");
        }
        for (unsigned i = 0; i < N; i++)
            good(&s, dcoll_wait(q[i], -1), "wait");
        for (unsigned i = 0; i < N; i++)
            check(holds(s.recv + 64 * i, round, i, 0, 64));
    }
    good(&s, dcoll_barrier(s.team), "barrier");
    scene_close(&s);
}

/* Notifications of a team that is gone must not count for the next one: the
 * root runs ahead of ranks that come late, as far as it may. */
static void team_after_team(struct rank *r)
{
    for (unsigned team = 0; team < 4; team++) {
        struct scene s;
        scene_open(&s, r, 2);
        dcoll_call_t c = {DCOLL_SCATTER, s.send, s.recv, 4096, 0,
                          "direct",      NULL,   NULL};
        for (unsigned start = 0; start < 8; start++) {
            give(&s, &c, start);
            if (r->rank)
                nap(1);
            good(&s, dcoll_run(s.team, &c), "scatter");
            check(got(&s, &c, start));
        }
        scene_close(&s);
    }
}

/* More different calls than a team keeps requests for. */
static void many_sizes(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    for (size_t bytes = 1; bytes < 200; bytes++) {
        dcoll_call_t c = {
            DCOLL_ALLGATHER, s.send, s.recv, bytes, 0, NULL, NULL, NULL};
        give(&s, &c, (unsigned)bytes);
        good(&s, dcoll_run(s.team, &c), "run");
        check(got(&s, &c, (unsigned)bytes));
    }
    scene_close(&s);
}

/* ------------------------------------------------------------- failures */

static void bad_arguments(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    check(dcoll_gather(s.team, s.send, s.recv, 8, r->size) == DRAIL_EINVAL);
    check(strstr(dcoll_last_error(s.team), "root") != NULL);
    check(dcoll_allgather(s.team, NULL, s.recv, 8) == DRAIL_EINVAL);
    check(strstr(dcoll_last_error(s.team), "send is NULL") != NULL);
    check(dcoll_alltoall(s.team, s.send, s.recv, (size_t)-1) == DRAIL_EINVAL);
    dcoll_call_t c = {DCOLL_ALLGATHER, s.send, s.recv, 8, 0,
                      "nonsense",      NULL,   NULL};
    check(dcoll_run(s.team, &c) == DRAIL_EINVAL);
    check(strstr(dcoll_last_error(s.team), "nonsense") != NULL);
    /* and the team is as good as before */
    good(&s, dcoll_barrier(s.team), "barrier");
    scene_close(&s);
}

static void bad_in_place(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    void *in_place = DCOLL_IN_PLACE;
    const dcoll_reduction_t *sum = dcoll_reduction(DCOLL_INT64, DCOLL_SUM);
    check(dcoll_bcast(s.team, in_place, 8, 0) == DRAIL_EINVAL);
    check(strstr(dcoll_last_error(s.team), "IN_PLACE") != NULL);
    check(dcoll_allgather(s.team, s.send, in_place, 8) == DRAIL_EINVAL);
    check(dcoll_alltoall(s.team, s.send, in_place, 8) == DRAIL_EINVAL);
    const unsigned other = (r->rank + 1) % r->size;
    check(dcoll_gather(s.team, in_place, s.recv, 8, other) == DRAIL_EINVAL);
    check(dcoll_scatter(s.team, s.send, in_place, 8, other) == DRAIL_EINVAL);
    check(dcoll_allgather(s.team, in_place, in_place, 8) == DRAIL_EINVAL);
    check(dcoll_scan(s.team, in_place, in_place, 1, sum) == DRAIL_EINVAL);
    check(dcoll_exscan(s.team, in_place, in_place, 1, sum) == DRAIL_EINVAL);
    good(&s, dcoll_barrier(s.team), "barrier");
    scene_close(&s);
}

/* Calls of `different`: buffers that are NULL are those of the scene. */
static int run_call(struct scene *s, dcoll_call_t call)
{
    if (!call.send)
        call.send = s->send;
    if (!call.recv)
        call.recv = s->recv;
    return dcoll_run(s->team, &call);
}

static void warm_up(struct scene *s, const dcoll_call_t *call)
{
    for (unsigned i = 0; i < 3; i++) {
        good(s, run_call(s, *call), "run");
        good(s, dcoll_barrier(s->team), "barrier");
    }
}

enum warm { COLD, WARM, BOTH_WARM }; /* are the calls prepared? */

/* The last rank calls something else: everybody is told, long before a timeout.
 * The message has this text. */
static void different(struct rank *r, enum warm warm, const dcoll_call_t *usual,
                      const dcoll_call_t *odd, const char *text)
{
    struct scene s;
    scene_open(&s, r, 2);
    if (warm != COLD)
        warm_up(&s, usual);
    if (warm == BOTH_WARM)
        warm_up(&s, odd);
    bool last = r->rank == r->size - 1;
    int rc = run_call(&s, last ? *odd : *usual);
    /* a rank that needs nobody may be done; then its next call fails */
    if (!rc)
        rc = dcoll_barrier(s.team);
    team_fails(r, s.team, rc, DRAIL_EINVAL, text);
    barrier(r); /* the others look at our ledger */
    dcoll_team_free(s.team);
    drail_mem_release(s.send_mem);
    drail_mem_release(s.recv_mem);
}

static const dcoll_call_t allgather_8 = {.collective = DCOLL_ALLGATHER,
                                         .bytes = 8};
static const dcoll_call_t allgather_16 = {.collective = DCOLL_ALLGATHER,
                                          .bytes = 16};
static const dcoll_call_t allgather_8_in_place = {
    .collective = DCOLL_ALLGATHER, .bytes = 8, .send = DCOLL_IN_PLACE};
static const dcoll_call_t gather_8 = {.collective = DCOLL_GATHER, .bytes = 8};
static const dcoll_call_t gather_8_root_1 = {
    .collective = DCOLL_GATHER, .bytes = 8, .root = 1};
static const dcoll_call_t bcast_8 = {.collective = DCOLL_BCAST, .bytes = 8};
static const dcoll_call_t bcast_16 = {.collective = DCOLL_BCAST, .bytes = 16};

static void different_first(struct rank *r)
{
    different(r, COLD, &allgather_8, &gather_8, "gather of 8 bytes");
}

static void different_later(struct rank *r)
{
    different(r, WARM, &allgather_8, &gather_8, "gather of 8 bytes");
}

static void different_bytes(struct rank *r)
{
    different(r, WARM, &allgather_8, &allgather_16, "of 16 bytes");
}

static void different_bcasts(struct rank *r)
{
    different(r, WARM, &bcast_8, &bcast_16, "of 16 bytes");
}

static void different_roots(struct rank *r)
{
    different(r, WARM, &gather_8, &gather_8_root_1, "root 1");
}

static void different_in_place(struct rank *r)
{
    different(r, COLD, &allgather_8, &allgather_8_in_place, "in place");
}

static void different_commuting(struct rank *r)
{
    dcoll_reduction_t ordered = *dcoll_reduction(DCOLL_INT64, DCOLL_SUM);
    ordered.commutes = false;
    const dcoll_call_t usual = {
        .collective = DCOLL_REDUCE_SCATTER_BLOCK,
        .bytes = 8,
        .reduction = dcoll_reduction(DCOLL_INT64, DCOLL_SUM),
    };
    dcoll_call_t odd = usual;
    odd.reduction = &ordered;
    different(r, BOTH_WARM, &usual, &odd, "commutes");
}

/* Ranks that only test are told, too. */
static void different_polled(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q[2];
    int rc;
    scene_open(&s, r, 2);
    for (unsigned i = 0; i < 2; i++) {
        dcoll_call_t c = {
            DCOLL_ALLGATHER, s.send, s.recv, 8 + 8 * i, 0, NULL, NULL, NULL};
        good(&s, dcoll_init(s.team, &c, &q[i]), "init");
    }
    double begin = seconds();
    dcoll_request_t *mine = q[r->rank == r->size - 1];
    good(&s, dcoll_start(mine), "start");
    while ((rc = dcoll_test(mine)) == DRAIL_EAGAIN && seconds() - begin < 15)
        sched_yield();
    check(rc == DRAIL_EINVAL);
    barrier(r);
    _exit(0);
}

static void different_order(struct rank *r)
{
    struct scene s;
    int rc;
    scene_open(&s, r, 2);
    good(&s, run_call(&s, allgather_8), "allgather");
    good(&s, run_call(&s, bcast_8), "bcast");
    bool last = r->rank == r->size - 1;
    rc = run_call(&s, last ? bcast_8 : allgather_8);
    if (!rc)
        rc = run_call(&s, last ? allgather_8 : bcast_8);
    check(rc == DRAIL_EINVAL);
    barrier(r);
    _exit(0);
}

static void short_timeout(drail_config_t *cfg)
{
    cfg->timeout_ms = 5000;
}

static void shallow(drail_config_t *cfg)
{
    short_timeout(cfg);
    cfg->depth = 4;
}

/* A rank dies: the others get an error soon. */
static void death(struct rank *r)
{
    struct scene s;
    int rc;
    scene_open(&s, r, 2);
    good(&s, dcoll_barrier(s.team), "barrier");
    if (r->rank == 1)
        _exit(0); /* so that what the others see decides how the job ends */
    double begin = seconds();
    while (!(rc = dcoll_allgather(s.team, s.send, s.recv, 64)))
        ;
    check(rc == DRAIL_EPEER || rc == DRAIL_ETIMEOUT);
    check(seconds() - begin < 15);
    check(dcoll_barrier(s.team) == rc);
    _exit(0);
}

/* Ready before anything else can go wrong: 64 ranks. */
static void many_ranks(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    dcoll_call_t c = {DCOLL_ALLGATHER, s.send, s.recv, 8, 0, NULL, NULL, NULL};
    give(&s, &c, 1);
    good(&s, dcoll_run(s.team, &c), "run");
    check(got(&s, &c, 1));
    scene_close(&s);
}

static const struct test tests[] = {
    {"one rank", 1, every_algorithm, NULL, APART},
    {"two ranks", 2, every_algorithm, NULL, APART},
    {"two nodes of one", 2, every_algorithm, NULL, APART | PPN(1)},
    {"five ranks on nodes of two", 5, every_algorithm, NULL, APART | PPN(2)},
    {"four nodes of one", 4, every_algorithm, NULL, APART | PPN(1)},
    {"seven ranks on nodes of three, depth 1", 7, every_algorithm_depth_1, NULL,
     APART | PPN(3)},
    {"several under way", 3, overlapping, NULL, APART},
    {"several under way, two nodes", 4, overlapping, NULL, APART | PPN(2)},
    {"prepared while another is under way", 2, prepared_while_started,
     short_timeout, APART | PPN(1)},
    {"more starts than credits", 2, many_started, shallow, APART | PPN(1)},
    {"more starts than credits, three nodes", 3, many_started, shallow,
     APART | PPN(1)},
    {"team after team", 4, team_after_team, NULL, APART | PPN(2)},
    {"many sizes", 3, many_sizes, NULL, APART | PPN(2)},
    {"bad arguments", 2, bad_arguments, NULL, APART},
    {"in place where it is wrong", 2, bad_in_place, NULL, APART},
    {"different calls at first", 3, different_first, short_timeout, APART},
    {"different calls later", 3, different_later, short_timeout, APART},
    {"different calls later, on nodes", 4, different_later, short_timeout,
     APART | PPN(2)},
    {"different sizes", 3, different_bytes, short_timeout, APART},
    {"different sizes, on nodes", 4, different_bytes, short_timeout,
     APART | PPN(2)},
    {"different sizes of a broadcast, on nodes", 4, different_bcasts,
     short_timeout, APART | PPN(2)},
    {"different roots", 3, different_roots, short_timeout, APART},
    {"different order of operands", 3, different_commuting, short_timeout,
     APART},
    {"in place on one rank only", 3, different_in_place, short_timeout, APART},
    {"different calls, tested", 3, different_polled, short_timeout, APART},
    {"different order", 3, different_order, short_timeout, APART},
    {"a rank dies", 3, death, short_timeout, APART},
    {"a rank dies, on nodes", 4, death, short_timeout, APART | PPN(2)},
    {"64 ranks", 64, many_ranks, NULL, APART},
};

RUN_TESTS(tests)
