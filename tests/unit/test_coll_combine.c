/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: the verifier refuses schedules that combine in another order than
 * that of ranks, leave out ranks, or differ between ranks, with a sentence
 * about it. Also slices, and the operators of basic types.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/combine.h"
#include "coll/dcoll.h"

enum { RANKS = 4, ELEMENT = 8, ELEMENTS = 3, BYTES = ELEMENT * ELEMENTS };

static const unsigned one_node[] = {0, RANKS};
static const dcoll_shape_t shape = {RANKS, 1, one_node, 1};

static dcoll_op_t *combine_of(dcoll_program_t *p, unsigned rank, unsigned n)
{
    dcoll_schedule_t *s = &p->rank[rank];
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_COMBINE && !n--)
            return &s->ops[i];
    fail_msg("rank %u has no such COMBINE", rank);
    return NULL;
}

static void drop(dcoll_program_t *p, unsigned rank, const dcoll_op_t *op)
{
    dcoll_schedule_t *s = &p->rank[rank];
    unsigned i = (unsigned)(op - s->ops);
    memmove(&s->ops[i], &s->ops[i + 1], (--s->nops - i) * sizeof *op);
}

/* ------------------------------------------------------------ breaking --- */

static void nothing(dcoll_program_t *p)
{
}

static void swap_operands(dcoll_program_t *p)
{
    dcoll_op_t *op = combine_of(p, 2, 0);
    dcoll_place_t src = op->src;
    op->src = op->with;
    op->with = src;
}

static void leave_out_last(dcoll_program_t *p)
{
    drop(p, 1, combine_of(p, 1, RANKS - 2));
}

static void twice(dcoll_program_t *p)
{
    dcoll_op_t *op = combine_of(p, 1, RANKS - 2);
    op->with = combine_of(p, 1, RANKS - 3)->with;
}

/* (0 (1 2)) 3 where others have ((0 1) 2) 3 */
static void bracket(dcoll_program_t *p)
{
    dcoll_op_t *first = combine_of(p, 3, 0), *second = combine_of(p, 3, 1);
    const dcoll_place_t zero = first->src, one = first->with;
    const dcoll_place_t two = second->with;
    first->src = one;
    first->with = two;
    second->src = zero;
    second->with = first->dst;
}

static void other_element(dcoll_program_t *p)
{
    dcoll_op_t *op = combine_of(p, 0, 0);
    op->with.offset += ELEMENT;
    op->bytes -= ELEMENT;
}

static void half_element(dcoll_program_t *p)
{
    combine_of(p, 0, 0)->bytes -= ELEMENT / 2;
}

/* Whole elements, but not those of the block. */
static void torn_elements(dcoll_program_t *p)
{
    dcoll_op_t *op = combine_of(p, 0, 0);
    op->src.offset += ELEMENT / 2;
    op->with.offset += ELEMENT / 2;
    op->dst.offset += ELEMENT / 2;
    op->bytes -= ELEMENT;
}

static void overlapping(dcoll_program_t *p)
{
    dcoll_op_t *op = combine_of(p, 3, 1);
    op->src.offset += ELEMENT;
    op->bytes -= ELEMENT;
}

static void to_send(dcoll_program_t *p)
{
    combine_of(p, 3, 1)->dst = dcoll_at(DCOLL_SEND, 0);
}

static void never_written(dcoll_program_t *p)
{
    p->rank[0].temp_bytes += BYTES;
    combine_of(p, 0, 1)->with =
        dcoll_at(DCOLL_TEMP, p->rank[0].temp_bytes - BYTES);
}

static void no_reduction(dcoll_program_t *p)
{
    p->args.collective = DCOLL_ALLTOALL;
}

static void beyond(dcoll_program_t *p)
{
    combine_of(p, 2, 0)->with.offset += 1 << 20;
}

static const struct {
    void (*breaks)(dcoll_program_t *p);
    const char *sentence;
} broken[] = {
    {nothing, NULL},
    {swap_operands, "what is of ranks 1 … 1 does not come before that of ranks "
                    "0 … 0"},
    {leave_out_last, "rank 1's RECV is that of ranks 0 … 2 alone"},
    {twice, "what is of ranks 0 … 2 does not come before that of ranks 2 … 2"},
    {bracket, "is bracketed in another way than elsewhere"},
    {other_element, "byte 0 of start 0 is combined with byte 8 of start 0"},
    {half_element, "elements have 8 bytes"},
    {torn_elements, "byte 4 is not where one of its element would be"},
    {overlapping, "an operand and the result overlap"},
    {to_send, "SEND must not be written"},
    {never_written, "byte 0 of an operand comes from no rank"},
    {no_reduction, "the collective is no reduction"},
    {beyond, "out of bounds"},
};

