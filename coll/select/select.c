/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm of `auto`: the fastest one that `railbench tune` has measured
 * for this collective, shape, engine and size; without a measurement, rules.
 * Between hosts, predict.h may then take a faster one.
 * Algorithms that refuse the shape are skipped.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/shares.h"
#include "coll/build/smp/node_chain.h"
#include "table.h"

/* ---------------------------------------------------------------- rules */

/* Number of nodes. EACH: several, all with at least `locals` ranks. SHORT:
 * several, and the message from one node to another is short. FEW: three to
 * eight, for algorithms that relay all blocks over one node (two nodes gain
 * nothing by that, and many wait for that node). LITTLE: few, and all messages
 * of a node together are short. UNEVEN: several, and the longest of different
 * blocks has a large part of all bytes. PORTS: several, and ranks have
 * different numbers of ports. CHAIN: one, and a block is so long that a chain
 * of its ranks pays. */
enum nodes {
    ANY,
    ONE,
    SEVERAL,
    EACH,
    SHORT,
    FEW,
    LITTLE,
    UNEVEN,
    PORTS,
    CHAIN
};

#define SHORT_BYTES  8192u
#define LITTLE_BYTES 4096u
#define FEW_NODES    8u
#define UNEVEN_RATIO 4u /* of the longest block to the mean */

/* REGISTER: bytes of a block; READ: of all blocks of a rank. */
#define REGISTER_BYTES (2u << 20)
#define READ_BYTES     (4u << 20)
#define READ_MANY      (32u << 20) /* below it the team still keeps the request */
#define READERS        4u
#define NODE_MOST      (32u << 20) /* of all blocks in NODE; below it, too */

/* Applies to blocks of less than `below` bytes if a node has at least `locals`
 * ranks. The first rule that applies decides. */
struct rule {
    enum nodes nodes;
    unsigned locals;
    size_t below;
    const dcoll_algorithm_t *algorithm;
    bool zero_copy;
};

#define ALWAYS SIZE_MAX

/* Measured on two cores, and between hosts over TCP at 1 Gbit/s. Within a node,
 * one more copy through shared memory costs less than telling each other where
 * blocks are, until blocks are long; more so if more ranks share the cores.
 * Between nodes, two more copies in an all-to-all cost less than a message for
 * each pair of ranks; and a detour over one node costs less than a message for
 * each pair of nodes, if there are few bytes and hosts share cores.
 * Reduce-scatters between nodes: by simulation of a cluster of two rails of 400
 * Gbit/s (ndr400-2rail), 4 to 64 ranks. */
