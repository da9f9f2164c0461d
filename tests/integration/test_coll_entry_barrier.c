/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry barrier: ranks that prepare a call wait for all others, and learn
 * which rank will not come. */
#include <stdatomic.h>

#include "coll/dcoll.h"

#include "ranks.h"

#define BYTES 16

static _Atomic unsigned *told; /* ranks that have their error */

static int gather(dcoll_team_t *team, size_t bytes, unsigned root)
{
    unsigned char send[BYTES] = {0}, recv[3 * BYTES];
    dcoll_call_t c = {DCOLL_GATHER, send,     recv, bytes,
                      root,         "direct", NULL, NULL};
    return dcoll_run(team, &c);
}

/* Rank 0 makes a call that is prepared, and the others one that is not. */
static void other_call(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, gather(team, 8, 1));
    if (r->rank == 0) {
        expect(r, 0, gather(team, 8, 1)); /* as a leaf it waits for nobody */
        for (unsigned ms = 0; atomic_load(told) < r->size - 1; ms++) {
            check(ms < 20000);
            nap(1);
        }
    } else {
        expect(r, DRAIL_EINVAL, gather(team, 9, 1));
        printf("# rank %u: %s\n", r->rank, dcoll_last_error(team));
        check(strstr(dcoll_last_error(team), "gather of 8 bytes") != NULL);
        check(strstr(dcoll_last_error(team), "gather of 9 bytes") != NULL);
        check(strstr(dcoll_last_error(team), "rank 0") != NULL);
        atomic_fetch_add(told, 1);
    }
    barrier(r);
    dcoll_team_free(team);
}

/* A rank has as many ports as others have not: its messages go elsewhere. */
static void other_ports(struct rank *r)
{
    unsigned char send[BYTES] = {0}, recv[4 * BYTES];
    dcoll_config_t cfg;
    dcoll_team_t *team;
    dcoll_config_init(&cfg);
    cfg.ports = r->rank == 2 ? 2 : 1;
    dcoll_call_t c = {DCOLL_ALLGATHER, send, recv, BYTES, 0,
                      "bruck",         NULL, NULL};
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &team, NULL));
    expect(r, DRAIL_EINVAL, dcoll_run(team, &c));
    check(strstr(dcoll_last_error(team), "ports") != NULL);
    barrier(r);
    dcoll_team_free(team);
}

/* A rank dies before it comes. Ranks that wait for it, or for these ranks, hear
 * of that before any timeout. */
static void dead_rank(struct rank *r)
{
    unsigned char send[BYTES] = {0}, recv[4 * BYTES];
    dcoll_team_t *team;
    dcoll_call_t c = {DCOLL_ALLGATHER, send, recv, BYTES, 0,
                      "ring",          NULL, NULL};
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, dcoll_barrier(team));
    if (r->rank == 2)
        _exit(0); /* so that what the others see decides how the job ends */
    expect(r, DRAIL_EPEER, dcoll_run(team, &c));
    dcoll_team_free(team);
    drail_close(r->t);
    _exit(0);
}

static void patient(drail_config_t *cfg)
{
    cfg->timeout_ms = 8000;
}

static const struct test tests[] = {
    {"a call that differs on another node", 3, other_call, patient,
     APART | PPN(1)},
    {"a rank that dies", 4, dead_rank, patient, APART | PPN(1)},
    {"a rank with other ports", 4, other_ports, patient, APART},
};

RUN_TESTS_AFTER(told = shared_memory(sizeof *told), 1, tests)
