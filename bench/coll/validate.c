/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The separate pass that checks data. Each block of each start has its own
 * contents, computed from its source and its target. Before a start, every byte
 * that it should write is made wrong, so that a missing write is found. Ranks
 * sleep now and then, so that fast ranks run ahead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"
#include "bench/pair/content.h"
#include "dapl_rail/platform/platform.h"

#define STARTS      4
#define SKEW_MAX_NS 300000

typedef struct check {
    coll_run_t *run;
    const coll_cell_t *cell;
    uint8_t *send, *recv;
    uint64_t seed; /* of this start */
    size_t bytes, recv_bytes;
    const unequal_t *unequal;     /* NULL: all blocks have `bytes` */
    uint8_t *expected;            /* contents of recv, with its guards */
    const operation_t *operation; /* of a reduction */
    uint8_t *operand;             /* ... what one of the ranks has for it */
} check_t;

/* Contents that rank @p from has for rank @p to. */
static uint64_t block_seed(const check_t *c, unsigned from, unsigned to)
{
    dcoll_collective_t collective = c->run->plan->collective;
    /* each receiver gets the same block */
    if (collective != DCOLL_ALLTOALL && collective != DCOLL_SCATTER &&
        collective != DCOLL_REDUCE_SCATTER_BLOCK)
        to = 0;
    return c->seed + ((uint64_t)from << 12) + to + 1;
}

/* Where block @p i of this many lies. */
static size_t place_of(const check_t *c, unsigned blocks, unsigned i)
{
    return !c->unequal ? i * c->bytes : blocks > 1 ? c->unequal->begin[i] : 0;
}

static size_t bytes_of(const check_t *c, unsigned blocks, unsigned i)
{
    const unsigned rank = blocks > 1 ? i : c->run->rank;
    return c->unequal ? c->unequal->begin[rank + 1] - c->unequal->begin[rank]
                      : c->bytes;
}

static void fill(const check_t *c, uint8_t *block, unsigned from, unsigned to)
{
    const dcoll_collective_t collective = c->run->plan->collective;
    const bool of_target =
        collective == DCOLL_SCATTER || collective == DCOLL_REDUCE_SCATTER_BLOCK;
    const size_t bytes = bytes_of(c, c->run->ranks, of_target ? to : from);
    uint64_t seed = block_seed(c, from, to);
    if (c->operation)
        operation_fill(c->operation, block, bytes, from, c->run->ranks, seed);
    else
        content_fill(block, bytes, seed);
}

static void fill_send(const check_t *c)
{
    unsigned blocks = coll_send_blocks(c->run->plan, c->run->rank);
    for (unsigned i = 0; i < blocks; i++)
        fill(c, c->send + place_of(c, blocks, i), c->run->rank, i);
}

/* The expected result: combines the operands of ranks 0 … last in order. */
static void reduce(const check_t *c, uint8_t *block, unsigned last)
{
    const dcoll_reduction_t *r = &c->operation->reduction;
    const unsigned me = c->run->rank;
    fill(c, block, 0, me);
    for (unsigned from = 1; from <= last; from++) {
        fill(c, c->operand, from, me);
        r->combine(r->context, block, c->operand, block,
                   bytes_of(c, 1, 0) / r->element);
    }
}

/* Writes the expected contents of block @p i of recv. */
static void expect(const check_t *c, uint8_t *block, unsigned i)
{
    unsigned root = (unsigned)c->run->opts->root, me = c->run->rank;
    unsigned last = c->run->ranks - 1;
    switch (c->run->plan->collective) {
    case DCOLL_EXSCAN:
        last = me ? me - 1 : 0; /* rank 0 in place keeps what it has */
        /* fall through */
    case DCOLL_SCAN:
        last = last < me ? last : me;
        /* fall through */
    case DCOLL_REDUCE_SCATTER_BLOCK:
        if (i > 0) { /* in place: it stays */
            fill(c, block, me, i);
            return;
        }
        /* fall through */
    case DCOLL_REDUCE:
    case DCOLL_ALLREDUCE:
        reduce(c, block, last);
        return;
    case DCOLL_BCAST:
    case DCOLL_SCATTER:
        fill(c, block, root, me);
        return;
    default:
        fill(c, block, i, me);
    }
}