static const struct rule rules[] = {
    {ONE, 12, 49152, &gather_shm, false},
    {ONE, 3, 24576, &gather_shm, false},
    {ONE, 0, 12288, &gather_shm, false},
    {ONE, 0, ALWAYS, &gather_direct, true},
    {ONE, 0, ALWAYS, &gather_shm, false},
    {SEVERAL, 0, 65536, &gather_smp, false},
    {ANY, 0, 1024, &gather_binomial, false},
    {ANY, 0, 16384, &gather_direct, false},
    {ANY, 0, ALWAYS, &gather_direct, true},

    {ONE, 12, 49152, &allgather_shm, false},
    {ONE, 6, 12288, &allgather_shm, false},
    {ONE, 3, 6144, &allgather_shm, false},
    {ONE, 0, 1024, &allgather_shm, false},
    {ONE, 0, ALWAYS, &allgather_pull, true},
    {ONE, 0, ALWAYS, &allgather_shm, false},
    {UNEVEN, 0, 65536, &allgather_circulant, false},
    {UNEVEN, 0, ALWAYS, &allgather_circulant, true},
    {FEW, 2, 512, &allgather_smp_gather_bcast, false},
    {SEVERAL, 0, 2048, &allgather_smp_bruck, false},
    {SEVERAL, 2, 262144, &allgather_smp_direct, false},
    {SEVERAL, 2, ALWAYS, &allgather_smp_direct, true},
    {SEVERAL, 0, 16384, &allgather_smp_direct, false},
    {ANY, 0, 1024, &allgather_bruck, false},
    {ANY, 0, 16384, &allgather_direct, false},
    {ANY, 0, ALWAYS, &allgather_direct, true},

    {ONE, 12, 6144, &alltoall_shm, false},
    {ONE, 3, 2048, &alltoall_shm, false},
    {ONE, 0, 768, &alltoall_shm, false},
    {ONE, 0, ALWAYS, &alltoall_pull, true},
    {ONE, 0, ALWAYS, &alltoall_shm, false}, /* in place, too */
    {LITTLE, 2, ALWAYS, &alltoall_smp_gather_scatter, false},
    {SHORT, 2, ALWAYS, &alltoall_smp_bruck, false},
    {SEVERAL, 2, 131072, &alltoall_smp_direct, false},
    {ANY, 0, 64, &alltoall_bruck, false},
    {ANY, 0, 16384, &alltoall_direct, false},
    {ANY, 0, ALWAYS, &alltoall_direct, true},

    {ONE, 0, 65536, &bcast_shm, false},
    {SEVERAL, 0, 16384, &bcast_smp, false},
    {ANY, 0, 16384, &bcast_binomial, false},
    {ANY, 0, ALWAYS, &bcast_binomial, true},
    {ONE, 0, ALWAYS, &bcast_shm, false},

    {ONE, 0, 16384, &scatter_shm, false},
    {ANY, 0, 1024, &scatter_binomial, false},
    {ANY, 0, 16384, &scatter_direct, false},
    {ANY, 0, ALWAYS, &scatter_direct, true},
    {ONE, 0, ALWAYS, &scatter_shm, false},

    {ONE, 0, ALWAYS, &barrier_shm, false},
    {SEVERAL, 0, ALWAYS, &barrier_smp, false},
    {ANY, 0, ALWAYS, &barrier_dissemination, false},

    {ONE, 3, 131072, &reduce_shm, false},
    {CHAIN, 3, ALWAYS, &reduce_shm_chain, false},
    {ONE, 3, ALWAYS, &reduce_shm_slices, false},
    {ONE, 0, 4194304, &reduce_shm, false},
    {ONE, 0, ALWAYS, &reduce_shm_slices, false},
    {SEVERAL, 6, 3072, &reduce_smp, false},
    {EACH, 6, ALWAYS, &reduce_smp_slices, false},
    {SEVERAL, 2, 49152, &reduce_smp, false},
    {EACH, 3, ALWAYS, &reduce_smp_slices, false},
    {EACH, 2, 262144, &reduce_smp_slices, false},
    {ANY, 0, 24576, &reduce_binomial, false},
    {ANY, 0, ALWAYS, &reduce_direct, true},

    {ONE, 12, 6144, &allreduce_shm, false},
    {ONE, 3, 16384, &allreduce_shm, false},
    {CHAIN, 3, ALWAYS, &allreduce_shm_chain, false},
    {ONE, 6, ALWAYS, &allreduce_shm_slices, false},
    {ONE, 3, 524288, &allreduce_shm_slices, false},
    {ONE, 0, 24576, &allreduce_shm, false},
    {ONE, 0, ALWAYS, &allreduce_direct, true},
    {ONE, 0, 524288, &allreduce_shm, false},
    {ONE, 0, ALWAYS, &allreduce_shm_slices, false},
    {SEVERAL, 2, 1024, &allreduce_smp_doubling, false},
    {EACH, 2, ALWAYS, &allreduce_smp_slices, false},
    {ANY, 0, 2048, &allreduce_doubling, false},
    {ANY, 0, 65536, &allreduce_halving, false},
    {ANY, 0, 262144, &allreduce_halving, true},
    {PORTS, 0, ALWAYS, &allreduce_shares, true},
    {ANY, 0, ALWAYS, &allreduce_halving, true},

    {ONE, 12, 24576, &reduce_scatter_block_shm, false},
    {ONE, 12, ALWAYS, &reduce_scatter_block_shm_chain, false},
    {ONE, 3, 49152, &reduce_scatter_block_shm, false},
    {ONE, 3, ALWAYS, &reduce_scatter_block_shm_chain, false},
    {ONE, 0, 262144, &reduce_scatter_block_shm, false},
    {ONE, 0, ALWAYS, &reduce_scatter_block_direct, true},
    {ONE, 0, ALWAYS, &reduce_scatter_block_shm, false},
    {SEVERAL, 2, 16384, &reduce_scatter_block_smp_bruck, false},
    {ANY, 0, 8192, &reduce_scatter_block_pat, false},
    {ANY, 0, 16384, &reduce_scatter_block_direct, false},
    {ANY, 0, ALWAYS, &reduce_scatter_block_direct, true},

    {ONE, 0, 65536, &scan_shm, false},
    {ONE, 0, ALWAYS, &scan_shm_chain, false},
    {ANY, 0, ALWAYS, &scan_doubling, false},
    {ONE, 0, 65536, &exscan_shm, false},
    {ONE, 0, ALWAYS, &exscan_shm_chain, false},
    {ANY, 0, ALWAYS, &exscan_doubling, false},
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* From how many bytes on blocks are read by the kernel instead of being copied
 * twice. In an all-gather many ranks read the same block and slow each other
 * down, and only one copy of many is saved. */
static size_t least_read(const dcoll_algorithm_t *algorithm, unsigned nranks)
{
    bool same = algorithm == &allgather_pull;
    size_t blocks = same ? nranks : (size_t)nranks * nranks; /* of NODE */
    size_t read = same && nranks > READERS ? READ_MANY : READ_BYTES;
    return least(read / nranks, NODE_MOST / blocks);
}

/* Is zero copy worth it for one call within a node? Registering memory takes
 * longer than one more copy, and so does the kernel's copy, unless blocks are
 * long. */
static bool pays(const dcoll_algorithm_t *algorithm, const dcoll_shape_t *shape,
                 const dcoll_args_t *args, bool zero_copy)
{
    bool pulls = algorithm == &allgather_pull || algorithm == &alltoall_pull;
    size_t from = pulls ? least_read(algorithm, shape->nranks)
                        : least(REGISTER_BYTES, NODE_MOST / shape->nranks);
    return !zero_copy || !args->one_shot || shape->nnodes > 1 ||
           args->bytes >= from;
}

static bool serves(const dcoll_algorithm_t *algorithm,
                   const dcoll_shape_t *shape, const dcoll_args_t *args,
                   bool zero_copy)
{
    dcoll_args_t wanted = *args;
    wanted.zero_copy = zero_copy;
    return pays(algorithm, shape, args, zero_copy) &&
           !dcoll_refusal(algorithm, shape, &wanted);
}

/* Their longest block would leave its rank N - 1 times. */
static bool is_uneven(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    return shape->nnodes > 1 && args->begin &&
           args->bytes * shape->nranks >
               UNEVEN_RATIO * args->begin[shape->nranks];
}

static bool ports_differ(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    return args->port_begin &&
           args->port_begin[shape->nranks] !=
               shape->nranks * shares_least_ports(shape, args);
}

static bool is_among(const struct rule *rule, const dcoll_shape_t *shape,
                     const dcoll_args_t *args)
{
    const size_t bytes = args->bytes;
    const size_t ppn = dcoll_shape_ppn(shape), blocks = shape->nranks - ppn;
    const bool few = shape->nnodes > 2 && shape->nnodes <= FEW_NODES;
    switch (rule->nodes) {
    case ANY:
        return true;
    case ONE:
        return shape->nnodes == 1;
    case SEVERAL:
        return shape->nnodes > 1;
    case EACH:
        return shape->nnodes > 1 && dcoll_shape_least(shape) >= rule->locals;
    case SHORT:
        return shape->nnodes > 1 && bytes < SHORT_BYTES / (ppn * ppn);
    case FEW:
        return few;
    case UNEVEN:
        return is_uneven(shape, args);
    case CHAIN:
        return shape->nnodes == 1 && bytes >= NODE_CHAIN_PIECE * ppn;
    case PORTS:
        return shape->nnodes > 1 && ports_differ(shape, args);
    default:
        return few && bytes <= LITTLE_BYTES / (ppn * blocks);
    }
}

static bool applies(const struct rule *rule, const dcoll_shape_t *shape,
                    const dcoll_args_t *args)
{
    return rule->algorithm->collective == args->collective &&
           args->bytes < rule->below &&
           dcoll_shape_ppn(shape) >= rule->locals &&
           is_among(rule, shape, args);
}

static const dcoll_algorithm_t *by_rule(const dcoll_shape_t *shape,
                                        dcoll_args_t *args)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        if (!applies(rule, shape, args) ||
            !serves(rule->algorithm, shape, args, rule->zero_copy))
            continue;
        args->zero_copy = rule->zero_copy;
        return rule->algorithm;
    }
    return NULL;
}

