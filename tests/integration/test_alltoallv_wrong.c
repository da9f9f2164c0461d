/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-alls with a wrong argument: the ranks that can see it get an
 * error with rank and index, and nothing is written.
 */
#include "alltoallv_scene.h"

/* Bounds, to ask whether an algorithm serves a shape. */
static const dcoll_traffic_t few = {
    .element = 1, .max_pair = 1, .max_rank = 1, .labelled = true};

/* ------------------------------------------------------------ one's own --- */

/* A rank's own part passes no rail that would check it. */
static void own_part(struct rank *r)
{
    struct scene s;
    char text[64];
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "direct");
    c.max_pair = c.max_rank = ROOM;
    s.send_counts[r->rank] = 2 * EACH;
    snprintf(text, sizeof text, "rank %u: recv_counts[%u] is 2, but", r->rank,
             r->rank);
    fails(&s, dcoll_alltoallv(s.team, &c), text);
    check(untouched(&s));
    works(&s, "direct");
    scene_close(&s);
}

/* ------------------------------------------------------------- arguments ---
 */

/* A sum that wraps would make little memory for many elements. */
static void bounds_that_wrap(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q;
    scene_open(&s, r);
    const size_t most = SIZE_MAX / sizeof(struct element) + 1;
    dcoll_elements_t e = uncounted(&s, NULL);
    e.max_pair = e.max_rank = most;
    fails(&s, dcoll_alltoall_elements(s.team, &e), "max_rank is 2305843");
    fails(&s, dcoll_elements_init(s.team, &e, NULL, &q), "max_rank is 2305843");
    dcoll_alltoallv_t c = counted(&s, "direct");
    c.max_pair = most;
    c.max_rank = ROOM;
    fails(&s, dcoll_alltoallv(s.team, &c), "max_pair is 2305843");
    c.max_pair = ROOM;
    c.max_rank = 0;
    fails(&s, dcoll_alltoallv(s.team, &c), "both or none");
    c.algorithm = NULL;
    fails(&s, dcoll_alltoallv(s.team, &c), "both or none");
    check(untouched(&s));
    works(&s, NULL);
    scene_close(&s);
}

/* Bounds that ranks agree on are no others than those that are given. */
static void counts_that_wrap(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    memset(s.send_counts, 0, sizeof s.send_counts);
    memset(s.recv_counts, 0, sizeof s.recv_counts);
    s.send_counts[r->rank] = s.recv_counts[r->rank] = (size_t)1 << 30;
    dcoll_alltoallv_t c = counted(&s, "a4");
    c.element = UINT32_MAX;
    fails(&s, dcoll_alltoallv(s.team, &c), "max_rank is 1073741824");
    check(untouched(&s));
    works(&s, "a4");
    scene_close(&s);
}

/* Senseless arguments, of a bounded call and of an unbounded one, whose error
 * all ranks get. */
static void wrong(struct scene *s, const dcoll_alltoallv_t *call,
                  const char *text)
{
    dcoll_alltoallv_t c = *call;
    dcoll_request_t *q;
    fails(s, dcoll_alltoallv(s->team, &c), text);
    c.max_pair = c.max_rank = ROOM;
    fails(s, dcoll_alltoallv(s->team, &c), text);
    fails(s, dcoll_alltoallv_init(s->team, &c, &q), text);
    check(untouched(s));
}

static void arguments(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    const dcoll_alltoallv_t right = counted(&s, NULL);
    dcoll_alltoallv_t c = right;
    c.send = DCOLL_IN_PLACE;
    wrong(&s, &c, "DCOLL_IN_PLACE");
    c = right;
    c.recv = DCOLL_IN_PLACE;
    wrong(&s, &c, "DCOLL_IN_PLACE");
    c = right;
    c.element = 0;
    wrong(&s, &c, "elements of 0 bytes");
    c = right;
    c.send_counts = NULL;
    wrong(&s, &c, "send_counts is NULL");
    c = right;
    c.recv_counts = NULL;
    c.room = ROOM;
    c.recv_displs = s.displs;
    wrong(&s, &c, "recv_displs without recv_counts");
    c.recv_displs = NULL;
    c.room = SIZE_MAX / 2;
    wrong(&s, &c, "room");
    works(&s, NULL);
    scene_close(&s);
}