/* Does block @p i of recv hold this rank's own data before the start? */
static bool given(const check_t *c, unsigned i)
{
    const coll_plan_t *plan = c->run->plan;
    switch (plan->collective) {
    case DCOLL_BCAST:
        return c->run->rank == plan->opts->root;
    case DCOLL_ALLTOALL: /* what is to be sent lies where it will come to */
    case DCOLL_REDUCE:
    case DCOLL_ALLREDUCE:
    case DCOLL_REDUCE_SCATTER_BLOCK:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        return plan->opts->in_place;
    default:
        return plan->opts->in_place && i == c->run->rank;
    }
}

static void prepare(const check_t *c)
{
    uint8_t *recv = c->recv;
    unsigned blocks = coll_recv_blocks(c->run->plan, c->run->rank);
    content_fill(c->expected, COLL_GUARD, c->seed);
    content_fill(c->expected + COLL_GUARD + c->recv_bytes, COLL_GUARD, c->seed);
    memcpy(recv - COLL_GUARD, c->expected, COLL_GUARD);
    memcpy(recv + c->recv_bytes, c->expected, COLL_GUARD);
    for (unsigned i = 0; i < blocks; i++) {
        const size_t at = place_of(c, blocks, i);
        uint8_t *to = recv + at, *block = c->expected + COLL_GUARD + at;
        expect(c, block, i);
        if (given(c, i))
            fill(c, to, c->run->rank, i);
        else
            for (size_t b = 0; b < bytes_of(c, blocks, i); b++)
                to[b] = (uint8_t)~block[b];
    }
}

/* Prints one line to stderr about the first wrong byte. */
static bool check_recv(const check_t *c, unsigned start)
{
    const uint8_t *found = c->recv - COLL_GUARD;
    size_t size = c->recv_bytes + 2 * COLL_GUARD, i = 0;
    char label[128];
    if (!memcmp(found, c->expected, size))
        return true;
    while (found[i] == c->expected[i])
        i++;
    coll_setup_label(c->run->plan, &c->run->plan->setups[c->cell->setup], label,
                     sizeof label);
    fprintf(stderr,
            "%s: %s, %zu bytes, start %u: rank %u: byte %lld of recv is 0x%02x "
            "instead of 0x%02x\n",
            c->run->result->test->table.command, label, c->bytes, start,
            c->run->rank, (long long)i - COLL_GUARD, found[i], c->expected[i]);
    return false;
}

static void skew(const check_t *c, unsigned start)
{
    uint8_t dice[4];
    content_fill(dice, sizeof dice, c->seed + c->run->rank * STARTS + start);
    uint64_t ns = (uint64_t)(dice[0] | dice[1] << 8) * SKEW_MAX_NS >> 16;
    if (dice[2] & 1)
        platform_sleep(drail_job_platform(c->run->job), ns);
}

static int check_start(check_t *c, unsigned start, bool *valid)
{
    /* no two starts share a random stream */
    c->seed = c->run->result->seed + ((uint64_t)(start + 1) << 32) +
              ((uint64_t)(c->cell - c->run->result->cells) << 40);
    fill_send(c);
    prepare(c);
    skew(c, start);
    int rc = c->run->work->perform(c->run, c->cell->setup);
    if (!rc && *valid)
        *valid = check_recv(c, start);
    return rc;
}

int coll_validate(coll_run_t *run, const coll_cell_t *cell,
                  const operation_t *operation, bool *valid)
{
    const coll_bed_t *bed = coll_bed_of(run, cell->setup);
    const coll_setup_t *setup = &run->plan->setups[cell->setup];
    const unsigned blocks = coll_recv_blocks(run->plan, run->rank);
    check_t c = {
        .run = run,
        .cell = cell,
        .send = coll_bed_send(bed, setup),
        .recv = coll_bed_recv(bed, setup),
        .bytes = cell->bytes,
        .unequal = unequal_of(&run->plan->unequal, cell->bytes),
        .operation = operation,
    };
    int rc = 0;
    if (blocks)
        c.recv_bytes =
            place_of(&c, blocks, blocks - 1) + bytes_of(&c, blocks, blocks - 1);
    c.expected = malloc(c.recv_bytes + 2 * COLL_GUARD + c.bytes);
    if (!c.expected)
        return DRAIL_ENOMEM;
    c.operand = c.expected + c.recv_bytes + 2 * COLL_GUARD;
    *valid = true;
    for (unsigned s = 0; !rc && s < STARTS; s++)
        rc = check_start(&c, s, valid);
    free(c.expected);
    return rc;
}
