/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/run/execute/operators.c: results of many elements equal those of single
 * elements bit by bit, at any alignment, for all instruction sets, also if the
 * result is one of the operands.
 */
#include "unit.h"
#include "coll/run/execute/operators.h"

#define COUNT 67 /* elements: several registers, and some more */
#define BYTES (COUNT * sizeof(double))
#define SHIFT 3 /* bytes from where elements would be aligned */

typedef struct operands {
    unsigned char left[SHIFT + BYTES], right[SHIFT + BYTES];
} operands_t;

#define FLOAT_NAN  UINT32_C(0x7f800001) /* the least */
#define DOUBLE_NAN UINT64_C(0x7ff0000000000001)

/* A number, or with any payload none. */
static void put(unsigned char *at, dcoll_type_t type, bool none)
{
    const float f = (float)(rand() % 1000 - 500) / 7;
    const double d = (double)(rand() % 1000 - 500) / 7;
    uint32_t sign = (uint32_t)(rand() % 2);
    uint32_t f_none = FLOAT_NAN | sign << 31 | (uint32_t)rand() % (1 << 23);
    uint64_t d_none = DOUBLE_NAN | (uint64_t)sign << 63 |
                      (uint64_t)rand() << 21 | (uint64_t)rand() % (1 << 21);
    if (type == DCOLL_FLOAT)
        memcpy(at, none ? (void *)&f_none : (void *)&f, sizeof f);
    else if (type == DCOLL_DOUBLE)
        memcpy(at, none ? (void *)&d_none : (void *)&d, sizeof d);
}

/* Floating point numbers of all kinds, and in some places on one side none, or
 * on both. */
static void fill(operands_t *o, dcoll_type_t type)
{
    const size_t element = type == DCOLL_FLOAT ? sizeof(float) : sizeof(double);
    for (size_t i = 0; i < sizeof o->left; i++) {
        o->left[i] = (unsigned char)rand();
        o->right[i] = (unsigned char)rand();
    }
    for (size_t i = 0; i < COUNT; i++) {
        const int kind = rand() % 4;
        put(o->right + SHIFT + i * element, type, kind < 2);
        if (kind % 2)
            put(o->left + SHIFT + i * element, type, true);
    }
}

/* Computes one by one, without vector instructions. */
static void expect(const operands_t *o, dcoll_type_t type, dcoll_operator_t op,
                   unsigned char *result)
{
    const dcoll_reduction_t *r = operators_find(OPERATORS_BASELINE, type, op);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t at = i * r->element;
        r->combine(NULL, o->left + SHIFT + at, o->right + SHIFT + at,
                   result + at, 1);
    }
}

static void check(const dcoll_reduction_t *r, const operands_t *given,
                  const unsigned char *expected)
{
    const size_t bytes = COUNT * r->element;
    unsigned char apart[BYTES];
    operands_t o = *given;
    r->combine(NULL, o.left + SHIFT, o.right + SHIFT, apart, COUNT);
    assert_memory_equal(apart, expected, bytes);
    r->combine(NULL, o.left + SHIFT, o.right + SHIFT, o.left + SHIFT, COUNT);
    assert_memory_equal(o.left + SHIFT, expected, bytes);
    o = *given;
    r->combine(NULL, o.left + SHIFT, o.right + SHIFT, o.right + SHIFT, COUNT);
    assert_memory_equal(o.right + SHIFT, expected, bytes);
}

static void check_set(enum operators_set set)
{
    unsigned checked = 0;
    if (!operators_run(set))
        skip();
    for (unsigned i = 0; i < DCOLL_TYPES * DCOLL_OPERATORS; i++) {
        const dcoll_type_t type = (dcoll_type_t)(i / DCOLL_OPERATORS);
        const dcoll_operator_t op = (dcoll_operator_t)(i % DCOLL_OPERATORS);
        const dcoll_reduction_t *r = operators_find(set, type, op);
        operands_t o;
        unsigned char expected[BYTES];
        if (!r)
            continue;
        fill(&o, type);
        expect(&o, type, op, expected);
        check(r, &o, expected);
        checked++;
    }
    assert_int_equal(checked, 8 * 10 + 2 * 7);
}

static void test_baseline(void **state)
{
    check_set(OPERATORS_BASELINE);
}

static void test_avx2(void **state)
{
    check_set(OPERATORS_AVX2);
}

static void test_two_nans(void **state)
{
    const uint32_t left = FLOAT_NAN | 5, right = UINT32_C(0xffc00007);
    const uint32_t quiet = UINT32_C(0x7fc00000) | left;
    uint32_t found;
    for (enum operators_set set = OPERATORS_BASELINE; set <= OPERATORS_AVX2;
         set++)
        for (int sum = 0; sum < 2 && operators_run(set); sum++) {
            operators_find(set, DCOLL_FLOAT, sum ? DCOLL_SUM : DCOLL_PROD)
                ->combine(NULL, &left, &right, &found, 1);
            assert_int_equal(found, quiet);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_two_nans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
