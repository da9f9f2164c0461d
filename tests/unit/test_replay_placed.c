/* SPDX-License-Identifier: BSD-3-Clause */
/* A replay leaves out what writes have already brought to the peer's memory:
 * a later one may have written over it. */
#include "unit.h"
#undef fail /* the library has one, too */
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"

enum { REQUESTS = 6, SHIFT = 6, BYTES = 100 };

static unsigned char records[REQUESTS + 2][1 << SHIFT];
static struct link link_ = {
    .journal = {.shift = SHIFT, .mask = 7, .records = records[0]},
};

static void is_left(uint64_t number, uint32_t bytes)
{
    assert_int_equal(journal_at(&link_.journal, number)->bytes, bytes);
}

static void placed_writes(void **state)
{
    static const enum verb verbs[REQUESTS] = {
        VERB_WRITE, VERB_WRITE,       VERB_SEND,
        VERB_READ,  VERB_WRITE_IMMED, VERB_WRITE,
    };
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct dto d = {.verb = verbs[i], .local.segment_length = BYTES};
        journal_keep(&link_.journal, i, &d);
    }
    link_.queue = (struct queue){.posted = REQUESTS, .retired = 1, .placed = 5};
    journal_leave_out_placed(&link_);
    is_left(0, BYTES); /* complete before */
    is_left(1, 0);
    is_left(2, BYTES);
    is_left(3, BYTES);
    is_left(4, 0);
    is_left(5, BYTES); /* posted later */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(placed_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
