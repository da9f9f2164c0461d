/* SPDX-License-Identifier: BSD-3-Clause */
/* Read-ahead: which pages a fault takes along. */
#include "unit.h"

#include "dsm/pages/readahead.h"

enum { PAGES = 10000 };
static ddsm_t space;
static size_t low, end;

static void begin(unsigned ahead)
{
    space = (ddsm_t){.used = PAGES, .cfg = {.ahead = ahead}};
}

/* All of them are taken. */
static void fault(size_t page)
{
    struct ahead *a = readahead_begin(&space, &space.reads, page, &low, &end);
    readahead_end(a, low, end);
}

static void takes(size_t page, size_t first, size_t count)
{
    fault(page);
    assert_int_equal(low, first);
    assert_int_equal(end, first + count);
}

static void up_to_the_last_page(void **state)
{
    begin(255);
    takes(PAGES - 20, PAGES - 20, 1);
    takes(PAGES - 19, PAGES - 19, 8);
    takes(PAGES - 11, PAGES - 11, 11);
    takes(PAGES - 1, PAGES - 1, 1);
}

static void down_to_the_first_page(void **state)
{
    begin(255);
    takes(20, 20, 1);
    takes(19, 12, 8);
    takes(11, 0, 12);
    takes(0, 0, 1); /* nothing precedes it */
    takes(1, 1, 8);
}

static void one_way(void **state)
{
    begin(255);
    takes(500, 500, 1);
    takes(501, 501, 8);
    takes(499, 499, 1);
    takes(509, 509, 8);
    takes(498, 491, 8);
}

static void at_most_so_many(void **state)
{
    begin(3);
    takes(500, 500, 1);
    takes(501, 501, 4);
    takes(505, 505, 4);
    begin(0);
    takes(500, 500, 1);
    takes(501, 501, 1);
}

/* A sequence that is alone takes along twice as much each time. Of several ones
 * each takes along a quarter of what it has passed: in vain if it ends there.
 */
static void planes(void **state)
{
    enum { PLANES = 16, PLANE = 64, USED = 32, LONG = 400 };
    begin(255);
    takes(0, 0, 1);
    takes(1, 1, 8);
    takes(9, 9, 16);
    takes(25, 25, 32);
    begin(255);
    size_t next[PLANES];
    for (size_t i = 0; i < PLANES; i++)
        next[i] = i * PLANE;
    for (size_t page = 0; page < USED; page++)
        for (size_t i = 0; i < PLANES; i++)
            if (i * PLANE + page == next[i]) {
                fault(next[i]);
                next[i] = end;
            }
    for (size_t i = 0; i < PLANES; i++)
        assert_int_equal(next[i] - i * PLANE, USED + 1);
    while (next[0] < LONG)
        fault(next[0]), next[0] = end;
    assert_in_range(end, LONG, LONG + LONG / 4);
    assert_in_range(end - low, LONG / 6, LONG / 4);
}

/* One more than there is room for takes the place of the oldest. */
static void many_sequences(void **state)
{
    begin(255);
    for (size_t i = 0; i <= STREAMS; i++)
        takes(20 * i, 20 * i, 1);
    takes(21, 21, 8);
    takes(20 * STREAMS + 1, 20 * STREAMS + 1, 8);
    takes(1, 1, 1);
    readahead_forget(&space);
    takes(41, 41, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_to_the_last_page),
        cmocka_unit_test(down_to_the_first_page),
        cmocka_unit_test(one_way),
        cmocka_unit_test(at_most_so_many),
        cmocka_unit_test(planes),
        cmocka_unit_test(many_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
