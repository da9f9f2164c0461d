/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for other links that arrive while several threads are at work are
 * deferred, and handled before those that arrive later. */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/final_counts.h"
#include "dapl_rail/links/failover/incoming_replay.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

enum { SLOTS = 4 };

static drail_t t;
static struct rail rail = {.owner = &t};
static struct peer peer = {.owner = &t};
static struct failover failover;
static unsigned char journal[64];
static struct wire wires[SLOTS];
static struct slot slots[SLOTS];
static struct link link_ = {.rail = &rail,
                            .peer = &peer,
                            .failover = &failover,
                            .journal.records = journal,
                            .slots = {.all = slots, .count = SLOTS}};

struct link *lane_of(const struct link *link, unsigned number)
{
    return (struct link *)(uintptr_t)link;
}

void carrier_acknowledge(struct link *link)
{
}

void slot_read(const struct slot *slot, size_t at, void *to, size_t bytes)
{
    fail();
}

void slot_return(struct slot *slot, bool owe)
{
    slot->idle = true;
}

struct slot *slot_spare(struct link *link)
{
    return NULL;
}

const char *arrival_immediate(struct slot *slot, uint32_t immediate)
{
    return "no message was sent";
}

const char *arrival_message(struct slot *slot)
{
    return "no message was sent";
}

void final_count_arrived(struct link *link, const struct wire *wire)
{
    fail();
}

void ep_hurry(struct link *link)
{
    fail();
}

void link_lose(struct link *link, int code, const char *format, ...)
{
    fail();
}

void link_down(struct link *link, int code, const char *format, ...)
{
    fail();
}

/* The peer acknowledges so many messages. */
static const char *acknowledge(unsigned slot, uint32_t messages)
{
    wires[slot] = (struct wire){.type = WIRE_CARRIED_ACK, .lane = 1};
    wires[slot].seq = messages;
    slots[slot] =
        (struct slot){.link = &link_, .data = (unsigned char *)&wires[slot]};
    return incoming_replay_arrived(&slots[slot]);
}

static void in_order(void **state)
{
    failover.carrier.sent = 3;
    t.parallel = true;
    assert_null(acknowledge(0, 1));
    assert_null(acknowledge(1, 2));
    assert_int_equal(failover.carrier.acked, 0);
    t.parallel = false;
    assert_null(acknowledge(2, 3));
    assert_int_equal(failover.carrier.acked, 3);
    incoming_replay_deferred(&peer);
    assert_int_equal(failover.carrier.acked, 3);
    assert_true(slots[0].idle && slots[1].idle && slots[2].idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
