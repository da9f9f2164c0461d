/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank dies, and another rank that learns of it first frees the team. A rank
 * that then puts into its memory gets the error of a lost peer, not of a
 * refused access.
 */
#include <stdatomic.h>

#include "coll/dcoll.h"
#include "ranks.h"

#define BYTES 8
enum { ROOT, DEAD, LATE, RANKS };

static struct board {
    _Atomic bool freed, told;
} * board;

static void await(const _Atomic bool *flag)
{
    for (unsigned ms = 0; !atomic_load(flag); ms++) {
        check(ms < 20000);
        nap(1);
    }
}

static int gather(dcoll_team_t *team)
{
    unsigned char send[BYTES] = {0}, recv[RANKS * BYTES];
    dcoll_call_t c = {DCOLL_GATHER, send,     recv, BYTES,
                      ROOT,         "direct", NULL, NULL};
    return dcoll_run(team, &c);
}

static void given_up(struct rank *r)
{
    dcoll_team_t *team;
    int rc;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, gather(team)); /* is prepared */
    expect(r, 0, dcoll_barrier(team));
    if (r->rank == DEAD)
        _exit(0); /* so that what the others see decides how the job ends */
    if (r->rank == LATE)
        await(&board->freed);
    for (unsigned i = 0; !(rc = gather(team)); i++)
        check(i < 1000); /* a leaf runs ahead, without credit at last */
    if (rc != DRAIL_EPEER)
        printf("# rank %u: %s\n", r->rank, dcoll_last_error(team));
    check(rc == DRAIL_EPEER);
    dcoll_team_free(team);
    atomic_store(r->rank == ROOT ? &board->freed : &board->told, true);
    if (r->rank == ROOT) /* and stays connected */
        await(&board->told);
    drail_close(r->t);
    _exit(0);
}

static const struct test tests[] = {
    {"a rank that has given up", RANKS, given_up, NULL, APART | PPN(1)},
};

RUN_TESTS_AFTER(board = shared_memory(sizeof *board), 1, tests)
