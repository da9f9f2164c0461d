/* SPDX-License-Identifier: BSD-3-Clause */
/* What is found to be silent, look by look: the clock is the test's, so are the
 * answers to the questions over the first link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/carrier.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/links/silence.h"

#define LINKS 2
#define OPS   8u /* of the ring */
#define MANY  (8 * SILENCE_LOOKS)

static uint64_t now;
static struct op ops[LINKS][OPS];
static struct op *chunks[LINKS][OPS / OPS_CHUNK];
static struct beside beside[LINKS];
static unsigned char journal[64 * OPS] __attribute__((aligned(64)));
static struct rail rails[LINKS];
static struct link links[LINKS];
static struct peer peer = {.lanes = {[LINKS - 1] = {0}}};
static drail_t t;
static unsigned lost;
static bool untaken; /* an event of the second link */

static uint64_t now_ns(const struct drail_platform *p)
{
    (void)p;
    return now;
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
    (void)lane, (void)number, (void)wire, (void)payload, (void)bytes;
    link->carrier->sent++;
    return true;
}

bool carrier_acknowledged(const struct link *link, uint32_t number)
{
    return link->carrier->acked >= number;
}

void link_lost(struct link *link, int code, const char *format, ...)
{
    (void)code, (void)format;
    assert_ptr_equal(link, &links[1]);
    link->ep_state = EP_ENDING;
    lost++;
}

static void post(struct link *link)
{
    struct op *op = op_at(link, link->ops_head++);
    *op = (struct op){.link = link, .posted = ++link->posted};
}

static void event(struct link *link)
{
    link->retired = op_at(link, link->ops_tail++)->posted;
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
    (void)state;
    now = 1000 * MS;
    lost = 0;
    untaken = false;
    t = (drail_t){.job = &job,
                  .rails = rails,
                  .nrails = LINKS,
                  .cfg.eps = 1,
                  .met = &peer,
                  .tuning.silence_ms = 80};
    peer = (struct peer){.owner = &t, .connected = true};
    for (unsigned i = 0; i < LINKS; i++) {
        rails[i] = (struct rail){.owner = &t, .index = i};
        links[i] = (struct link){.rail = &rails[i],
                                 .peer = &peer,
                                 .state = LINK_UP,
                                 .ep_state = EP_UP,
                                 .journal = journal,
                                 .record_shift = 6,
                                 .ops = chunks[i],
                                 .ops_mask = OPS - 1,
                                 .lost = &beside[i].lost,
                                 .carrier = &beside[i].carrier,
                                 .silence = &beside[i].silence};
        beside[i] = (struct beside){0};
        for (unsigned at = 0; at < OPS; at += OPS_CHUNK)
            chunks[i][at / OPS_CHUNK] = &ops[i][at];
        peer.lanes[i].link = &links[i];
    }
    return 0;
}

static void look(bool answered)
{
    now += 80 * MS / SILENCE_LOOKS;
    if (answered)
        links[0].carrier->acked = links[0].carrier->sent;
    silence_look(&t);
}

static void while_it_answers(void **state)
{
    (void)state;
    post(&links[1]);
    for (unsigned i = 0; i < SILENCE_LOOKS; i++)
        look(true);
    assert_int_equal(lost, 0);
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 1);
}

static void it_answers_now_and_then(void **state)
{
    (void)state;
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look(i % 4 != 3); /* one that computes in between */
    assert_int_equal(lost, 1);
}

static void it_does_not_answer(void **state)
{
    (void)state;
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++)
        look(false);
    assert_int_equal(lost, 0);
}

static void events_come(void **state)
{
    (void)state;
    post(&links[1]);
    for (unsigned i = 0; i < MANY; i++) {
        look(true);
        if (i % SILENCE_LOOKS)
            continue;
        post(&links[1]);
        event(&links[1]);
    }
    assert_int_equal(lost, 0);
}

/* Whoever waits looks at other rails first, perhaps for long. */
static void one_has_not_been_taken(void **state)
{
    (void)state;
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
    (void)state;
    post(&links[1]);
    links[1].state = LINK_LOST;
    links[1].lost->carrier = &links[1];
    links[1].lost->at = links[1].posted; /* of the loss before */
    for (unsigned i = 0; i < MANY; i++)
        look(true);
    assert_int_equal(lost, 0);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
