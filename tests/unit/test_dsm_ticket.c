/* SPDX-License-Identifier: BSD-3-Clause */
/* Tickets of locks of shared memory: a rank leaves the queue while another one
 * passes the turn on, at any point of either; also where numbers begin anew. */
#include "unit.h"
#include "meanwhile.h"
#include "dsm/sync/control.h"
#include "dsm/sync/ticket.h"

/* ------------------------------------------- the home's memory, as it is ---
 */

static char memory[512];
static uint64_t left_buffer[TICKET_ABANDONED_MAX], word_buffer;
static drail_key_t keys[2];
static ddsm_t space = {.size = 2,
                       .rank = 1,
                       .control = {.start = memory,
                                   .keys = keys,
                                   .abandoned = left_buffer,
                                   .word = &word_buffer}};
/* The third one's; the others have one together. */
static uint64_t third_left[TICKET_ABANDONED_MAX];
static ddsm_t third = {.size = 2,
                       .rank = 2,
                       .control = {.start = memory,
                                   .keys = keys,
                                   .abandoned = third_left,
                                   .word = &word_buffer}};
static const struct lock lock = {.id = 0, .home = 0, .offset = 64};

int drail_atomic(drail_t *rail, unsigned peer, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t offset, uint64_t operand,
                 uint64_t compare, uint64_t *old)
{
    uint64_t *at = (uint64_t *)(memory + offset);
    access_memory();
    uint64_t before = *at;
    if (op == DRAIL_FETCH_ADD)
        *at += operand;
    else if (before == compare)
        *at = operand;
    if (old)
        *old = before;
    return 0;
}

int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes)
{
    access_memory();
    memcpy(to, memory + offset, bytes);
    return 0;
}

int drail_progress(drail_t *rail)
{
    return 0;
}

int space_break_rails(ddsm_t *d, int rc, const char *what)
{
    return rc;
}

/* ----------------------------------------------------------------- tests ---
 */

static uint32_t first; /* this rank has the lock; the next two wait */

static uint32_t after(uint32_t ticket, unsigned n)
{
    return (ticket + n) & TICKET_MAX;
}

/* Three have asked. */
static void queue(void)
{
    memset(memory, 0, sizeof memory);
    *(uint64_t *)(memory + lock.offset) = (uint64_t)first << 40 | first;
    countdown = -1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t ticket, serving;
        assert_int_equal(ticket_take(&space, &lock, &ticket, &serving), 0);
        assert_int_equal(ticket, after(first, i));
        assert_int_equal(serving, first);
    }
}

static void passes(void)
{
    assert_int_equal(ticket_pass(&space, &lock, first), 0);
}

static void second_leaves(void)
{
    assert_int_equal(ticket_abandon(&space, &lock, after(first, 1)), 0);
}

static void third_leaves(void)
{
    assert_int_equal(ticket_abandon(&third, &lock, after(first, 2)), 0);
}

/* Is it that rank's turn, and no abandoned ticket left? */
static void served(unsigned n)
{
    uint32_t serving;
    countdown = -1;
    assert_int_equal(ticket_poll(&space, &lock, &serving), 0);
    assert_int_equal(serving, after(first, n));
    assert_int_equal(*(uint64_t *)(memory + lock.offset),
                     (uint64_t)after(first, 3) << 40 | serving);
    for (size_t i = lock.offset + 8; i < sizeof memory; i++)
        assert_int_equal(memory[i], 0);
}

/* `one` runs; before its n-th access, `other` runs to its end. */
static void interleave(void (*one)(void), void (*other)(void),
                       void (*behind)(void), unsigned then)
{
    bool between = true;
    for (int n = 0; between; n++) {
        queue();
        countdown = n;
        meanwhile = other;
        one();
        between = countdown < 0;
        countdown = -1;
        if (!between)
            other();
        behind();
        served(then);
    }
}

static void nothing(void)
{
}

static void both(void (*one)(void), void (*other)(void), unsigned then)
{
    interleave(one, other, nothing, then);
}

static void leave_and_pass(void)
{
    both(passes, second_leaves, 2);
    both(second_leaves, passes, 2);
}

static void test_one_leaves(void **state)
{
    first = 5;
    leave_and_pass();
    for (unsigned i = 0; i < 4; i++) { /* numbers begin anew */
        first = TICKET_MAX - i;
        leave_and_pass();
    }
}

static void both_leave(void)
{
    second_leaves();
    third_leaves();
}

