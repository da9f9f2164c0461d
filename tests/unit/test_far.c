/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The far dimension first: each offset has a place, messages bring consecutive
 * blocks from the right offsets, and no later message goes farther.
 */
#include "unit.h"
#include "coll/build/exchange/far.h"

enum { RANKS_MAX = 200, PORTS_MAX = 4 };

#define FOR_ALL(n, k)                                                          \
    for (unsigned k = 1; k <= PORTS_MAX; k++)                                  \
        for (unsigned n = 1; n <= RANKS_MAX; n++)

static void test_each_offset_has_a_place(void **state)
{
    FOR_ALL(n, k)
    {
        const struct far far = far_of(n, k);
        bool seen[RANKS_MAX] = {false};
        for (unsigned i = 0; i < n; i++) {
            const unsigned offset = far_offset(&far, i);
            assert_true(offset < n);
            assert_false(seen[offset]);
            seen[offset] = true;
        }
        assert_int_equal(far_offset(&far, far_step(&far, 0).begin), 0);
    }
}

/* Block i of a message is that of place begin + i, from the distance. */
static void check_message(const struct far *far, const struct far_step *s,
                          const struct far_message *m)
{
    assert_true(m->place + m->count <= far->n);
    assert_true(m->place + m->count <= s->begin ||
                m->place >= s->begin + s->count);
    for (unsigned i = 0; i < m->count; i++)
        assert_int_equal(far_offset(far, m->place + i),
                         far_offset(far, s->begin + i) + m->distance);
}

static void test_messages(void **state)
{
    FOR_ALL(n, k)
    {
        const struct far far = far_of(n, k);
        unsigned filled = 1, nearest = n;
        for (unsigned i = 0; i < far.steps; i++) {
            const struct far_step s = far_step(&far, i);
            struct far_message m;
            assert_int_equal(s.count, filled);
            for (unsigned p = 0; p < k; p++) {
                if (!far_message(&s, p, &m))
                    continue;
                assert_true(m.distance < nearest);
                check_message(&far, &s, &m);
                filled += m.count;
            }
            nearest = s.distance;
        }
        assert_int_equal(filled, n);
    }
}

/* 16 ranks: one block goes to distance 8, half of them to distance 1. */
static void test_few_go_far(void **state)
{
    static const unsigned distance[] = {8, 4, 2, 1}, blocks[] = {1, 2, 4, 8};
    const struct far far = far_of(16, 1);
    assert_int_equal(far.steps, 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct far_step s = far_step(&far, i);
        assert_int_equal(s.distance, distance[i]);
        assert_int_equal(s.count, blocks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_offset_has_a_place),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_few_go_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
