/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench/coll/operation.c, for --validate of reductions: contents whose result
 * does not depend on bracketing, but changes if a rank is left out; and maps,
 * for which the order of ranks matters.
 */
#include "unit.h"
#include "bench/coll/operation.h"

#define RANKS 7
#define BYTES 512

typedef uint8_t block_t[BYTES];

static void fill(const operation_t *o, block_t *blocks)
{
    for (unsigned r = 0; r < RANKS; r++)
        operation_fill(o, blocks[r], BYTES, r, RANKS, 4000 + r);
}

static void combine(const operation_t *o, const uint8_t *left,
                    const uint8_t *right, uint8_t *result)
{
    const dcoll_reduction_t *r = &o->reduction;
    r->combine(r->context, left, right, result, BYTES / r->element);
}

/* Of ranks begin … end - 1, the last combination between split - 1 and split,
 * counted from the begin: 1 is from the right, RANKS from the left. */
static void reduce(const operation_t *o, block_t *blocks, unsigned begin,
                   unsigned end, unsigned split, uint8_t *result)
{
    block_t left, right;
    const unsigned n = end - begin;
    if (n == 1) {
        memcpy(result, blocks[begin], BYTES);
        return;
    }
    const unsigned middle = begin + (split < n ? split : n - 1);
    reduce(o, blocks, begin, middle, split, left);
    reduce(o, blocks, middle, end, split, right);
    combine(o, left, right, result);
}

static void check_exact(const operation_t *o)
{
    block_t blocks[RANKS], from_left, other;
    fill(o, blocks);
    reduce(o, blocks, 0, RANKS, RANKS, from_left);
    for (unsigned split = 1; split < RANKS; split++) {
        reduce(o, blocks, 0, RANKS, split, other);
        assert_memory_equal(other, from_left, BYTES);
    }
    reduce(o, blocks, 0, RANKS - 1, RANKS, other);
    assert_memory_not_equal(other, from_left, BYTES);
    reduce(o, blocks, 1, RANKS, RANKS, other);
    assert_memory_not_equal(other, from_left, BYTES);
}

/* In place, a result is the next operand: it stays what it was. */
static void check_steady(const operation_t *o)
{
    block_t blocks[RANKS], result;
    for (unsigned r = 0; r < RANKS; r++)
        operation_fill_steady(o, blocks[r], BYTES);
    reduce(o, blocks, 0, RANKS, RANKS, result);
    assert_memory_equal(result, blocks[0], BYTES);
}

static void test_named(void **state)
{
    unsigned checked = 0;
    for (unsigned type = 0; type < DCOLL_TYPES; type++)
        for (unsigned op = 0; op < DCOLL_OPERATORS; op++) {
            const options_t opts = {.type = (dcoll_type_t)type,
                                    .op = (dcoll_operator_t)op};
            if (!dcoll_reduction(opts.type, opts.op))
                continue;
            const operation_t o = operation_named(&opts);
            check_exact(&o);
            check_steady(&o);
            checked++;
        }
    assert_int_equal(checked, 8 * 10 + 2 * 7);
}

static void test_affine(void **state)
{
    for (size_t element = 1; element <= 8; element *= 2) {
        const operation_t o = operation_affine(element);
        block_t blocks[RANKS], ordered, swapped, third;
        check_exact(&o);
        fill(&o, blocks);
        reduce(&o, blocks, 0, RANKS, RANKS, ordered);
        memcpy(third, blocks[2], BYTES);
        memcpy(blocks[2], blocks[3], BYTES);
        memcpy(blocks[3], third, BYTES);
        reduce(&o, blocks, 0, RANKS, RANKS, swapped);
        assert_memory_not_equal(ordered, swapped, BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_affine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
