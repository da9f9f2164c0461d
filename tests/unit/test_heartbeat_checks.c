/* SPDX-License-Identifier: BSD-3-Clause */
/* Which links are found to be silent, check by check. The test provides the
 * clock, the answers to probes over the first link, and the providers' reports
 * on the wires. */

#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/health.h"
#include "dapl_rail/links/failover/heartbeat.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"

#define LINKS 2
#define OPS   8u /* of the ring */
#define MANY  (8 * HEARTBEAT_CHECKS)

static uint64_t now, takes; /* takes: between two looks at the clock */
static struct op ops[LINKS][OPS];
static struct op *chunks[LINKS][OPS / OPS_CHUNK];
static struct failover failovers[LINKS];
static unsigned char journals[LINKS][64 * OPS] __attribute__((aligned(64)));
static struct health healths[LINKS];
static unsigned asked[LINKS];
static struct rail rails[LINKS];
static struct link links[LINKS];
static struct peer peer = {.lanes = {[LINKS - 1] = {0}}};
static drail_t t;
static unsigned lost;
static bool untaken; /* an event of the second link */

static uint64_t now_ns(const struct drail_platform *p)
{
    return now += takes;
}

static const struct drail_platform platform = {.now_ns = now_ns};
static drail_job_t job = {.size = 1, .platform = &platform};

unsigned lane_number(const struct link *link)
{
    return 1 + link->rail->index;
}

bool carrier_send(struct link *link, struct link *lane, uint64_t number,
                  const struct wire *wire, const void *payload, size_t bytes)
{
    if (link->failover->carrier.sent - link->failover->carrier.acked == WINDOW)
        return false;
    link->failover->carrier.sent++;
    asked[link - links]++;
    return true;
}

struct health link_health(const struct link *link)
{
    return healths[link - links];
}

void link_lose(struct link *link, int code, const char *format, ...)
{
    assert_ptr_equal(link, &links[1]);
    link->ep.state = EP_ENDING;
    lost++;
}

void ep_hurry(struct link *link)
{
    assert_int_equal(link->ep.state, EP_ENDING);
}

static void post(struct link *link)
{
    struct op *op = op_at(&link->queue, link->queue.ops_head++);
    *op = (struct op){.link = link, .posted = ++link->queue.posted};
}

static void post_long(struct link *link, uint64_t bytes)
{
    journal_at(&link->journal, link->queue.posted)->bytes = bytes;
    post(link);
}

static void event(struct link *link)
{
    link->queue.retired = op_at(&link->queue, link->queue.ops_tail++)->posted;
}

void rail_catch_up(struct rail *rail)
{
    if (!untaken || rail != &rails[1])
        return;
    untaken = false;
    event(&links[1]);
}

static int begin(void **state)
{
    now = 1000 * MS;
    takes = 0;
    lost = 0;
    untaken = false;
    t = (drail_t){.job = &job,
                  .rails = rails,
                  .nrails = LINKS,
                  .cfg.eps = 1,
                  .met = &peer,
                  .env.silence_ms = 80};
    peer = (struct peer){.owner = &t, .connected = true};
    for (unsigned i = 0; i < LINKS; i++) {
        rails[i] = (struct rail){.owner = &t, .index = i};
        links[i] =
            (struct link){.rail = &rails[i],
                          .peer = &peer,
                          .state = LINK_UP,
                          .ep.state = EP_UP,
                          .journal = {.records = journals[i], .shift = 6},
                          .queue = {.ops = chunks[i], .ops_mask = OPS - 1},
                          .failover = &failovers[i]};
        failovers[i] = (struct failover){0};
        healths[i] = (struct health){0};
        asked[i] = 0;
        memset(journals[i], 0, sizeof journals[i]);
        for (unsigned at = 0; at < OPS; at += OPS_CHUNK)
            chunks[i][at / OPS_CHUNK] = &ops[i][at];
        peer.lanes[i].link = &links[i];
    }
    return 0;
}

static void look(bool answered)
{
    now += 80 * MS / HEARTBEAT_CHECKS;
    if (answered)
        links[0].failover->carrier.acked = links[0].failover->carrier.sent;
    heartbeat_check(&t);
}

static void while_it_answers(void **state)
{
    post(&links[1]);
    for (unsigned i = 0; i < HEARTBEAT_CHECKS; i++)
        look(true);
    assert_int_equal(lost, 0);
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 1);
}

static void it_answers_now_and_then(void **state)
{
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look(i % 4 != 3); /* a rank that computes in between */
    assert_int_equal(lost, 1);
}

static void it_does_not_answer(void **state)
{
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look(false);
    assert_int_equal(lost, 0);
}

static void events_come(void **state)
{
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++) {
        look(true);
        if (i % HEARTBEAT_CHECKS)
            continue;
        post(&links[1]);
        event(&links[1]);
    }
    assert_int_equal(lost, 0);
}

/* A waiter looks at other rails first, perhaps for long. */
static void one_has_not_been_taken(void **state)
{
    post(&links[1]);
    untaken = true;
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 0);
    assert_false(untaken);
}

/* That of the last EP was never to come: nothing is posted on this one yet. */
static void an_ep_that_is_not_in_use(void **state)
{
    post(&links[1]);
    links[1].state = LINK_LOST;
    links[1].failover->replay.carrier = &links[1];
    links[1].failover->replay.next =
        links[1].queue.posted; /* of the loss before */
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 0);
}