static void third_then_pass(void)
{
    third_leaves();
    passes();
}

static void two_pass(void)
{
    passes();
    assert_int_equal(ticket_pass(&space, &lock, after(first, 1)), 0);
}

static void test_all_leave(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        first = TICKET_MAX - i;
        both(passes, both_leave, 3);
        both(second_leaves, third_then_pass, 3);
        both(third_leaves, two_pass, 3);
        both(two_pass, third_leaves, 3);
    }
}

/* The second leaves, and asks again while the turn goes on: it has its place
 * again, and its turn, or was passed over. */
static bool is_back;

static void second_asks_again(void)
{
    uint32_t ticket, serving;
    second_leaves();
    int rc = ticket_reclaim(&space, &lock, &ticket, &serving);
    assert_true(rc == 0 || rc == DRAIL_EAGAIN);
    is_back = rc == 0;
    if (is_back)
        assert_int_equal(ticket, after(first, 1));
}

static unsigned back, over; /* how often it came out so */

/* ... whose turn must have come. */
static void second_passes(void)
{
    uint32_t serving;
    *(is_back ? &back : &over) += 1;
    if (!is_back)
        return;
    assert_int_equal(ticket_poll(&space, &lock, &serving), 0);
    assert_int_equal(serving, after(first, 1));
    assert_int_equal(ticket_pass(&space, &lock, serving), 0);
}

static void again(void (*one)(void), void (*other)(void), unsigned then)
{
    interleave(one, other, second_passes, then);
}

static void test_asks_again(void **state)
{
    back = over = 0;
    for (unsigned i = 0; i < 4; i++) {
        first = TICKET_MAX - i;
        again(second_asks_again, passes, 2);
        again(passes, second_asks_again, 2);
        again(second_asks_again, third_then_pass, 3);
        again(third_then_pass, second_asks_again, 3);
    }
    assert_true(back > 0 && over > 0);
}

/* A rank that asks again and again has one ticket; others' are not its own. */
static void test_asks_often(void **state)
{
    uint32_t ticket, serving;
    first = 0;
    queue();
    second_leaves();
    assert_int_equal(ticket_reclaim(&third, &lock, &ticket, &serving),
                     DRAIL_EAGAIN);
    for (unsigned i = 0; i < 2 * TICKET_ABANDONED_MAX; i++) {
        assert_int_equal(ticket_reclaim(&space, &lock, &ticket, &serving), 0);
        assert_true(ticket == 1 && serving == first);
        assert_int_equal(ticket_abandon(&space, &lock, ticket), 0);
    }
    passes();
    served(2);
}

/* A rank that finds no place stays. */
static void test_too_many(void **state)
{
    first = 0;
    queue();
    for (unsigned i = 1; i <= TICKET_ABANDONED_MAX; i++)
        assert_int_equal(ticket_abandon(&space, &lock, i), 0);
    uint64_t before = *(uint64_t *)(memory + lock.offset);
    assert_int_equal(ticket_abandon(&space, &lock, 40), DRAIL_EAGAIN);
    assert_int_equal(*(uint64_t *)(memory + lock.offset), before);
    passes();
    served(TICKET_ABANDONED_MAX + 1);
}

/* Another one takes the last place, if that is free, before a place that may
 * have been seen taken is given back. */
static unsigned taken;

static void last_is_taken(void)
{
    uint32_t ticket, serving;
    taken += ticket_abandon(&space, &lock, TICKET_ABANDONED_MAX + 1) == 0;
    assert_int_equal(ticket_reclaim(&third, &lock, &ticket, &serving), 0);
    assert_int_equal(ticket, 1);
}

static void test_last_place(void **state)
{
    bool between = true;
    first = 0;
    taken = 0;
    for (int n = 0; between; n++) {
        queue();
        assert_int_equal(ticket_abandon(&third, &lock, 1), 0);
        for (unsigned i = 2; i < TICKET_ABANDONED_MAX; i++)
            assert_int_equal(ticket_abandon(&space, &lock, i), 0);
        countdown = n;
        meanwhile = last_is_taken;
        assert_int_equal(ticket_abandon(&space, &lock, TICKET_ABANDONED_MAX),
                         0);
        between = countdown < 0;
    }
    assert_true(taken > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_leaves), cmocka_unit_test(test_all_leave),
        cmocka_unit_test(test_asks_again), cmocka_unit_test(test_asks_often),
        cmocka_unit_test(test_too_many),   cmocka_unit_test(test_last_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