/* Which of them is too many. */
static void beyond_bounds(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q;
    size_t count = RANKS * EACH;
    scene_open(&s, r);
    dcoll_alltoallv_t c = counted(&s, "a4");
    c.max_pair = EACH;
    c.max_rank = ROOM;
    check(dcoll_alltoallv_init(s.team, &c, &q) == 0);
    s.send_counts[2] = EACH + 1;
    fails(&s, dcoll_start(q), "send_counts[2] is 3: the bound max_pair is 2");
    s.send_counts[2] = EACH;
    s.recv_counts[1] = EACH + 1;
    fails(&s, dcoll_start(q), "recv_counts[1] is 3: the bound max_pair is 2");
    check(dcoll_free(q) == 0);

    dcoll_elements_t e = uncounted(&s, "a4");
    e.max_pair = EACH;
    e.max_rank = ROOM;
    check(dcoll_elements_init(s.team, &e, &count, &q) == 0);
    s.send[0].to = 1;
    fails(&s, dcoll_start(q), "3 elements for rank 1: the bound max_pair is 2");
    s.send[0].to = 0;
    check(dcoll_start(q) == 0);
    check(dcoll_wait(q, -1) == 0);
    check(dcoll_free(q) == 0);
    scene_close(&s);
}

/* The others, who wait for this rank, do not hear of it: it calls again. */
static void beyond_bounds_alone(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
    for (; *a; a++) {
        dcoll_alltoallv_t c = counted(&s, (*a)->name);
        c.max_pair = EACH;
        c.max_rank = ROOM;
        if (dcoll_refusal(*a, dcoll_team_shape(s.team),
                          &(dcoll_args_t){.traffic = &few}))
            continue;
        for (unsigned one = 0; one < RANKS; one++) {
            s.send_counts[2] = EACH + 1;
            if (r->rank == one)
                fails(&s, dcoll_alltoallv(s.team, &c),
                      "send_counts[2] is 3: the bound max_pair is 2");
            check(untouched(&s));
            s.send_counts[2] = EACH;
            check(dcoll_alltoallv(s.team, &c) == 0);
            memset(s.recv, 0xa5, sizeof s.recv);
        }
    }
    scene_close(&s);
}

/* ------------------------------------------------------ nothing to say --- */

/* Where nothing is, it may be anywhere. */
static void empty_parts(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    const size_t nowhere[RANKS] = {SIZE_MAX, SIZE_MAX / 3, 1234567};
    for (unsigned i = 0; i < RANKS; i++)
        s.send_counts[i] = s.recv_counts[i] = 0;
    const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
    for (; *a; a++) {
        dcoll_alltoallv_t c = counted(&s, (*a)->name);
        c.max_pair = c.max_rank = ROOM;
        if (dcoll_refusal(*a, dcoll_team_shape(s.team),
                          &(dcoll_args_t){.traffic = &few}))
            continue;
        c.send_displs = c.recv_displs = nowhere;
        for (unsigned null = 0; null < 2; null++) {
            c.send = null ? NULL : s.send;
            c.recv = null ? NULL : s.recv;
            int rc = dcoll_alltoallv(s.team, &c);
            if (rc)
                printf("# %s: %s\n", (*a)->name, dcoll_last_error(s.team));
            check(rc == 0);
        }
    }
    check(untouched(&s));
    scene_close(&s);
}

static const struct test tests[] = {
    {"one's own part", RANKS, own_part, NULL, APART},
    {"bounds that wrap", RANKS, bounds_that_wrap, NULL, APART},
    {"counts that wrap", RANKS, counts_that_wrap, NULL, APART},
    {"arguments", RANKS, arguments, NULL, APART},
    {"arguments, on nodes of two", RANKS, arguments, NULL, APART | PPN(2)},
    {"beyond a request's bounds", RANKS, beyond_bounds, NULL, APART},
    {"beyond a call's bounds", RANKS, beyond_bounds_alone, NULL, APART},
    {"... on nodes of two", RANKS, beyond_bounds_alone, NULL, APART | PPN(2)},
    {"empty parts", RANKS, empty_parts, NULL, APART},
    {"empty parts, on nodes of two", RANKS, empty_parts, NULL, APART | PPN(2)},
};

RUN_TESTS(tests)
