/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent irregular all-to-alls, and several at a time: each start has its
 * own counts and its own error.
 */
#include "alltoallv_scene.h"

/* The counts at the time of preparation do not matter. */
static void counts_come_later(struct rank *r)
{
    static const char *const names[] = {"auto", "direct", "a4-n2"};
    struct scene s;
    dcoll_request_t *q;
    scene_open(&s, r);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        dcoll_alltoallv_t c = counted(&s, names[i]);
        c.max_pair = c.max_rank = ROOM;
        c.send_displs = c.recv_displs = s.displs;
        memset(s.send_counts, 0xff, sizeof s.send_counts);
        memset(s.recv_counts, 0xff, sizeof s.recv_counts);
        memset(s.displs, 0xff, sizeof s.displs);
        int rc = dcoll_alltoallv_init(s.team, &c, &q);
        if (rc)
            printf("# %s: %s\n", names[i], dcoll_last_error(s.team));
        check(rc == 0);
        for (unsigned k = 0; k < RANKS; k++) {
            s.send_counts[k] = s.recv_counts[k] = EACH;
            s.displs[k] = (size_t)k * EACH;
        }
        check(dcoll_start(q) == 0);
        check(dcoll_wait(q, -1) == 0);
        for (unsigned k = 0; k < RANKS * EACH; k++)
            check(s.recv[k].from == k / EACH && s.recv[k].to == r->rank);
        check(dcoll_free(q) == 0);
    }
    scene_close(&s);
}

/* The fifth of equal calls completes the first, whose error must not be lost:
 * that is told with the first handle that is ended, or with the other. */
static void error_of_the_first(struct rank *r)
{
    enum { CALLS = 5 };
    struct scene s;
    static struct element recv[CALLS][ROOM];
    dcoll_request_t *q[CALLS];
    size_t counts[CALLS][RANKS];
    unsigned failed = 0;
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "a1");
    c.max_pair = c.max_rank = ROOM;
    for (unsigned i = 0; i < CALLS; i++) {
        memcpy(counts[i], s.recv_counts, sizeof counts[i]);
        counts[i][2] += r->rank == 1 && i == 0;
        c.recv = recv[i];
        c.recv_counts = counts[i];
        check(dcoll_alltoallv_begin(s.team, &c, &q[i]) == 0);
    }
    check(q[4] == q[0]);
    for (unsigned i = 0; i < CALLS; i++) {
        int rc = dcoll_wait(q[i], -1);
        check(rc == 0 || (rc == DRAIL_EINVAL && q[i] == q[0]));
        failed += rc != 0;
    }
    check(r->rank == 1 ? failed > 0 : !failed);
    /* and not a third time */
    c.recv = recv[0];
    c.recv_counts = s.recv_counts;
    for (unsigned i = 0; i < CALLS; i++) {
        check(dcoll_alltoallv_begin(s.team, &c, &q[0]) == 0);
        check(dcoll_wait(q[0], -1) == 0);
    }
    scene_close(&s);
}

static const struct test tests[] = {
    {"counts come later", RANKS, counts_come_later, NULL, APART},
    {"... on nodes of two", RANKS, counts_come_later, NULL, APART | PPN(2)},
    {"the error of the first", RANKS, error_of_the_first, NULL, APART},
};

RUN_TESTS(tests)
