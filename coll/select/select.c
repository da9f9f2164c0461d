/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm `auto` means: the fastest one that `railbench tune` found for
 * this collective, shape and size; where it has not measured, rules of thumb.
 * Both only propose: what does not serve the shape is passed over.
 */
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/dcoll.h"
#include "table.h"

/* ------------------------------------------------------- rules of thumb */

enum nodes { ANY, ONE, SEVERAL };

/* For blocks of less than `below` bytes, and nodes with at least `locals`
 * ranks; the first that fits is taken. */
struct rule {
    dcoll_collective_t collective;
    enum nodes nodes;
    unsigned locals;
    size_t below;
    const char *name;
    bool zero_copy;
};

#define ALWAYS SIZE_MAX

/* Sizes as measured on two cores. Within a node, a copy more through shared
 * memory costs less than finding out where the blocks are, until they are long;
 * the more so, the more ranks share the cores. */
static const struct rule rules[] = {
    {DCOLL_GATHER, ONE, 12, 49152, "shm-gather", false},
    {DCOLL_GATHER, ONE, 3, 24576, "shm-gather", false},
    {DCOLL_GATHER, ONE, 0, 12288, "shm-gather", false},
    {DCOLL_GATHER, ONE, 0, ALWAYS, "direct", true},
    {DCOLL_GATHER, SEVERAL, 0, 32768, "smp-gather", false},
    {DCOLL_GATHER, ANY, 0, 1024, "binomial", false},
    {DCOLL_GATHER, ANY, 0, 16384, "direct", false},
    {DCOLL_GATHER, ANY, 0, ALWAYS, "direct", true},

    {DCOLL_ALLGATHER, ONE, 12, 49152, "shm-allgather", false},
    {DCOLL_ALLGATHER, ONE, 6, 12288, "shm-allgather", false},
    {DCOLL_ALLGATHER, ONE, 3, 6144, "shm-allgather", false},
    {DCOLL_ALLGATHER, ONE, 0, 1024, "shm-allgather", false},
    {DCOLL_ALLGATHER, ONE, 0, ALWAYS, "pull", true},
    {DCOLL_ALLGATHER, SEVERAL, 0, 1024, "smp-bruck", false},
    {DCOLL_ALLGATHER, SEVERAL, 0, 16384, "smp-direct", false},
    {DCOLL_ALLGATHER, SEVERAL, 4, ALWAYS, "smp-direct", true},
    {DCOLL_ALLGATHER, ANY, 0, 1024, "bruck", false},
    {DCOLL_ALLGATHER, ANY, 0, 16384, "direct", false},
    {DCOLL_ALLGATHER, ANY, 0, ALWAYS, "direct", true},

    {DCOLL_ALLTOALL, ONE, 12, 6144, "shm-alltoall", false},
    {DCOLL_ALLTOALL, ONE, 3, 2048, "shm-alltoall", false},
    {DCOLL_ALLTOALL, ONE, 0, 768, "shm-alltoall", false},
    {DCOLL_ALLTOALL, ONE, 0, ALWAYS, "pull", true},
    {DCOLL_ALLTOALL, ONE, 0, ALWAYS, "shm-alltoall", false}, /* in place */
    {DCOLL_ALLTOALL, ANY, 0, 64, "bruck", false},
    {DCOLL_ALLTOALL, ANY, 0, 16384, "direct", false},
    {DCOLL_ALLTOALL, ANY, 0, ALWAYS, "direct", true},

    {DCOLL_BCAST, ONE, 0, 65536, "shm-bcast", false},
    {DCOLL_BCAST, SEVERAL, 0, 16384, "smp-bcast", false},
    {DCOLL_BCAST, ANY, 0, 16384, "binomial", false},
    {DCOLL_BCAST, ANY, 0, ALWAYS, "binomial", true},

    {DCOLL_SCATTER, ONE, 0, 16384, "shm-scatter", false},
    {DCOLL_SCATTER, ANY, 0, 1024, "binomial", false},
    {DCOLL_SCATTER, ANY, 0, 16384, "direct", false},
    {DCOLL_SCATTER, ANY, 0, ALWAYS, "direct", true},

    {DCOLL_BARRIER, ONE, 0, ALWAYS, "shm-barrier", false},
    {DCOLL_BARRIER, SEVERAL, 0, ALWAYS, "smp-barrier", false},
    {DCOLL_BARRIER, ANY, 0, ALWAYS, "dissemination", false},
};

static bool serves(const dcoll_algorithm_t *algorithm,
                   const dcoll_shape_t *shape, const dcoll_args_t *args,
                   bool zero_copy)
{
    dcoll_args_t wanted = *args;
    wanted.zero_copy = zero_copy;
    return !algorithm->refuses || !algorithm->refuses(shape, &wanted);
}

static bool applies(const struct rule *rule, const dcoll_shape_t *shape,
                    const dcoll_args_t *args)
{
    enum nodes nodes = shape->nnodes > 1 ? SEVERAL : ONE;
    return rule->collective == args->collective && args->bytes < rule->below &&
           dcoll_shape_locals(shape, 0) >= rule->locals &&
           (rule->nodes == ANY || rule->nodes == nodes);
}

static const dcoll_algorithm_t *by_rule(const dcoll_shape_t *shape,
                                        dcoll_args_t *args)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        if (!applies(rule, shape, args))
            continue;
        const dcoll_algorithm_t *a =
            dcoll_algorithm_find(args->collective, rule->name);
        if (!a || !serves(a, shape, args, rule->zero_copy))
            continue;
        args->zero_copy = rule->zero_copy;
        return a;
    }
    return NULL;
}

/* --------------------------------------------------------------- table */

static bool same_shape(const dcoll_table_row_t *row, const dcoll_shape_t *shape,
                       const dcoll_args_t *args)
{
    return row->collective == args->collective && row->ranks == shape->nranks &&
           row->ports == shape->ports &&
           row->ppn == dcoll_shape_locals(shape, 0);
}

/* The smaller the ratio of the sizes, the closer is a row. */
static double distance(uint64_t a, uint64_t b)
{
    double x = (double)a + 1, y = (double)b + 1;
    return x > y ? x / y : y / x;
}

/* The row of the nearest size; a table that ends far from it says nothing. */
#define FAR 16

static const dcoll_algorithm_t *by_table(const dcoll_table_t *table,
                                         const dcoll_shape_t *shape,
                                         dcoll_args_t *args)
{
    const dcoll_table_row_t *best = NULL;
    double nearest = FAR;
    for (unsigned i = 0; table && i < table->count; i++) {
        const dcoll_table_row_t *row = &table->rows[i];
        double far = distance(row->bytes, args->bytes);
        if (far < nearest && same_shape(row, shape, args) &&
            serves(row->algorithm, shape, args, row->zero_copy)) {
            nearest = far;
            best = row;
        }
    }
    if (!best)
        return NULL;
    args->zero_copy = best->zero_copy;
    return best->algorithm;
}

const dcoll_algorithm_t *dcoll_table_select(const dcoll_table_t *table,
                                            const dcoll_shape_t *shape,
                                            dcoll_args_t *args)
{
    const dcoll_algorithm_t *a = by_table(table, shape, args);
    if (!a)
        a = by_rule(shape, args);
    /* for any that is left out above: the first that can */
    for (const dcoll_algorithm_t *const *any = dcoll_algorithms(); !a && *any;
         any++)
        if ((*any)->collective == args->collective &&
            serves(*any, shape, args, args->zero_copy))
            a = *any;
    return a;
}
