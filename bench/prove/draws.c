/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "draws.h"
#include "irregular.h"
#include "random.h"

#define PORTS_MAX  4
#define GROUPS_MAX 8

/* In a cache line, beside it, and none. */
static const size_t sizes[] = {8, 64, 1, 56, 0};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Of reductions: one of several is beyond a cache line. */
static const size_t elements[] = {1, 8, 24};
#define ELEMENTS (sizeof elements / sizeof *elements)

/* Slices of one of that size have several. */
static size_t many(const dcoll_shape_t *shape, size_t element)
{
    return element * (2 * shape->nranks + 1);
}

static dcoll_args_t draw_args(const dcoll_algorithm_t *algorithm,
                              const dcoll_shape_t *shape, uint64_t *random)
{
    dcoll_args_t args = {.collective = algorithm->collective};
    const size_t bytes = sizes[prove_random(random, SIZES)];
    args.bytes = args.collective == DCOLL_BARRIER ? 0 : bytes;
    if (dcoll_collective_reduces(args.collective)) {
        args.element = elements[prove_random(random, ELEMENTS)];
        args.bytes += (args.element - args.bytes % args.element) % args.element;
        if (args.element > sizeof(double) && prove_random(random, 2))
            args.bytes = many(shape, args.element);
        args.commutes = dcoll_needs_commuting(algorithm, shape, &args);
    }
    args.root = prove_random(random, shape->nranks);
    args.in_place = prove_random(random, 2);
    args.zero_copy = prove_random(random, 2);
    args.groups = prove_random(random, GROUPS_MAX + 1);
    args.depth =
        dcoll_depth(algorithm, shape, args.bytes, 1 + prove_random(random, 2));
    return args;
}

struct variant {
    dcoll_shape_t shape;
    dcoll_args_t args;
    dcoll_traffic_t traffic; /* irregular; args points to it */
    uint64_t *counts;        /* the same */
    unsigned *ports;         /* regular: args points to it */
    char text[256];          /* which variant it is */
};

static void name_args(struct variant *v)
{
    const dcoll_args_t *args = &v->args;
    snprintf(v->text, sizeof v->text,
             "%zu bytes, root %u, in place %d, zero copy %d, groups %u, depth "
             "%u, elements of %zu",
             args->bytes, args->root, args->in_place, args->zero_copy,
             args->groups, args->depth, args->element);
}

/* dcoll_args_t.port_begin, which most algorithms do not look at. */
static unsigned *draw_ports(const dcoll_shape_t *shape, uint64_t *random)
{
    unsigned *begin = calloc(shape->nranks + 1u, sizeof *begin);
    for (unsigned r = 0; begin && r < shape->nranks; r++)
        begin[r + 1] = begin[r] + 1 + prove_random(random, shape->ports);
    return begin;
}

static int draw_variant(struct variant *v, const dcoll_algorithm_t *algorithm,
                        const dcoll_shape_t *shape, uint64_t *random)
{
    *v = (struct variant){.shape = *shape};
    v->shape.ports = 1 + prove_random(random, PORTS_MAX);
    if (algorithm->collective != DCOLL_ALLTOALLV) {
        v->args = draw_args(algorithm, &v->shape, random);
        v->args.port_begin = v->ports = draw_ports(&v->shape, random);
        name_args(v);
        return v->ports ? 0 : DRAIL_ENOMEM;
    }
    v->args = (dcoll_args_t){.collective = algorithm->collective,
                             .depth = dcoll_depth(algorithm, &v->shape, 0,
                                                  1 + prove_random(random, 2)),
                             .traffic = &v->traffic};
    v->counts = verify_counts_draw(shape->nranks, random, &v->traffic, v->text,
                                   sizeof v->text);
    v->traffic.counts = v->counts;
    return v->counts ? 0 : DRAIL_ENOMEM;
}

static int verify_variant(verify_row_t *row, const struct variant *v)
{
    dcoll_program_t p;
    char why[sizeof row->why];
    int rc = dcoll_program_make(row->algorithm, &v->shape, &v->args, &p);
    if (rc)
        return rc == DRAIL_ENOTSUP ? 0 : rc;
    p.counts = v->counts;
    rc = dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
    dcoll_program_free(&p);
    row->failed = rc == DRAIL_EINVAL;
    if (row->failed)
        snprintf(row->why, sizeof row->why, "%u ports, %s: %.240s",
                 v->shape.ports, v->text, why);
    return rc == DRAIL_ENOMEM ? rc : 0;
}

int verify_draws(verify_row_t *row, const dcoll_shape_t *shape, unsigned count,
                 uint64_t *random)
{
    int rc = 0;
    for (unsigned i = 0; !rc && !row->failed && i < count; i++) {
        struct variant v;
        rc = draw_variant(&v, row->algorithm, shape, random);
        if (!rc)
            rc = verify_variant(row, &v);
        free(v.counts);
        free(v.ports);
    }
    return rc;
}
