/* SPDX-License-Identifier: BSD-3-Clause */
/* slot_return_soon(): the slot is posted again when there is nothing else to
 * do, once, and in time for the peer's credits. */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/link.h"
#include "no_buffers.h"

#define DEPTH 8u

static drail_t t;
static struct rail rail = {.owner = &t};
static struct link link_;
static struct slot slots[3];
static unsigned posted[3];

DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT n,
                            DAT_LMR_TRIPLET *local, DAT_DTO_COOKIE cookie,
                            DAT_COMPLETION_FLAGS flags)
{
    const struct slot *slot =
        (struct slot *)(uintptr_t)(cookie.as_64 & ~(uint64_t)COOKIE_RECEIVE);
    posted[slot - slots]++;
    return DAT_SUCCESS;
}

/* Without room for a message of credits. */
static int begin(void **state)
{
    t.cfg.depth = DEPTH;
    rail.unreturned = NULL;
    link_ = (struct link){
        .rail = &rail, .state = LINK_UP, .ep.state = EP_UP, .slots.all = slots};
    for (unsigned i = 0; i < 3; i++) {
        slots[i] = (struct slot){.link = &link_};
        posted[i] = 0;
    }
    return 0;
}

static void when_nothing_is_to_be_done(void **state)
{
    slot_return_soon(&slots[0]);
    assert_int_equal(posted[0], 0);
    assert_int_equal(link_.credits.owed, 0);
    slots_return_now(&rail);
    slots_return_now(&rail);
    assert_int_equal(posted[0], 1);
    assert_int_equal(link_.credits.owed, 1);
}

static void with_the_next(void **state)
{
    slot_return_soon(&slots[0]);
    slot_return_soon(&slots[1]);
    assert_int_equal(posted[0], 1);
    assert_int_equal(posted[1], 0);
    slots_return_now(&rail);
    assert_int_equal(posted[0], 1);
    assert_int_equal(posted[1], 1);
    assert_int_equal(link_.credits.owed, 2);
}

/* The peer waits for a message of credits: they are half of the depth. */
static void at_once_when_credits_are_due(void **state)
{
    link_.credits.owed = DEPTH / 2 - 1;
    slot_return_soon(&slots[0]);
    assert_int_equal(posted[0], 1);
    assert_int_equal(link_.credits.owed, DEPTH / 2);
}

/* The next EP has what is idle posted; this one comes later. */
static void without_an_ep(void **state)
{
    slot_return_soon(&slots[0]);
    link_.state = LINK_LOST;
    link_.ep.state = EP_ENDING;
    assert_false(slots[0].idle);
    slots_return_now(&rail);
    assert_int_equal(posted[0], 0);
    assert_true(slots[0].idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(when_nothing_is_to_be_done, begin),
        cmocka_unit_test_setup(with_the_next, begin),
        cmocka_unit_test_setup(at_once_when_credits_are_due, begin),
        cmocka_unit_test_setup(without_an_ep, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