/* --------------------------------------------------------------- table */

static bool same_shape(const dcoll_table_row_t *row, const dcoll_shape_t *shape)
{
    return row->ranks == shape->nranks && row->ports == shape->ports &&
           row->ppn == dcoll_shape_ppn(shape);
}

void dcoll_table_keep(dcoll_table_t *table, const dcoll_shape_t *shape)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < table->count; i++)
        if (same_shape(&table->rows[i], shape))
            table->rows[kept++] = table->rows[i];
    table->count = kept;
}

/* The ratio of two sizes: the smaller, the closer. */
static double distance(uint64_t a, uint64_t b)
{
    double x = (double)a + 1, y = (double)b + 1;
    return x > y ? x / y : y / x;
}

/* The row of the nearest size; rows whose size differs by more than this factor
 * do not count. */
#define FAR 16

static const dcoll_algorithm_t *by_table(const dcoll_table_t *table,
                                         drail_engine_t engine,
                                         const dcoll_shape_t *shape,
                                         dcoll_args_t *args)
{
    const dcoll_table_row_t *best = NULL;
    double nearest = FAR;
    for (unsigned i = 0; table && i < table->count; i++) {
        const dcoll_table_row_t *row = &table->rows[i];
        if (row->engine != engine || row->collective != args->collective ||
            !same_shape(row, shape))
            continue;
        double far = distance(row->bytes, args->bytes);
        if (far < nearest &&
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
                                            drail_engine_t engine,
                                            const dcoll_shape_t *shape,
                                            dcoll_args_t *args)
{
    const dcoll_algorithm_t *a = by_table(table, engine, shape, args);
    if (!a)
        a = by_rule(shape, args);
    /* no rule applies: the first algorithm that serves it, without zero copy */
    if (!a)
        args->zero_copy = false;
    for (const dcoll_algorithm_t *const *any = dcoll_algorithms(); !a && *any;
         any++)
        if ((*any)->collective == args->collective &&
            serves(*any, shape, args, args->zero_copy))
            a = *any;
    return a;
}

void dcoll_table_copy_short(const dcoll_table_t *table,
                            const dcoll_shape_t *shape, dcoll_args_t *args,
                            const dcoll_algorithm_t *a, size_t least)
{
    dcoll_args_t copied = *args;
    copied.zero_copy = false;
    if ((!table || !table->count) && shape->nnodes > 1 && args->bytes < least &&
        !dcoll_refusal(a, shape, &copied))
        args->zero_copy = false;
}
