/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-alls whose ranks disagree on element size, bounds or counts.
 */
#include "alltoallv_scene.h"

/* ------------------------------------------------------------ other calls ---
 */

/* Where its parts lie depends on the bound for a pair, too. Rank 0 comes so
 * much later. */
static void other_pair_after(struct rank *r, int ms)
{
    struct scene s;
    scene_open(&s, r);
    nap(r->rank ? 0 : ms);
    dcoll_alltoallv_t c = counted(&s, "a4");
    c.max_rank = ROOM;
    c.max_pair = r->rank == 1 ? EACH + 1 : EACH;
    fails(&s, dcoll_alltoallv(s.team, &c), "3 a pair");
    check(untouched(&s));
    scene_close(&s);
}

static void other_pair(struct rank *r)
{
    other_pair_after(r, 0);
}

/* The others look at each other's calls before it has come, and wait for it all
 * the same: all meet, and all are told. */
static void other_pair_late(struct rank *r)
{
    other_pair_after(r, 200);
}

/* Both have been prepared. */
static void other_pair_again(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "a4");
    c.max_rank = ROOM;
    for (unsigned more = 0; more < 2; more++) {
        c.max_pair = EACH + more;
        check(dcoll_alltoallv(s.team, &c) == 0);
    }
    memset(s.recv, 0xa5, sizeof s.recv);
    c.max_pair = r->rank == 1 ? EACH + 1 : EACH;
    fails(&s, dcoll_alltoallv(s.team, &c), "3 a pair");
    check(untouched(&s));
    scene_close(&s);
}

/* With labels, and without. */
static void other_interface(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "a4");
    dcoll_elements_t e = uncounted(&s, "a4");
    c.max_pair = c.max_rank = e.max_pair = e.max_rank = ROOM;
    fails(&s,
          r->rank == 1 ? dcoll_alltoall_elements(s.team, &e)
                       : dcoll_alltoallv(s.team, &c),
          "alltoall_elements");
    check(untouched(&s));
    scene_close(&s);
}

/* ----------------------------------------------------------- other counts ---
 */

/* A rank that gets more than its bound learns that on arrival; the others do
 * not, and the team goes on. */
static void more_than_bound(struct rank *r)
{
    static const char *const names[] = {"a1", "a2-n1", "shm-alltoallv"};
    struct scene s;
    scene_open(&s, r);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        dcoll_alltoallv_t c = counted(&s, names[i]);
        c.max_pair = c.max_rank = RANKS * EACH - 1;
        c.recv_counts = NULL;
        c.room = ROOM;
        for (unsigned to = 0; to < RANKS; to++)
            s.send_counts[to] = to ? 1 : EACH;
        int rc = dcoll_alltoallv(s.team, &c);
        if (r->rank == 0)
            fails(&s, rc,
                  "rank 0: 6 elements have come: the bound max_rank is 5");
        else
            check(rc == 0);
        check(r->rank || untouched(&s));
        works(&s, names[i]);
    }
    scene_close(&s);
}

/* The error names the rank that made it, and no other rank's counts are wrong
 * because of it. */
static void whose_error(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "a4");
    s.send_counts[2] = r->rank == 1 ? (size_t)-3 : EACH;
    fails(&s, dcoll_alltoallv(s.team, &c),
          r->rank == 1 ? "rank 1: send_counts[2] is -3" : "alltoallv: rank 1");
    check(untouched(&s));
    works(&s, "a4");
    scene_close(&s);
}

static const struct test tests[] = {
    {"another bound for a pair", RANKS, other_pair, NULL, APART},
    {"... and a rank is late", RANKS, other_pair_late, NULL, APART},
    {"... on another node", RANKS, other_pair_late, NULL, APART | PPN(1)},
    {"... of calls that are known", RANKS, other_pair_again, NULL, APART},
    {"another interface", RANKS, other_interface, NULL, APART},
    {"... of three nodes", RANKS, other_interface, NULL, APART | PPN(1)},
    {"more than a rank's bound", RANKS, more_than_bound, NULL, APART},
    {"whose error it is", RANKS, whose_error, NULL, APART},
};

RUN_TESTS(tests)
