/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "draws.h"

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

static unsigned draw(uint64_t *random, unsigned limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*random >> 33) % limit;
}

static dcoll_args_t draw_args(const dcoll_algorithm_t *algorithm,
                              const dcoll_shape_t *shape, uint64_t *random)
{
    dcoll_args_t args = {.collective = algorithm->collective};
    const size_t bytes = sizes[draw(random, SIZES)];
    args.bytes = args.collective == DCOLL_BARRIER ? 0 : bytes;
    if (dcoll_collective_reduces(args.collective)) {
        args.element = elements[draw(random, ELEMENTS)];
        args.bytes += (args.element - args.bytes % args.element) % args.element;
        if (args.element > sizeof(double) && draw(random, 2))
            args.bytes = many(shape, args.element);
    }
    args.root = draw(random, shape->nranks);
    args.in_place = draw(random, 2);
    args.zero_copy = draw(random, 2);
    args.groups = draw(random, GROUPS_MAX + 1);
    args.depth = dcoll_depth(algorithm, shape, args.bytes, 1 + draw(random, 2));
    return args;
}

/* Puts in front of the reason which variant it is. */
static void name_variant(verify_row_t *row, const dcoll_shape_t *shape,
                         const dcoll_args_t *args)
{
    char why[sizeof row->why];
    memcpy(why, row->why, sizeof why);
    snprintf(row->why, sizeof row->why,
             "%u ports, %zu bytes, root %u, in place %d, zero copy %d, groups "
             "%u, depth %u, elements of %zu: %.360s",
             shape->ports, args->bytes, args->root, args->in_place,
             args->zero_copy, args->groups, args->depth, args->element, why);
}

int verify_draws(verify_row_t *row, const dcoll_shape_t *shape, unsigned count,
                 uint64_t *random)
{
    int rc = 0;
    for (unsigned i = 0; !rc && !row->failed && i < count; i++) {
        dcoll_shape_t drawn = *shape;
        dcoll_program_t p;
        drawn.ports = 1 + draw(random, PORTS_MAX);
        const dcoll_args_t args = draw_args(row->algorithm, &drawn, random);
        rc = dcoll_program_make(row->algorithm, &drawn, &args, &p);
        if (rc == DRAIL_ENOTSUP) {
            rc = 0;
            continue;
        }
        if (rc)
            break;
        rc =
            dcoll_verify(&p, dcoll_proof_starts(&p), row->why, sizeof row->why);
        dcoll_program_free(&p);
        row->failed = rc == DRAIL_EINVAL;
        if (row->failed)
            name_variant(row, &drawn, &args);
        rc = rc == DRAIL_ENOMEM ? rc : 0;
    }
    return rc;
}
