/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions as users see them: equal bits on all ranks and in equal calls,
 * operations with a context, several starts on shared requests, and refused
 * arguments. (test_coll.c has every algorithm.)
 */
#include <sched.h>

#include "scene.h"

/* Is it the same on all ranks? */
static void check_same(struct scene *s, const void *mine, size_t bytes)
{
    unsigned char *all = malloc(s->r->size * bytes);
    check(all != NULL);
    good(s, dcoll_allgather(s->team, mine, all, bytes), "allgather");
    for (unsigned i = 0; i < s->r->size; i++)
        check(!memcmp(all + i * bytes, mine, bytes));
    free(all);
}

/* Numbers whose sum depends on the order of addition. */
static void fill_doubles(struct rank *r, double *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at[i] = (double)(int64_t)rnd(r) * (i % 2 ? 1e-300 : 1e-9);
}

static void same_bits(struct rank *r)
{
    static const size_t counts[] = {1, 7, 100, 1000, 20000};
    struct scene s;
    scene_open(&s, r, 2);
    const dcoll_reduction_t *sum = dcoll_reduction(DCOLL_DOUBLE, DCOLL_SUM);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
            dcoll_args_t args = {.collective = (*a)->collective,
                                 .commutes = sum->commutes};
            if ((*a)->collective != DCOLL_ALLREDUCE ||
                dcoll_refusal(*a, dcoll_team_shape(s.team), &args))
                continue;
            const size_t bytes = counts[i] * sizeof(double);
            double *send = malloc(bytes), *recv = malloc(2 * bytes);
            check(send && recv);
            fill_doubles(r, send, counts[i]);
            for (unsigned k = 0; k < 2; k++) {
                dcoll_call_t c = {.collective = DCOLL_ALLREDUCE,
                                  .send = send,
                                  .recv = recv + k * counts[i],
                                  .bytes = bytes,
                                  .algorithm = (*a)->name,
                                  .reduction = sum};
                good(&s, dcoll_run(s.team, &c), (*a)->name);
            }
            check(!memcmp(recv, recv + counts[i], bytes));
            check_same(&s, recv, bytes);
            free(send);
            free(recv);
        }
    scene_close(&s);
}

/* The bits of addresses that are not 0. */
static void addresses(void *context, const void *left, const void *right,
                      void *result, size_t count)
{
    uintptr_t *bits = context;
    *bits |= (uintptr_t)left | (uintptr_t)right | (uintptr_t)result;
}

/* Operands of aligned buffers, by every algorithm. */
static void aligned(struct rank *r)
{
    static const size_t elements[] = {4, 8, 64};
    enum { LINE = 64 };
    struct scene s;
    scene_open(&s, r, 2);
    const size_t all = r->size * (MOST / LINE * LINE); /* a block for each */
    char *send = aligned_alloc(LINE, all);
    char *recv = aligned_alloc(LINE, MOST / LINE * LINE);
    check(send && recv);
    memset(send, 0, all);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned i = 0; i < 9; i++) {
            const size_t element = elements[i / 3];
            uintptr_t bits = 0;
            const dcoll_reduction_t look = {element, addresses, &bits, true};
            dcoll_args_t args = {.collective = (*a)->collective,
                                 .commutes = look.commutes};
            if (!dcoll_collective_reduces((*a)->collective) ||
                dcoll_refusal(*a, dcoll_team_shape(s.team), &args))
                continue;
            dcoll_call_t c = {.collective = (*a)->collective,
                              .send = send,
                              .recv = recv,
                              .bytes = element * (i % 3 ? i % 3 * 77 : 1),
                              .root = i % r->size,
                              .algorithm = (*a)->name,
                              .reduction = &look};
            good(&s, dcoll_run(s.team, &c), (*a)->name);
            if (bits & (element - 1))
                printf("# %s: elements of %zu\n", (*a)->name, element);
            check(!(bits & (element - 1)));
        }
    free(send);
    free(recv);
    scene_close(&s);
}

/* The algorithms that auto chooses, with all lengths and basic types. */
static void basic_types(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    const dcoll_reduction_t *sum = dcoll_reduction(DCOLL_INT64, DCOLL_SUM);
    const dcoll_reduction_t *least = dcoll_reduction(DCOLL_FLOAT, DCOLL_MIN);
    int64_t *x = (int64_t *)s.send, *y = (int64_t *)s.recv;
    float *f = (float *)s.send, *g = (float *)s.recv;
    for (size_t count = 0; count < MOST / sizeof *x; count = 3 * count + 1) {
        const unsigned root = (unsigned)(count % r->size);
        for (size_t i = 0; i < count; i++)
            x[i] = (int64_t)(i + r->rank);
        good(&s, dcoll_allreduce(s.team, x, y, count, sum), "allreduce");
        for (size_t i = 0; i < count; i++)
            check(y[i] == (int64_t)(r->size * i) + r->size * (r->size - 1) / 2);
        good(&s, dcoll_allreduce(s.team, DCOLL_IN_PLACE, y, count, sum),
             "in place");
        for (size_t i = 0; i < count; i++)
            check(y[i] == (int64_t)r->size * ((int64_t)(r->size * i) +
                                              r->size * (r->size - 1) / 2));
        for (size_t i = 0; i < count; i++)
            f[i] = (float)(i % 5) - (float)r->rank;
        good(&s, dcoll_reduce(s.team, f, g, count, least, root), "reduce");
        for (size_t i = 0; r->rank == root && i < count; i++)
            check(g[i] == (float)(i % 5) - (float)(r->size - 1));
    }
    scene_close(&s);
}

/* result = left + weight * right, of which two are under way at a time. */
static void weighted(void *context, const void *left, const void *right,
                     void *result, size_t count)
{
    const uint32_t *weight = context, *x = left, *y = right;
    uint32_t *to = result;
    for (size_t i = 0; i < count; i++)
        to[i] = x[i] + *weight * y[i];
}

