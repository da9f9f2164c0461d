/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond tells the peer that a link has ended, and the message is lost with the
 * link that carried it. Meanwhile this end has begun the next link, or several.
 * The peer still learns of the end, and which writes have arrived. */
#include "unit.h"

#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"
#include "providers/bond/progress.h"
#include "providers/bond/transfer/transfer.h"

enum { LOST, OTHER, MEMBERS };
#define EPOCH   4u
#define ARRIVED 7u /* writes */

static struct bond_ia ia = {.params.count = MEMBERS};
static struct bond_conn here, there;
static struct bond_link ended, next, other, last;
static uint64_t written; /* over the link that ends */
static unsigned done;    /* ops of the peer */
static bool told;
static struct {
    struct bond_header h;
    struct bond_ended e;
} message;

/* ------------------------------------------------ instead of other files ---
 */

uint64_t bond_link_written(const struct bond_link *l)
{
    return written;
}

unsigned bond_any_usable(const struct bond_conn *c)
{
    return bond_link_usable(c->link[OTHER]) ? OTHER : BOND_NONE;
}

struct bond_link *bond_any_up(const struct bond_conn *c)
{
    return bond_link_up(c->link[OTHER])  ? c->link[OTHER]
           : bond_link_up(c->link[LOST]) ? c->link[LOST]
                                         : NULL;
}

bool bond_say(struct bond_link *l, enum bond_message_kind kind,
              const void *data, size_t bytes)
{
    if (kind != BOND_ENDED || ((const struct bond_ended *)data)->member != LOST)
        return true;
    assert_int_equal(bytes, sizeof message.e);
    message.h =
        (struct bond_header){.kind = BOND_ENDED, .bytes = sizeof(message.e)};
    memcpy(&message.e, data, bytes);
    told = true;
    return true;
}

void bond_op_done(struct bond_op *op)
{
    done++;
}

void bond_ranges_spread(struct bond_ia *b)
{
}

void bond_keys_forget(struct bond_conn *c)
{
}

void bond_op_insert(struct bond_op **at, struct bond_op *op)
{
    op->next = *at;
    *at = op;
}

struct bond_op *bond_op_next(struct bond_link *l)
{
    return NULL;
}

void bond_op_lost(struct bond_op *op)
{
}

void bond_give_up(struct bond_conn *c)
{
    atomic_store(&c->aborted, true);
}

void bond_link_leave(struct bond_link *l)
{
}

void bond_link_close(struct bond_link *l)
{
}

void bond_link_free(struct bond_link *l)
{
}

void bond_link_flush(struct bond_link *l)
{
}

void bond_drain(struct bond_member *m)
{
}

void bond_issue(struct bond_conn *c)
{
}

void bond_thread_wake(struct bond_ia *b)
{
}

void bond_news_send(struct bond_conn *c)
{
}

void bond_slot_done(struct bond_slot *slot)
{
}

void bond_deliver(struct bond_conn *c)
{
}

void bond_delivered(struct bond_conn *c, uint32_t before)
{
}

void bond_on_answers(struct bond_conn *c, const struct bond_answers *answers)
{
}

/* ---------------------------------------------------------------- tests --- */

static struct bond_link link_of(struct bond_conn *c, unsigned member,
                                uint32_t epoch, enum bond_link_state state)
{
    return (struct bond_link){.conn = c,
                              .m = &ia.member[member],
                              .state = state,
                              .epoch = epoch,
                              .introduced = true};
}

/* Both ends have had a link, over which the peer wrote. It has ended. */
static void begin(struct bond_op *op)
{
    told = false;
    done = 0;
    for (unsigned i = 0; i < MEMBERS; i++)
        ia.member[i].index = i;
    ia.member[LOST].counts = true;
    here = there = (struct bond_conn){.b = &ia, .state = BOND_CONNECTED};
    here.path[LOST].epoch = there.path[LOST].epoch = EPOCH;
    there.path[LOST].unsettled = EPOCH;
    other = link_of(&here, OTHER, 1, BOND_LINK_UP);
    last = link_of(&there, OTHER, 1, BOND_LINK_UP);
    here.link[OTHER] = &other;
    there.link[OTHER] = &last;
    there.path[LOST].lost = op;
    ended = link_of(&here, LOST, EPOCH, BOND_LINK_LEAVING);
    written = ARRIVED;
    bond_path_ended(&ended);
}

