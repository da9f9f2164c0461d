/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * There is no memory for a call on all ranks or on one: all ranks get an error,
 * and the team goes on. This program's calloc() refuses; sanitizers replace
 * calloc(), so there it does not.
 */
#include "alltoallv_scene.h"
#include "refuse.h"

#define RANKS_MOST 8

/* Bounds that are possible numbers, but of no memory. */
static void too_large(struct rank *r)
{
    static const char *const names[] = {"a1", "a2-n2", "mesh", "smp-alltoallv"};
    struct scene s;
    dcoll_request_t *q;
    scene_open(&s, r);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        dcoll_alltoallv_t c = counted(&s, names[i]);
        c.max_pair = c.max_rank = (uint64_t)1 << 45;
        if (dcoll_alltoallv(s.team, &c) == DRAIL_ENOTSUP)
            continue;
        expect(r, DRAIL_ENOMEM, dcoll_alltoallv(s.team, &c));
        expect(r, DRAIL_ENOMEM, dcoll_alltoallv_init(s.team, &c, &q));
        check(untouched(&s));
        works(&s, names[i]);
    }
    scene_close(&s);
}

/* Counts that are possible numbers, too: the schedule stays short. */
static void too_many(struct rank *r)
{
    struct scene s;
    double mine[RANKS_MOST] = {1}, result = 0;
    check(r->size <= RANKS_MOST);
    scene_open(&s, r);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        dcoll_call_t c = {.collective = (*a)->collective,
                          .send = mine,
                          .recv = &result,
                          .bytes = sizeof mine[0],
                          .algorithm = (*a)->name,
                          .reduction =
                              dcoll_reduction(DCOLL_DOUBLE, DCOLL_SUM)};
        if (!dcoll_collective_reduces(c.collective) || dcoll_run(s.team, &c))
            continue;
        c.bytes = (size_t)1 << 52;
        int rc = dcoll_run(s.team, &c);
        if (rc != DRAIL_ENOMEM)
            printf("# %s: %d\n", c.algorithm, rc);
        check(rc == DRAIL_ENOMEM);
    }
    check(dcoll_allreduce(s.team, mine, &result, 1,
                          dcoll_reduction(DCOLL_DOUBLE, DCOLL_SUM)) == 0 &&
          result == r->size);
    scene_close(&s);
}

/* The third calloc is the first that the others hear of. */
static void one_has_none(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q;
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "a1");
    c.max_pair = c.max_rank = ROOM;
    refuse(r->rank == 1 ? 3 : 0, "libdcoll");
    int rc = dcoll_alltoallv_init(s.team, &c, &q);
    bool refused = r->rank == 1 && !refuse_at;
    refuse(0, NULL);
    check(rc == 0 || rc == DRAIL_ENOMEM);
    check(!refused || rc == DRAIL_ENOMEM);
    check(REFUSALS == 0 || rc == DRAIL_ENOMEM);
    if (!rc)
        expect(r, 0, dcoll_free(q));
    works(&s, "a1");
    scene_close(&s);
}

static const struct test tests[] = {
    {"bounds of no memory", RANKS, too_large, NULL, APART},
    {"... on nodes of two", RANKS, too_large, NULL, APART | PPN(2)},
    {"counts of no memory", RANKS, too_many, NULL, APART},
    {"... on nodes of two", RANKS, too_many, NULL, APART | PPN(2)},
    {"one rank has none", RANKS, one_has_none, NULL, APART},
};

RUN_TESTS(tests)
