/* SPDX-License-Identifier: BSD-3-Clause */
/* coll/run/node/copy.c: what is copied arrives whole, nothing around it is
 * touched, and that way is taken which costs less, also when that changes. */
#include "unit.h"
#include "coll/run/node/copy.h"

#define MEMORY (300u << 10)

static void test_classes(void **state)
{
    struct node_copier copier = {0};
    struct copy_class *c = copier.classes;
    assert_ptr_equal(copy_class_of(&copier, COPY_LEAST), &c[0]);
    assert_ptr_equal(copy_class_of(&copier, 2 * COPY_LEAST - 1), &c[0]);
    assert_ptr_equal(copy_class_of(&copier, 2 * COPY_LEAST), &c[1]);
    assert_ptr_equal(copy_class_of(&copier, 64u << 10), &c[2]);
    assert_ptr_equal(copy_class_of(&copier, SIZE_MAX), &c[COPY_CLASSES - 1]);
}

/* Of so many copies; what they cost is learnt. */
static unsigned past_of(struct copy_class *c, unsigned copies,
                        const double cost[COPY_WAYS])
{
    unsigned past = 0;
    for (unsigned i = 0; i < copies; i++) {
        bool learn;
        int way = copy_choose(c, &learn);
        past += way == COPY_STREAMED;
        if (learn)
            copy_learn(c, way, cost[way]);
    }
    return past;
}

static void test_choice(void **state)
{
    static const double plain_wins[] = {1, 2}, past_wins[] = {10, 1};
    struct copy_class c = {0};
    unsigned past = past_of(&c, 4096, plain_wins);
    assert_in_range(past, 1, 4096 / 32); /* it is tried now and then */
    past_of(&c, 2048, past_wins);
    past = past_of(&c, 4096, past_wins);
    assert_in_range(past, 4096 - 4096 / 32, 4095);
    past_of(&c, 2048, plain_wins);
    past = past_of(&c, 4096, plain_wins);
    assert_in_range(past, 1, 4096 / 32);
}

/* The first copies are cold, and a core may be lost once. */
static void test_outliers(void **state)
{
    static const double cost[] = {1, 3}, cold[] = {1000, 3};
    struct copy_class c = {0};
    past_of(&c, 2, cold);
    past_of(&c, 4096, cost);
    assert_true(c.cost[COPY_CACHED] <= 1.01);
    copy_learn(&c, COPY_CACHED, 1e9);
    assert_true(c.cost[COPY_CACHED] <= 3);
}

static void check_contents(bool crossing)
{
    static const size_t sizes[] = {
        1, COPY_LEAST - 1, COPY_LEAST, COPY_LEAST + 1, 65536, 100003, 262144};
    unsigned char *from = malloc(MEMORY), *to = malloc(MEMORY);
    struct node_copier copier = {0};
    assert_non_null(from);
    assert_non_null(to);
    for (size_t i = 0; i < MEMORY; i++)
        from[i] = (unsigned char)(1 + i % 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t n = 0; n < 64; n++) {
            size_t bytes = sizes[i], at = n * 7 % 64 + 1;
            memset(to, 0, MEMORY);
            if (crossing)
                node_copy_crossing(&platform_machine, to + at, from + n, bytes);
            else
                node_copy(&copier, &platform_machine, to + at, from + n, bytes);
            assert_memory_equal(to + at, from + n, bytes);
            assert_int_equal(to[at - 1], 0);
            assert_int_equal(to[at + bytes], 0);
        }
    free(from);
    free(to);
}

static void test_contents(void **state)
{
    check_contents(false);
    check_contents(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