/* A link of this end has ended that never came up. */
static void attempt_fails(uint32_t epoch)
{
    next = link_of(&here, LOST, epoch, BOND_LINK_LEAVING);
    next.introduced = false;
    here.path[LOST].epoch = epoch;
    written = 0;
    bond_path_ended(&next);
}

/* This end tells the peer, which settles the lost link. */
static void tell(void)
{
    bond_failover_look(&here, 1);
    assert_true(told);
    struct bond_slot slot = {.at = &message.h};
    bond_on_message(&last, &slot, sizeof message);
    bond_failover_look(&there, 1);
    assert_int_equal(there.path[LOST].unsettled, 0);
    assert_false(atomic_load(&there.aborted));
}

static void while_connecting(void **state)
{
    struct bond_op arrived = {.mark = ARRIVED};
    begin(&arrived);
    next = link_of(&here, LOST, EPOCH + 1, BOND_LINK_CONNECTING);
    here.link[LOST] = &next;
    here.path[LOST].epoch = EPOCH + 1;
    tell();
    assert_int_equal(done, 1);
    assert_null(there.redo);
}

static void after_attempts(void **state)
{
    struct bond_op arrived = {.mark = ARRIVED};
    struct bond_op missing = {.mark = ARRIVED + 1, .next = &arrived};
    begin(&missing);
    attempt_fails(EPOCH + 1);
    attempt_fails(EPOCH + 2);
    tell();
    assert_int_equal(done, 1);
    assert_ptr_equal(there.redo, &missing);
}

/* The link of the peer came up, that of this end did not: nothing arrived. */
static void never_up_here(void **state)
{
    struct bond_op first = {.mark = 1};
    begin(&first);
    there.path[LOST].epoch = there.path[LOST].unsettled = EPOCH + 1;
    attempt_fails(EPOCH + 1);
    tell();
    assert_int_equal(done, 0);
    assert_ptr_equal(there.redo, &first);
}

/* The end of an earlier link says nothing of the peer's last one. */
static void of_an_earlier_link(void **state)
{
    struct bond_op first = {.mark = 1};
    begin(&first);
    there.path[LOST].epoch = there.path[LOST].unsettled = EPOCH + 1;
    bond_failover_look(&here, 1);
    struct bond_slot slot = {.at = &message.h};
    bond_on_message(&last, &slot, sizeof message);
    bond_failover_look(&there, 1);
    assert_int_equal(there.path[LOST].unsettled, EPOCH + 1);
    assert_int_equal(done, 0);
    assert_null(there.redo);
}

/* No other link is left. The member's next link brings the news of the lost
 * one. Before that, no request may use it. */
static void over_the_next_link(void **state)
{
    struct bond_op arrived = {.mark = ARRIVED};
    struct bond_op missing = {.mark = ARRIVED + 1, .next = &arrived};
    begin(&missing);
    here.link[OTHER] = there.link[OTHER] = NULL;
    next = link_of(&here, LOST, EPOCH + 1, BOND_LINK_UP);
    last = link_of(&there, LOST, EPOCH + 1, BOND_LINK_UP);
    here.link[LOST] = &next;
    there.link[LOST] = &last;
    here.path[LOST].epoch = there.path[LOST].epoch = EPOCH + 1;
    bond_failover_look(&there, 1);
    assert_false(bond_link_usable(&last));
    assert_false(bond_link_usable(&next));
    tell();
    assert_true(bond_link_usable(&last));
    assert_int_equal(done, 1);
    assert_ptr_equal(there.redo, &missing);
}

/* The same, but the next link is lost, too, before it has carried a request. */
static void over_the_one_after(void **state)
{
    struct bond_op arrived = {.mark = ARRIVED};
    begin(&arrived);
    next = link_of(&here, LOST, EPOCH + 1, BOND_LINK_LEAVING);
    written = 0;
    bond_path_ended(&next);
    last = link_of(&there, LOST, EPOCH + 1, BOND_LINK_LEAVING);
    bond_path_ended(&last);
    last = link_of(&there, LOST, EPOCH + 2, BOND_LINK_UP);
    here.path[LOST].epoch = there.path[LOST].epoch = EPOCH + 2;
    there.link[LOST] = &last;
    there.link[OTHER] = NULL;
    tell();
    assert_int_equal(done, 1);
    assert_null(there.redo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_connecting),
        cmocka_unit_test(after_attempts),
        cmocka_unit_test(never_up_here),
        cmocka_unit_test(of_an_earlier_link),
        cmocka_unit_test(over_the_next_link),
        cmocka_unit_test(over_the_one_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
