/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications and messages arrive once if their numbers are right; a number
 * that comes twice is detected, over whichever links. */
#include "unit.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/messages/reorder.h"

static struct inbox box;
static struct reorder messages;
static struct slot slots[8];

static int open_box(void **state)
{
    memset(&box, 0, sizeof box);
    memset(&messages, 0, sizeof messages);
    inbox_open(&box, 8);
    reorder_open(&messages, 8);
    return 0;
}

static int close_box(void **state)
{
    inbox_close(&box);
    reorder_close(&messages);
    return 0;
}

static int note(uint32_t seq, uint32_t id, unsigned parts, unsigned rail,
                unsigned ep, uint32_t rails)
{
    struct wire wire = {.parts = (uint8_t)parts, .id = id, .seq = seq};
    return inbox_put(&box, &wire, rail, ep, rails);
}

static void all_parts(void **state)
{
    for (uint32_t seq = 0; seq < 20; seq++) {
        assert_int_equal(note(seq, 7, 2, 0, 0, 3), 0);
        assert_int_equal(note(seq, 7, 2, 1, 1, 3), 0);
        assert_int_equal(note(seq, 7, 2, 0, 1, 3), 0);
        assert_false(inbox_ready(&box));
        assert_int_equal(note(seq, 7, 2, 1, 0, 3), 0);
        assert_true(inbox_ready(&box));
        inbox_pop(&box);
    }
}

static void outside_the_window(void **state)
{
    assert_int_equal(note(8, 7, 1, 0, 0, 1), -1);
    assert_int_equal(note(0, 7, 1, 0, 0, 1), 0);
    inbox_pop(&box);
    assert_int_equal(note(0, 7, 1, 0, 0, 1), -1);
}

static void twice_on_a_link(void **state)
{
    assert_int_equal(note(3, 7, 2, 0, 0, 1), 0);
    assert_int_equal(note(3, 7, 2, 0, 0, 1), -1);
}

static void twice_on_a_rail(void **state)
{
    assert_int_equal(note(3, 7, 1, 0, 0, 1), 0);
    assert_int_equal(note(3, 7, 1, 0, 1, 1), -1);
}

static void twice_on_two_rails(void **state)
{
    assert_int_equal(note(3, 7, 1, 0, 0, 1), 0);
    assert_int_equal(note(3, 7, 1, 1, 0, 2), -1);
}

static int message(uint32_t seq)
{
    return reorder_put(&messages, seq, &slots[seq % 8]);
}

static void messages_in_order(void **state)
{
    assert_null(reorder_next(&messages));
    assert_null(reorder_find(&messages, 5));
    assert_int_equal(message(8), -1);
    assert_int_equal(message(5), 0);
    assert_int_equal(message(5), -1);
    assert_ptr_equal(reorder_find(&messages, 5), &slots[5]);
    assert_null(reorder_next(&messages));
    for (uint32_t seq = 0; seq < 5; seq++)
        assert_int_equal(message(seq), 0);
    for (uint32_t seq = 0; seq < 6; seq++) {
        assert_ptr_equal(reorder_next(&messages), &slots[seq]);
        reorder_pop(&messages, 1u << seq);
        assert_null(reorder_find(&messages, seq));
        assert_int_equal(message(seq), -1);
    }
    assert_null(reorder_next(&messages));
    assert_int_equal(messages.likely, 0x30);
}

static void parts_that_differ(void **state)
{
    assert_int_equal(note(3, 7, 1, 0, 0, 3), 0);
    assert_int_equal(note(3, 7, 1, 1, 0, 7), -1);
    assert_int_equal(note(4, 7, 1, 0, 0, 3), 0);
    assert_int_equal(note(4, 8, 1, 1, 0, 3), -1);
}

/* The first notification takes rail 1, all others take rail 0. */
static void recent_rails(void **state)
{
    assert_int_equal(inbox_recent(&box), 0);
    for (uint32_t seq = 0; seq < 2 * INBOX_RECENT; seq++) {
        const unsigned rail = !seq;
        assert_int_equal(note(seq, 7, 1, rail, 0, 1u << rail), 0);
        inbox_pop(&box);
        assert_int_equal(inbox_recent(&box), !seq                         ? 2
                                             : seq + 1 < 2 * INBOX_RECENT ? 3
                                                                          : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_parts, open_box, close_box),
        cmocka_unit_test_setup_teardown(outside_the_window, open_box,
                                        close_box),
        cmocka_unit_test_setup_teardown(twice_on_a_link, open_box, close_box),
        cmocka_unit_test_setup_teardown(twice_on_a_rail, open_box, close_box),
        cmocka_unit_test_setup_teardown(twice_on_two_rails, open_box,
                                        close_box),
        cmocka_unit_test_setup_teardown(recent_rails, open_box, close_box),
        cmocka_unit_test_setup_teardown(messages_in_order, open_box, close_box),
        cmocka_unit_test_setup_teardown(parts_that_differ, open_box, close_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