static void contexts(struct rank *r)
{
    struct scene s;
    enum { N = 4, COUNT = 50 };
    static uint32_t send[N][COUNT], recv[N][COUNT];
    scene_open(&s, r, 2);
    for (unsigned round = 0; round < 10; round++) {
        uint32_t weights[N];
        dcoll_request_t *q[N];
        for (unsigned i = 0; i < N; i++) {
            weights[i] = round + i;
            const dcoll_reduction_t w = {sizeof(uint32_t), weighted,
                                         &weights[i], false};
            for (unsigned k = 0; k < COUNT; k++)
                send[i][k] = r->rank ? k : 1000 + k;
            dcoll_call_t c = {.collective = DCOLL_ALLREDUCE,
                              .send = send[i],
                              .recv = recv[i],
                              .bytes = sizeof send[i],
                              .algorithm = "shm-allreduce",
                              .reduction = &w}; /* which may go now */
            good(&s, dcoll_begin(s.team, &c, &q[i]), "begin");
        }
        for (unsigned i = 0; i < N; i++)
            good(&s, dcoll_wait(q[(i + r->rank) % N], -1), "wait");
        for (unsigned i = 0; i < N; i++)
            for (unsigned k = 0; k < COUNT; k++) /* from left to right */
                check(recv[i][k] == 1000 + k + (r->size - 1) * weights[i] * k);
    }
    scene_close(&s);
}

static void prepared(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    dcoll_request_t *q;
    dcoll_call_t c = {.collective = DCOLL_ALLREDUCE,
                      .send = s.send,
                      .recv = s.recv,
                      .bytes = 1000,
                      .reduction = &affine_reduction};
    check(dcoll_would_wait(s.team, &c) == DRAIL_ENOTSUP);
    good(&s, dcoll_prepare(s.team, &c), "prepare");
    check(dcoll_would_wait(s.team, &c) == 0);
    const dcoll_reduction_t wide = {8, affine_combine, NULL, false};
    c.reduction = &wide; /* other slices, maybe */
    check(dcoll_would_wait(s.team, &c) == DRAIL_ENOTSUP);
    c.reduction = &affine_reduction;
    give(&s, &c, 1);
    good(&s, dcoll_begin(s.team, &c, &q), "begin");
    good(&s, dcoll_wait(q, -1), "wait");
    check(got(&s, &c, 1));
    scene_close(&s);
}

static void refused(struct scene *s, const dcoll_reduction_t *reduction,
                    size_t bytes, const char *text)
{
    dcoll_call_t c = {.collective = DCOLL_ALLREDUCE,
                      .send = s->send,
                      .recv = s->recv,
                      .bytes = bytes,
                      .reduction = reduction};
    team_fails(s->r, s->team, dcoll_run(s->team, &c), DRAIL_EINVAL, text);
}

static void bad_arguments(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    const dcoll_reduction_t empty = {0, affine_combine, NULL, false};
    const dcoll_reduction_t nothing = {8, NULL, NULL, false};
    const dcoll_reduction_t wide = {8, affine_combine, NULL, false};
    refused(&s, NULL, 8, "the reduction is NULL");
    refused(&s, &empty, 8, "elements of 0 bytes");
    refused(&s, &nothing, 8, "combine is NULL");
    refused(&s, &wide, 12, "12 bytes: elements have 8");
    check(dcoll_allreduce(s.team, s.send, s.recv, SIZE_MAX / 2, &wide) ==
          DRAIL_EINVAL);
    check(dcoll_allreduce(s.team, NULL, s.recv, 1, &wide) == DRAIL_EINVAL);
    check(dcoll_allreduce(s.team, s.send, DCOLL_IN_PLACE, 1, &wide) ==
          DRAIL_EINVAL);
    check(dcoll_reduce(s.team, s.send, s.recv, 1, &wide, r->size) ==
          DRAIL_EINVAL);
    check(dcoll_reduce(s.team, DCOLL_IN_PLACE, s.recv, 1, &wide,
                       (r->rank + 1) % r->size) == DRAIL_EINVAL);
    check(strstr(dcoll_last_error(s.team), "IN_PLACE") != NULL);
    good(&s, dcoll_barrier(s.team), "barrier");
    scene_close(&s);
}

/* A rank with elements of other bytes would divide blocks elsewhere. */
static void different_elements(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    const bool last = r->rank == r->size - 1;
    const dcoll_reduction_t other = {last ? 4 : 8, affine_combine, NULL, false};
    int rc = dcoll_allreduce(s.team, s.send, s.recv, last ? 4 : 2, &other);
    if (!rc)
        rc = dcoll_barrier(s.team);
    check(rc == DRAIL_EINVAL);
    check(strstr(dcoll_last_error(s.team), "in elements of ") != NULL);
    barrier(r);
    _exit(0);
}

static const struct test tests[] = {
    {"same bits, on one node", 4, same_bits, NULL, APART},
    {"same bits, on nodes of two", 5, same_bits, NULL, APART | PPN(2)},
    {"same bits, between nodes", 3, same_bits, NULL, APART | PPN(1)},
    {"aligned", 4, aligned, NULL, APART},
    {"aligned, on nodes of two", 5, aligned, NULL, APART | PPN(2)},
    {"basic types", 3, basic_types, NULL, APART},
    {"basic types between nodes", 4, basic_types, NULL, APART | PPN(2)},
    {"contexts", 3, contexts, NULL, APART},
    {"prepared", 3, prepared, NULL, APART},
    {"bad arguments", 3, bad_arguments, NULL, APART},
    {"different elements", 3, different_elements, NULL, APART},
};

RUN_TESTS(tests)
