/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For MPI: persistent requests that ranks start in different orders, and
 * non-blocking calls that do not wait for other ranks.
 */
#include <stdatomic.h>

#include "team.h"

#define REQUESTS 3
#define BYTES    200
#define RANKS    4
#define LATER_MS 120 /* others have looked at the ledgers then */

/* Shared by all ranks, and by all tests: each says more. */
static _Atomic unsigned *said;

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    dcoll_request_t *q[REQUESTS];
    unsigned char send[REQUESTS][BYTES], recv[REQUESTS][RANKS * BYTES];
};

static void good(const struct scene *s, int rc)
{
    team_good(s->r, s->team, rc, "collective");
}

static void scene_open(struct scene *s, struct rank *r)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    cfg.any_order = true;
    s->r = r;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &s->team, NULL));
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
}

/* Different calls. */
static size_t bytes_of(unsigned i)
{
    return BYTES - 8 * i;
}

static dcoll_call_t allgather(struct scene *s, unsigned i)
{
    memset(s->send[i], (int)(10 * i + s->r->rank + 1), BYTES);
    memset(s->recv[i], 0, sizeof s->recv[i]);
    return (dcoll_call_t){.collective = DCOLL_ALLGATHER,
                          .send = s->send[i],
                          .recv = s->recv[i],
                          .bytes = bytes_of(i)};
}

static void got(const struct scene *s, unsigned i)
{
    for (unsigned b = 0; b < s->r->size * bytes_of(i); b++)
        check(s->recv[i][b] == 10 * i + b / bytes_of(i) + 1);
}

static void init_all(struct scene *s)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        dcoll_call_t call = allgather(s, i);
        good(s, dcoll_init(s->team, &call, &s->q[i]));
    }
}

/* Rank 0 starts all and waits; each other one completes one after the other, in
 * an order of its own, and not at once. */
static void any_order(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    init_all(&s);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned k = 0; k < REQUESTS; k++)
            allgather(&s, k);
        for (unsigned k = 0; k < REQUESTS; k++) {
            good(&s, dcoll_start(s.q[r->rank % 2 ? REQUESTS - 1 - k : k]));
            if (r->rank == 1)
                nap(LATER_MS);
        }
        for (unsigned k = 0; k < REQUESTS; k++) {
            good(&s, dcoll_wait(s.q[k], -1));
            got(&s, k);
        }
        good(&s, dcoll_barrier(s.team));
    }
    scene_close(&s);
}

/* A rank that has started a request prepares another call with the ranks that
 * start it later. */
static void prepares_meanwhile(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    init_all(&s);
    if (r->rank == 0)
        good(&s, dcoll_start(s.q[0]));
    dcoll_call_t call = allgather(&s, 1);
    call.bytes = BYTES / 2;
    good(&s, dcoll_run(s.team, &call));
    if (r->rank)
        good(&s, dcoll_start(s.q[0]));
    good(&s, dcoll_wait(s.q[0], -1));
    got(&s, 0);
    scene_close(&s);
}

static void await_said(unsigned value)
{
    for (unsigned ms = 0; atomic_load(said) < value; ms++) {
        check(ms < 20000);
        nap(1);
    }
}

/* The others come when rank 0 has begun all that may be under way. */
static void waits_for_nobody(struct rank *r)
{
    enum { EQUAL = 4 };
    struct scene s;
    dcoll_request_t *q[EQUAL];
    unsigned char recv[EQUAL][RANKS * BYTES];
    scene_open(&s, r);
    dcoll_call_t call = allgather(&s, 0);
    check(dcoll_would_wait(s.team, &call) == DRAIL_ENOTSUP);
    good(&s, dcoll_prepare(s.team, &call));
    if (r->rank)
        await_said(r->size);
    for (unsigned i = 0; i < EQUAL; i++) {
        call.recv = recv[i];
        check(dcoll_would_wait(s.team, &call) == 0);
        good(&s, dcoll_begin(s.team, &call, &q[i]));
    }
    if (r->rank == 0) {
        check(dcoll_would_wait(s.team, &call) == DRAIL_EAGAIN);
        atomic_store(said, r->size);
    }
    for (unsigned i = 0; i < EQUAL; i++) {
        good(&s, dcoll_wait(q[i], -1));
        memcpy(s.recv[0], recv[i], sizeof recv[i]);
        got(&s, 0);
    }
    check(dcoll_would_wait(s.team, &call) == 0);
    scene_close(&s);
}

