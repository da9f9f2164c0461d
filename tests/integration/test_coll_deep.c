/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short gathers, broadcasts, scatters and scans within a node, and gathers and
 * scatters between nodes, are deep: a rank that needs no other rank runs ahead
 * until all places are used. Here one rank stays behind until the places are
 * reused; no data that it has not read are lost. Between nodes, one credit of
 * the root covers many starts.
 */
#include <stdatomic.h>

#include "coll/dcoll.h"

#include "ranks.h"

/* Half of the starts are whole groups of those that a credit is for. */
enum { RANKS = 4, QUEUE = 8, STARTS = 768, LIMIT = 20 /* seconds */ };

struct one { /* collective */
    const char *algorithm;
    dcoll_collective_t collective;
    unsigned ahead, behind; /* ranks; root is 0 */
};

static const struct one ones[] = {
    {"shm-gather", DCOLL_GATHER, 1, 0},
    {"shm-bcast", DCOLL_BCAST, 0, 1},
    {"shm-scatter", DCOLL_SCATTER, 0, 2},
    {"shm-scan", DCOLL_SCAN, 0, 2},
    {"shm-exscan", DCOLL_EXSCAN, 0, 2},
    {"shm-chain", DCOLL_SCAN, 0, 1},
    {"shm-chain", DCOLL_EXSCAN, 0, 2},
    {"direct", DCOLL_SCATTER, 0, 2},
    {"binomial", DCOLL_SCATTER, 0, 1},
    {"smp-gather", DCOLL_GATHER, 2, 0}, /* 2: master of the other node */
};

enum { ONES = sizeof ones / sizeof *ones, BETWEEN_NODES = ONES - 1 };

static _Atomic unsigned *done; /* starts of each that the rank ahead has done */

static uint64_t block(unsigned start, unsigned from, unsigned to)
{
    return start * 0x9e3779b97f4a7c15ull + from * 16 + to;
}

/* Until the other one can't get on without this rank. */
static void stay_behind(_Atomic unsigned *other, unsigned until)
{
    double begin = seconds();
    while (atomic_load(other) < until) {
        check(seconds() - begin < LIMIT);
        nap(1);
    }
    check(atomic_load(other) == until);
}

static void give(const struct rank *r, const struct one *one, unsigned start,
                 uint64_t *send, uint64_t *recv)
{
    bool bcast = one->collective == DCOLL_BCAST;
    for (unsigned to = 0; to < RANKS; to++)
        send[to] = block(start, r->rank, to);
    memset(recv, 0xee, RANKS * sizeof *recv);
    if (bcast && r->rank == 0)
        recv[0] = block(start, 0, 0);
}

static bool scans(const struct one *one)
{
    return one->collective == DCOLL_SCAN || one->collective == DCOLL_EXSCAN;
}

/* Of the ranks before this one and, in a scan, of this one. */
static uint64_t sum(const struct rank *r, const struct one *one, unsigned start)
{
    const unsigned count = r->rank + (one->collective == DCOLL_SCAN);
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all += block(start, i, 0);
    return all;
}

static void look(const struct rank *r, const struct one *one, unsigned start,
                 const uint64_t *recv)
{
    if (one->collective == DCOLL_BCAST)
        check(recv[0] == block(start, 0, 0));
    if (one->collective == DCOLL_SCATTER)
        check(recv[0] == block(start, 0, r->rank));
    if (scans(one) && (r->rank || one->collective == DCOLL_SCAN))
        check(recv[0] == sum(r, one, start));
    for (unsigned i = 0;
         one->collective == DCOLL_GATHER && !r->rank && i < r->size; i++)
        check(recv[i] == block(start, i, 0));
}

static void run(struct rank *r, dcoll_team_t *team, unsigned which)
{
    const struct one *one = &ones[which];
    uint64_t send[RANKS], recv[RANKS];
    dcoll_request_t *q;
    dcoll_call_t call = {.collective = one->collective,
                         .send = send,
                         .recv = recv,
                         .bytes = sizeof *send,
                         .algorithm = one->algorithm};
    if (one->collective == DCOLL_BCAST)
        call.send = NULL;
    if (scans(one))
        call.reduction = dcoll_reduction(DCOLL_UINT64, DCOLL_SUM);
    expect(r, 0, dcoll_init(team, &call, &q));
    unsigned depth = dcoll_depth(dcoll_request_algorithm(q),
                                 dcoll_team_shape(team), sizeof *send, 2);
    if (which == BETWEEN_NODES) /* half of the queues, at most */
        while (depth > drail_config_of(r->t)->depth / 2)
            depth /= 2;
    check(depth > 2 && depth < STARTS / 2);
    for (unsigned start = 0; start < STARTS; start++) {
        if (r->rank == one->behind && start % (STARTS / 2) == 0)
            stay_behind(&done[which], start + depth);
        give(r, one, start, send, recv);
        expect(r, 0, dcoll_start(q));
        expect(r, 0, dcoll_wait(q, -1));
        look(r, one, start, recv);
        if (r->rank == one->ahead)
            atomic_store(&done[which], start + 1);
    }
    barrier(r);
    atomic_store(&done[which], 0);
    expect(r, 0, dcoll_free(q));
}

static void every_deep_one(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    for (unsigned i = 0; i < BETWEEN_NODES; i++)
        run(r, team, i);
    barrier(r);
    dcoll_team_free(team);
}

static uint64_t messages_sent(const struct rank *r)
{
    drail_rail_stats_t stats;
    uint64_t sends = 0;
    for (unsigned i = 0; i < drail_nrails(r->t); i++) {
        drail_rail_stats(r->t, i, &stats);
        sends += stats.sends;
    }
    return sends;
}

/* Of the root: a credit for each half of the places, and some. */
static uint64_t most_messages(const struct rank *r)
{
    return drail_config_of(r->t)->depth == QUEUE ? 3 * STARTS / 4 : STARTS / 4;
}

static void between_nodes(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    uint64_t before = messages_sent(r);
    run(r, team, BETWEEN_NODES);
    if (!r->rank)
        check(messages_sent(r) - before < most_messages(r));
    barrier(r);
    dcoll_team_free(team);
}

static void short_queues(drail_config_t *cfg)
{
    cfg->depth = QUEUE;
}

static const struct test tests[] = {
    {"a rank behind, round the ring", 3, every_deep_one, NULL, APART},
    {"a root behind, on another node", RANKS, between_nodes, NULL,
     APART | PPN(2)},
    {"the same, with short queues", RANKS, between_nodes, short_queues,
     APART | PPN(2)},
};

RUN_TESTS_AFTER(done = shared_memory(ONES * sizeof *done), 1, tests)
