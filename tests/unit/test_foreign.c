/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link brings for others while threads are at work waits until they
 * have done; what comes then must not overtake it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/beside.h"
#include "dapl_rail/links/carrier.h"
#include "dapl_rail/links/farewell.h"
#include "dapl_rail/links/foreign.h"
#include "dapl_rail/links/peer.h"

#define SLOTS 4u

static drail_t t;
static struct rail rail = {.owner = &t};
static struct peer *peer;
static struct beside beside;
static struct slot slots[SLOTS];
static struct wire wires[SLOTS];
static unsigned char journal; /* it has one */
static struct link link_;
static unsigned returned, downs;

struct link *lane_of(const struct link *link, unsigned number)
{
    (void)link, (void)number;
    return &link_;
}

void carrier_acknowledge(struct link *link)
{
    (void)link;
}

void slot_return(struct slot *slot, bool owe)
{
    (void)slot, (void)owe;
    returned++;
}

struct slot *slot_spare(struct link *link)
{
    (void)link;
    return NULL;
}

void slot_read(const struct slot *slot, size_t at, void *to, size_t bytes)
{
    (void)slot, (void)at, (void)to, (void)bytes;
}

const char *arrival_message(struct slot *slot)
{
    (void)slot;
    return NULL;
}

const char *arrival_immediate(struct slot *slot, uint32_t data)
{
    (void)slot, (void)data;
    return NULL;
}

void farewell_arrived(struct link *lane, const struct wire *wire)
{
    (void)lane, (void)wire;
}

void link_lost(struct link *link, int code, const char *format, ...)
{
    (void)link, (void)code, (void)format;
}

void link_down(struct link *link, int code, const char *format, ...)
{
    (void)link, (void)code, (void)format;
    downs++;
}

void link_hurry(struct link *link)
{
    (void)link;
}

static int begin(void **state)
{
    (void)state;
    t.nrails = t.cfg.eps = 1;
    t.parallel = false;
    peer = calloc(1, sizeof *peer + sizeof(struct lane));
    peer->owner = &t;
    peer->lanes[0].link = &link_;
    beside = (struct beside){.carrier = {.sent = SLOTS}};
    link_ = (struct link){.rail = &rail,
                          .peer = peer,
                          .slots = slots,
                          .nslots = SLOTS,
                          .journal = &journal,
                          .lost = &beside.lost,
                          .carrier = &beside.carrier};
    returned = downs = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(peer);
    return 0;
}

/* The peer acknowledges so many messages. */
static const char *acknowledge(uint32_t count)
{
    unsigned i = count - 1;
    wires[i] = (struct wire){.type = WIRE_CARRIED, .lane = 1, .seq = count};
    slots[i] =
        (struct slot){.link = &link_, .data = (unsigned char *)&wires[i]};
    return foreign_arrived(&slots[i]);
}

static void in_order(void **state)
{
    (void)state;
    t.parallel = true;
    assert_null(acknowledge(1));
    assert_null(acknowledge(2));
    assert_int_equal(beside.carrier.acked, 0);
    t.parallel = false;
    assert_null(acknowledge(3));
    assert_int_equal(beside.carrier.acked, 3);
    assert_int_equal(returned, 3);
    foreign_serve(peer);
    assert_int_equal(beside.carrier.acked, 3);
    assert_int_equal(downs, 0);
}

static void waits_for_the_threads(void **state)
{
    (void)state;
    t.parallel = true;
    assert_null(acknowledge(1));
    assert_true(atomic_load(&t.unsettled));
    t.parallel = false;
    foreign_serve(peer);
    assert_int_equal(beside.carrier.acked, 1);
    assert_int_equal(returned, 1);
}

static void malformed(void **state)
{
    (void)state;
    beside.carrier.sent = 0;
    t.parallel = true;
    assert_null(acknowledge(1));
    t.parallel = false;
    foreign_serve(peer);
    assert_int_equal(downs, 1);
    assert_non_null(acknowledge(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_order, begin, end),
        cmocka_unit_test_setup_teardown(waits_for_the_threads, begin, end),
        cmocka_unit_test_setup_teardown(malformed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