static void test_broken(void **state)
{
    const dcoll_args_t args = {.collective = DCOLL_ALLREDUCE,
                               .bytes = BYTES,
                               .element = ELEMENT,
                               .depth = 2};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        dcoll_program_t p;
        char why[1024] = "";
        assert_int_equal(dcoll_program_make(&allreduce_shm, &shape, &args, &p),
                         0);
        broken[i].breaks(&p);
        int rc = dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
        if (!rc != !broken[i].sentence ||
            (rc && !strstr(why, broken[i].sentence)))
            fail_msg("%s: '%s'",
                     broken[i].sentence ? broken[i].sentence : "right", why);
        dcoll_program_free(&p);
    }
}

/* ----------------------------------------------------------- commuting --- */

static void with_itself(dcoll_program_t *p)
{
    dcoll_op_t *op = combine_of(p, 1, 0);
    op->with = op->src;
}

static void drop_last(dcoll_program_t *p)
{
    drop(p, 1, combine_of(p, 1, 1));
}

static void of_another_element(dcoll_program_t *p)
{
    combine_of(p, 1, 1)->with.offset += ELEMENT;
    combine_of(p, 1, 1)->bytes -= ELEMENT;
}

/* With an operation that commutes, operands may be swapped; each rank must
 * still be in the result once. */
static void test_commuting(void **state)
{
    static const struct {
        void (*breaks)(dcoll_program_t *p);
        const char *sentence;
    } all[] = {
        {nothing, NULL},
        {swap_operands, NULL},
        {with_itself, "is not of the right ranks, each once, but of 4"},
        {drop_last, "is what no rank has given"},
        {of_another_element, "is combined with byte"},
    };
    const dcoll_args_t args = {.collective = DCOLL_REDUCE_SCATTER_BLOCK,
                               .bytes = BYTES,
                               .element = ELEMENT,
                               .commutes = true,
                               .depth = 2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        dcoll_program_t p;
        char why[1024] = "";
        assert_int_equal(
            dcoll_program_make(&reduce_scatter_block_bruck, &shape, &args, &p),
            0);
        all[i].breaks(&p);
        int rc = dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
        if (!rc != !all[i].sentence || (rc && !strstr(why, all[i].sentence)))
            fail_msg("%s: '%s'", all[i].sentence ? all[i].sentence : "right",
                     why);
        dcoll_program_free(&p);
    }
}

/* It may not serve an operation that does not commute; its schedule is wrong
 * for one. */
static void test_order_is_refused(void **state)
{
    dcoll_args_t args = {.collective = DCOLL_ALLREDUCE,
                         .bytes = BYTES,
                         .element = ELEMENT,
                         .depth = 2};
    dcoll_program_t p;
    char why[1024] = "";
    assert_true(dcoll_needs_commuting(&allreduce_bruck, &shape, &args));
    assert_false(dcoll_needs_commuting(&allreduce_halving, &shape, &args));
    assert_int_equal(dcoll_program_make(&allreduce_bruck, &shape, &args, &p),
                     DRAIL_ENOTSUP);
    args.commutes = true;
    assert_int_equal(dcoll_program_make(&allreduce_bruck, &shape, &args, &p),
                     0);
    assert_int_equal(dcoll_verify(&p, 3, why, sizeof why), 0);
    p.args.commutes = false;
    assert_int_equal(dcoll_verify(&p, 3, why, sizeof why), DRAIL_EINVAL);
    assert_non_null(strstr(why, "does not come before"));
    dcoll_program_free(&p);
}

/* At the root of a reduce in place, SEND is RECV: what is written there while
 * others' are combined would be the root's own. */
