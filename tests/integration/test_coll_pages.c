/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short calls within a node use the memory of a hundred starts in turn. Its
 * pages are populated before the first start: later starts cause no page
 * faults.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "coll/dcoll.h"

#include "ranks.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define BYTES  4096
#define STARTS 64 /* of so many bytes, for which a request has memory */
#define FEW    16 /* pages of other things, and some at once of the reader's */

static long faults(void)
{
    struct rusage usage;
    check(!getrusage(RUSAGE_SELF, &usage));
    return usage.ru_minflt;
}

/* A sanitizer's own memory takes faults, too. */
static bool counts(void)
{
#ifdef DRAIL_SANITIZE
    return false;
#else
    static unsigned char page[4096] __attribute__((aligned(4096)));
    return !madvise(page, sizeof page, MADV_POPULATE_WRITE);
#endif
}

static void run(struct rank *r, dcoll_team_t *team, const char *algorithm,
                dcoll_collective_t collective)
{
    static unsigned char send[2 * BYTES], recv[2 * BYTES];
    const dcoll_call_t call = {.collective = collective,
                               .send = send,
                               .recv = recv,
                               .bytes = BYTES,
                               .algorithm = algorithm};
    memset(send, 1, sizeof send);
    memset(recv, 2, sizeof recv);
    expect(r, 0, dcoll_run(team, &call));
    long before = faults();
    for (unsigned start = 1; start < STARTS; start++)
        expect(r, 0, dcoll_run(team, &call));
    long found = faults() - before;
    bool good = found <= FEW || !counts();
    if (!good)
        printf("# rank %u: %s: %ld pages\n", r->rank, algorithm, found);
    check(good);
}

static void there_before(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    run(r, team, "shm-bcast", DCOLL_BCAST);
    run(r, team, "shm-gather", DCOLL_GATHER);
    run(r, team, "shm-scatter", DCOLL_SCATTER);
    barrier(r);
    dcoll_team_free(team);
}

static const struct test tests[] = {
    {"pages are there before", 2, there_before, NULL, APART},
};

RUN_TESTS(tests)