/* 64 MiB over a wire that is said to be of 5 MB/s, and shared. */
static void a_slow_wire(void **state)
{
    rails[1].info.nominal_MBps = 5;
    post_long(&links[1], 64u << 20);
    for (unsigned ms = 0; ms < 40000; ms += 10)
        look(true);
    assert_int_equal(lost, 0);
    event(&links[1]);
    look(true);
    assert_int_equal(lost, 0);
}

/* It is known then how fast it is: a cut shows sooner. */
static void a_measured_wire(void **state)
{
    rails[1].info.nominal_MBps = 5;
    for (unsigned i = 0; i < 100; i++) {
        post_long(&links[1], 1u << 20);
        look(true);
        event(&links[1]);
        look(true);
    }
    post_long(&links[1], 1u << 20);
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 1);
}

/* ---- wires of which providers tell: links[0] passes bytes */

static void look_reported(uint64_t silent_ms)
{
    healths[0] =
        (struct health){.reported = true, .bytes = healths[0].bytes + 1};
    healths[1].reported = true;
    healths[1].silent_ms = silent_ms;
    look(false);
}

static void nothing_is_acknowledged(void **state)
{
    post(&links[0]);
    post(&links[1]);
    look_reported(0);
    for (unsigned i = 0; i < HEARTBEAT_CHECKS - 1; i++)
        look_reported(200 + 10 * i);
    assert_int_equal(lost, 0);
    for (unsigned i = 0; i < 3; i++)
        look_reported(300);
    assert_int_equal(lost, 1);
}

static void acknowledged_late(void **state)
{
    post(&links[0]);
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look_reported(i % HEARTBEAT_CHECKS ? 200 : 5);
    assert_int_equal(lost, 0);
}

/* As deep queues make it. */
static void answers_take_long(void **state)
{
    post(&links[0]);
    post(&links[1]);
    healths[1].answer_ms = 120;
    for (unsigned i = 0; i < 2 * HEARTBEAT_CHECKS; i++)
        look_reported(200);
    assert_int_equal(lost, 0);
    for (unsigned i = 0; i < HEARTBEAT_CHECKS; i++)
        look_reported(200);
    assert_int_equal(lost, 1);
}

static void a_long_dto_moves(void **state)
{
    post(&links[0]);
    post_long(&links[1], 1u << 30);
    for (unsigned i = 0; i < 100 * MANY; i++) {
        healths[1].bytes += 1000;
        look_reported(200);
    }
    assert_int_equal(lost, 0);
}

/* Its system has all: the peer takes nothing. It is asked over this wire, for
 * something to be owed if that is dead, but not for ever. */
static void a_peer_that_takes_nothing(void **state)
{
    post(&links[0]);
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look_reported(0);
    assert_int_equal(lost, 0);
    assert_int_equal(asked[1], WINDOW);
}

static void nobody_is_heard(void **state)
{
    post(&links[0]);
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++) {
        healths[0] = healths[1] =
            (struct health){.reported = true, .silent_ms = 9};
        healths[0].silent_ms = healths[1].silent_ms = 500;
        look(false);
    }
    assert_int_equal(lost, 0);
}

/* The other link has nothing to do: it is asked there, and the peer's system
 * answers, though the peer is stopped. */
static void asked_over_an_idle_link(void **state)
{
    post(&links[1]);
    for (unsigned i = 0; i < 2 * HEARTBEAT_CHECKS; i++) {
        unsigned before = asked[0];
        healths[1] = (struct health){.reported = true, .silent_ms = 200};
        look(false);
        if (asked[0] != before) /* it is complete: the peer's system has it */
            links[0].failover->carrier.head = ++links[0].failover->carrier.tail;
    }
    assert_int_equal(lost, 1);
    assert_in_range(asked[0], 1, WINDOW);
}

static void nobody_has_looked(void **state)
{
    post(&links[0]);
    post(&links[1]);
    look_reported(0);
    look_reported(200);
    now += 3000 * MS;
    look_reported(3200);
    look_reported(3210);
    assert_int_equal(lost, 0);
}

/* Looks that take long are fewer, but there are two in the time at least. */
static void looks_that_take_long(void **state)
{
    unsigned looks = 0;
    takes = MS / 2;
    for (uint64_t end = now + 800 * MS, was = 0; now < end; was = t.looked_ns) {
        heartbeat_check(&t);
        looks += t.looked_ns != was;
    }
    assert_in_range(looks, 18, 21);
    takes = 0;
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(while_it_answers, begin),
        cmocka_unit_test_setup(it_answers_now_and_then, begin),
        cmocka_unit_test_setup(it_does_not_answer, begin),
        cmocka_unit_test_setup(events_come, begin),
        cmocka_unit_test_setup(one_has_not_been_taken, begin),
        cmocka_unit_test_setup(an_ep_that_is_not_in_use, begin),
        cmocka_unit_test_setup(a_slow_wire, begin),
        cmocka_unit_test_setup(a_measured_wire, begin),
        cmocka_unit_test_setup(nothing_is_acknowledged, begin),
        cmocka_unit_test_setup(acknowledged_late, begin),
        cmocka_unit_test_setup(answers_take_long, begin),
        cmocka_unit_test_setup(a_long_dto_moves, begin),
        cmocka_unit_test_setup(a_peer_that_takes_nothing, begin),
        cmocka_unit_test_setup(nobody_is_heard, begin),
        cmocka_unit_test_setup(asked_over_an_idle_link, begin),
        cmocka_unit_test_setup(nobody_has_looked, begin),
        cmocka_unit_test_setup(looks_that_take_long, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