static void test_root_in_place(void **state)
{
    const dcoll_args_t args = {.collective = DCOLL_REDUCE,
                               .bytes = BYTES,
                               .element = ELEMENT,
                               .root = 2,
                               .in_place = true,
                               .depth = 2};
    dcoll_program_t p;
    char why[1024] = "";
    assert_int_equal(dcoll_program_make(&reduce_shm, &shape, &args, &p), 0);
    assert_int_equal(dcoll_verify(&p, 3, why, sizeof why), 0);
    dcoll_op_t *first = combine_of(&p, 2, 0), *second = combine_of(&p, 2, 1);
    first->dst = second->src = dcoll_at(DCOLL_RECV, 0);
    assert_int_not_equal(dcoll_verify(&p, 3, why, sizeof why), 0);
    dcoll_program_free(&p);
}

/* Long blocks go in chunks; elements of 64 KiB keep what is to be played small.
 */
static void test_chunks(void **state)
{
    enum { PAGE = 65536, MOST = 8 };
    static const dcoll_algorithm_t *const all[] = {
        &reduce_shm_slices,
        &allreduce_shm_slices,
        &allreduce_smp_slices,
        &reduce_smp_slices,
        &reduce_shm,
        &reduce_direct,
        &allreduce_direct,
        &allreduce_halving,
        &reduce_shm_chain,
        &allreduce_shm_chain,
        &scan_shm_chain,
        &exscan_shm_chain,
        &reduce_scatter_block_shm_chain};
    enum { ALL = sizeof all / sizeof *all, VARIANTS = 8 * ALL };
    static const unsigned pages[] = {1, 16, 17, 31, 70, 100};
    for (unsigned n = 2; n <= MOST; n++)
        for (unsigned i = 0; i < VARIANTS * sizeof pages / sizeof *pages; i++) {
            unsigned node_begin[MOST + 1];
            const dcoll_algorithm_t *a = all[i % ALL];
            const unsigned variant = i / ALL, size = i / VARIANTS;
            dcoll_shape_t nodes = {n, 1, node_begin, 1 + size % 2};
            const dcoll_args_t args = {.collective = a->collective,
                                       .bytes = (size_t)pages[size] * PAGE,
                                       .element = PAGE,
                                       .root = i % n,
                                       .in_place = variant % 2,
                                       .commutes = variant / 4 % 2,
                                       .depth = 1 + variant / 2 % 2};
            dcoll_program_t p;
            char why[1024] = "";
            nodes.nnodes = dcoll_shape_nodes(n, a->refuses ? n : 3,
                                             node_begin); /* one, or of 3 */
            assert_int_equal(dcoll_program_make(a, &nodes, &args, &p), 0);
            if (dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
                fail_msg("%s, %u ranks, %u pages, depth %u: %s", a->name, n,
                         pages[size], args.depth, why);
            dcoll_program_free(&p);
        }
}

/* -------------------------------------------------------------- slices --- */

static void test_slices(void **state)
{
    static const size_t elements[] = {0, 1, 3, 8, 24, 64, 100};
    for (unsigned e = 0; e < sizeof elements / sizeof *elements; e++)
        for (unsigned n = 0; n < 60; n++)
            for (unsigned count = 1; count < 20; count++) {
                const size_t element = elements[e] ? elements[e] : 1;
                const dcoll_args_t args = {.bytes = n * element,
                                           .element = elements[e]};
                const struct slices s = slices_of(&args, count);
                assert_int_equal(slices_begin(&s, 0), 0);
                assert_int_equal(slices_begin(&s, count), args.bytes);
                for (unsigned i = 0; i < count; i++) {
                    const size_t begin = slices_begin(&s, i);
                    const size_t end = slices_begin(&s, i + 1);
                    assert_true(begin <= end);
                    assert_int_equal(begin % element, 0);
                    assert_true(end - begin <= slices_most(&s));
                }
            }
}

/* ----------------------------------------------------------- operators --- */

/* x op y of that type, as long double. */
static long double once(dcoll_type_t type, dcoll_operator_t op, long double x,
                        long double y)
{
    const dcoll_reduction_t *r = dcoll_reduction(type, op);
    unsigned char left[8], right[8], result[8];
    assert_non_null(r);
#define SET(what, t)                                                           \
    case what: {                                                               \
        t a = (t)x, b = (t)y, c;                                               \
        assert_int_equal(r->element, sizeof a);                                \
        memcpy(left, &a, sizeof a);                                            \
        memcpy(right, &b, sizeof b);                                           \
        r->combine(r->context, left, right, result, 1);                        \
        memcpy(&c, result, sizeof c);                                          \
        return c;                                                              \
    }
    switch (type) {
        SET(DCOLL_INT8, int8_t)
        SET(DCOLL_INT16, int16_t)
        SET(DCOLL_INT32, int32_t)
        SET(DCOLL_INT64, int64_t)
        SET(DCOLL_UINT8, uint8_t)
        SET(DCOLL_UINT16, uint16_t)
        SET(DCOLL_UINT32, uint32_t)
        SET(DCOLL_UINT64, uint64_t)
        SET(DCOLL_FLOAT, float)
        SET(DCOLL_DOUBLE, double)
    default:
        fail();
    }
#undef SET
    return 0;
}

static void test_operators(void **state)
{
    for (unsigned t = 0; t < DCOLL_TYPES; t++) {
        const dcoll_type_t type = (dcoll_type_t)t;
        const bool real = type == DCOLL_FLOAT || type == DCOLL_DOUBLE;
        assert_true(once(type, DCOLL_SUM, 100, 27) == 127);
        assert_true(once(type, DCOLL_PROD, 9, 7) == 63);
        assert_true(once(type, DCOLL_MIN, 9, 7) == 7);
        assert_true(once(type, DCOLL_MAX, 7, 9) == 9);
        assert_true(once(type, DCOLL_LAND, 2, 4) == 1);
        assert_true(once(type, DCOLL_LAND, 2, 0) == 0);
        assert_true(once(type, DCOLL_LOR, 0, 4) == 1);
        assert_true(once(type, DCOLL_LXOR, 2, 4) == 0);
        assert_true(once(type, DCOLL_LXOR, 0, 4) == 1);
        if (real) {
            assert_null(dcoll_reduction(type, DCOLL_BAND));
            continue;
        }
        assert_true(once(type, DCOLL_BAND, 12, 10) == 8);
        assert_true(once(type, DCOLL_BOR, 12, 10) == 14);
        assert_true(once(type, DCOLL_BXOR, 12, 10) == 6);
    }
    assert_true(once(DCOLL_INT32, DCOLL_MIN, -5, 3) == -5);
    assert_true(once(DCOLL_UINT32, DCOLL_MAX, 4000000000.L, 3) == 4000000000.L);
    assert_true(once(DCOLL_DOUBLE, DCOLL_SUM, 0.5, 0.25) == 0.75);
    /* they wrap around */
    assert_true(once(DCOLL_INT8, DCOLL_SUM, 127, 1) == -128);
    assert_true(once(DCOLL_INT16, DCOLL_PROD, 32767, 32767) == 1);
    assert_true(once(DCOLL_INT32, DCOLL_SUM, INT32_MAX, 1) == INT32_MIN);
    assert_true(once(DCOLL_INT64, DCOLL_SUM, (long double)INT64_MAX, 1) ==
                (long double)INT64_MIN);
    assert_true(once(DCOLL_UINT16, DCOLL_PROD, 65535, 65535) == 1);
    assert_null(dcoll_reduction(DCOLL_TYPES, DCOLL_SUM));
    assert_null(dcoll_reduction(DCOLL_INT8, DCOLL_OPERATORS));
}

/* Any number of elements, anywhere, onto either operand. */
static void test_places(void **state)
{
    enum { MOST = 70 };
    const dcoll_reduction_t *sum = dcoll_reduction(DCOLL_INT32, DCOLL_SUM);
    unsigned char a[MOST * 4 + 8], b[MOST * 4 + 8];
    for (unsigned n = 0; n <= MOST; n++)
        for (unsigned at = 0; at < 4; at++)
            for (unsigned onto = 0; onto < 2; onto++) {
                memset(a, 0xee, sizeof a);
                memset(b, 0xee, sizeof b);
                for (int32_t i = 0; i < (int32_t)n; i++) {
                    int32_t x = i * 7, y = 1000 - i;
                    memcpy(a + at + 4 * i, &x, 4);
                    memcpy(b + at + 4 * i, &y, 4);
                }
                unsigned char *to = onto ? b : a;
                sum->combine(NULL, a + at, b + at, to + at, n);
                for (int32_t i = 0; i < (int32_t)n; i++) {
                    int32_t z;
                    memcpy(&z, to + at + 4 * i, 4);
                    assert_int_equal(z, 1000 + 6 * i);
                }
                for (unsigned i = 0; i < 4; i++)
                    assert_int_equal(to[at + 4 * n + i], 0xee);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_commuting),
        cmocka_unit_test(test_order_is_refused),
        cmocka_unit_test(test_root_in_place),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