/* The same with counts. */
static void parts_wait_for_nobody(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q;
    size_t counts[RANKS];
    scene_open(&s, r);
    for (unsigned i = 0; i < r->size; i++)
        counts[i] = BYTES / RANKS;
    allgather(&s, 0);
    const dcoll_alltoallv_t call = {.send = s.send[0],
                                    .send_counts = counts,
                                    .recv = s.recv[0],
                                    .recv_counts = counts,
                                    .element = 1,
                                    .algorithm = "direct"};
    check(dcoll_alltoallv_would_wait(s.team, &call) == DRAIL_ENOTSUP);
    good(&s, dcoll_alltoallv_prepare(s.team, &call));
    if (r->rank)
        await_said(2 * r->size);
    check(dcoll_alltoallv_would_wait(s.team, &call) == 0);
    good(&s, dcoll_alltoallv_begin(s.team, &call, &q));
    if (r->rank == 0)
        atomic_store(said, 2 * r->size);
    good(&s, dcoll_wait(q, -1));
    for (unsigned b = 0; b < r->size * BYTES / RANKS; b++)
        check(s.recv[0][b] == b / (BYTES / RANKS) + 1);
    scene_close(&s);
}

/* A rank frees its buffers while the others may still make the call. */
static void lets_go(struct rank *r)
{
    const size_t bytes = 1 << 20;
    struct scene s;
    dcoll_request_t *q;
    scene_open(&s, r);
    unsigned char *send = malloc(bytes), *recv = malloc(r->size * bytes);
    check(send && recv);
    memset(send, (int)r->rank + 1, bytes);
    dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                         .send = send,
                         .recv = recv,
                         .bytes = bytes};
    good(&s, dcoll_init(s.team, &call, &q));
    nap(r->rank * 20);
    good(&s, dcoll_start(q));
    int rc = dcoll_let_go(q);
    check(rc == DRAIL_EINVAL || (!rc && !dcoll_test(q)));
    good(&s, dcoll_wait(q, -1));
    for (size_t i = 0; i < r->size * bytes; i++)
        check(recv[i] == i / bytes + 1);
    good(&s, dcoll_let_go(q));
    free(send);
    free(recv);
    good(&s, dcoll_barrier(s.team));
    good(&s, dcoll_free(q));
    scene_close(&s);
}

/* A request that exceeds keep_bytes is an error of all ranks, which go on. */
static void no_room(struct rank *r)
{
    struct scene s = {.r = r};
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    cfg.keep_bytes = 1;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &s.team, NULL));
    dcoll_call_t call = allgather(&s, 0);
    check(dcoll_prepare(s.team, &call) == DRAIL_ENOMEM);
    check(dcoll_would_wait(s.team, &call) == DRAIL_ENOTSUP);
    good(&s, dcoll_run(s.team, &call));
    got(&s, 0);
    scene_close(&s);
}

static void patient(drail_config_t *cfg)
{
    cfg->timeout_ms = 5000;
}

static const struct test tests[] = {
    {"any order, a node", 4, any_order, patient, APART},
    {"any order, nodes", 3, any_order, patient, APART | PPN(1)},
    {"it prepares meanwhile, a node", 3, prepares_meanwhile, patient, APART},
    {"it prepares meanwhile, nodes", 4, prepares_meanwhile, patient,
     APART | PPN(2)},
    {"it waits for nobody, a node", 3, waits_for_nobody, patient, APART},
    {"it waits for nobody, nodes", 4, waits_for_nobody, patient,
     APART | PPN(1)},
    {"parts wait for nobody", 4, parts_wait_for_nobody, patient,
     APART | PPN(2)},
    {"it lets go of buffers, a node", 3, lets_go, patient, APART},
    {"it lets go of buffers, nodes", 3, lets_go, patient, APART | PPN(1)},
    {"no room", 2, no_room, patient, APART},
};

RUN_TESTS_AFTER(said = shared_memory(sizeof *said), 1, tests)
