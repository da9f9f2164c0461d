/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/apps/digits: a pass of several ranks, in one program. */
#include "unit.h"
#include "bench/apps/app.h"
#include "bench/apps/digits.h"

#define BITS   3
#define VALUES (1u << BITS)
#define KEYS   101
#define RANKS  7

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* All ranks' part of a pass, from `keys` to `sorted`. */
static void pass(const uint32_t *keys, unsigned ranks, unsigned shift,
                 uint32_t *sorted)
{
    uint32_t ordered[KEYS], next[VALUES];
    uint32_t counts[RANKS * VALUES], places[(RANKS + 1) * VALUES];
    digit_t digit = {shift, BITS};
    for (unsigned r = 0; r < ranks; r++) {
        slice_t s = digits_slice(KEYS, r, ranks);
        digits_count(keys + s.first, s.size, digit, counts + r * VALUES);
        digits_order(keys + s.first, s.size, digit, counts + r * VALUES, next,
                     ordered + s.first);
    }
    digits_places(counts, ranks, BITS, places);
    for (unsigned to = 0; to < ranks; to++) {
        slice_t slice = digits_slice(KEYS, to, ranks);
        uint32_t came = 0;
        for (unsigned r = 0; r < ranks; r++) {
            slice_t part = digits_part(places, r, BITS, slice);
            digits_put(places, r, BITS, slice,
                       ordered + digits_slice(KEYS, r, ranks).first +
                           part.first,
                       sorted + slice.first);
            came += part.size;
        }
        assert_int_equal(came, slice.size);
    }
}

/* @p keys: which are these. */
static void sort(const uint32_t *keys)
{
    for (unsigned ranks = 1; ranks <= RANKS; ranks++) {
        uint32_t a[KEYS], b[KEYS], wanted[KEYS];
        memcpy(a, keys, sizeof a);
        memcpy(wanted, keys, sizeof wanted);
        qsort(wanted, KEYS, sizeof *wanted, compare);
        for (unsigned shift = 0; shift < 9; shift += BITS) {
            memset(b, 0xff, sizeof b);
            pass(a, ranks, shift, b);
            memcpy(a, b, sizeof a);
        }
        assert_memory_equal(a, wanted, sizeof a);
    }
}

static void test_drawn(void **state)
{
    uint64_t seed = 1;
    for (unsigned n = 0; n < 50; n++) {
        uint32_t keys[KEYS];
        for (unsigned i = 0; i < KEYS; i++)
            keys[i] = (uint32_t)(app_random(&seed) % 512);
        sort(keys);
    }
}

/* All to one rank and none to others; in order, and the other way. */
static void test_corners(void **state)
{
    uint32_t same[KEYS], up[KEYS], down[KEYS], few[KEYS];
    for (uint32_t i = 0; i < KEYS; i++) {
        same[i] = 511;
        up[i] = i;
        down[i] = KEYS - i;
        few[i] = i % 2 ? 0 : 7;
    }
    sort(same);
    sort(up);
    sort(down);
    sort(few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
