/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short gathers, broadcasts and scatters within a node are deep: a rank that
 * needs nobody runs ahead as far as the ring goes, which goes round here while
 * one rank stays behind. Nothing of what it has not seen yet is lost.
 */
#include <stdatomic.h>

#include "coll/dcoll.h"

#include "ranks.h"

enum { RANKS = 3, STARTS = 600, LIMIT = 20 /* seconds */ };

struct one { /* collective */
    const char *algorithm;
    dcoll_collective_t collective;
    unsigned ahead, behind; /* ranks; root is 0 */
};

static const struct one ones[] = {
    {"shm-gather", DCOLL_GATHER, 1, 0},
    {"shm-bcast", DCOLL_BCAST, 0, 1},
    {"shm-scatter", DCOLL_SCATTER, 0, 2},
};

enum { ONES = sizeof ones / sizeof *ones };

static _Atomic unsigned *done; /* starts of each that who is ahead has done */

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

static void look(const struct rank *r, const struct one *one, unsigned start,
                 const uint64_t *recv)
{
    if (one->collective == DCOLL_BCAST)
        check(recv[0] == block(start, 0, 0));
    if (one->collective == DCOLL_SCATTER)
        check(recv[0] == block(start, 0, r->rank));
    for (unsigned i = 0;
         one->collective == DCOLL_GATHER && !r->rank && i < RANKS; i++)
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
    expect(r, 0, dcoll_init(team, &call, &q));
    unsigned depth = dcoll_depth(dcoll_request_algorithm(q),
                                 dcoll_team_shape(team), sizeof *send, 2);
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
    expect(r, 0, dcoll_free(q));
}

static void every_deep_one(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    for (unsigned i = 0; i < ONES; i++)
        run(r, team, i);
    barrier(r);
    dcoll_team_free(team);
}

static const struct test tests[] = {
    {"a rank behind, round the ring", RANKS, every_deep_one, NULL, APART},
};

int main(int argc, char **argv)
{
    done = mmap(NULL, ONES * sizeof *done, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (done == MAP_FAILED)
        return 1;
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
