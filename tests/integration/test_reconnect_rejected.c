/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If the new connection of a lost link is rejected at once, the next attempt
 * comes soon, not when an answer would be overdue, and later after each
 * rejection. The clock runs only while the next attempt is awaited.
 */
#include "dapl_rail/base/limits.h"
#include "failover.h"
#include "hello_said.h"
#include "machine.h"
#include "taken.h"

#define REJECTIONS 3

static const struct drail_platform *machine;
static uint64_t stands_at; /* the clock; 0: it goes */
static unsigned asked, rejected;

static uint64_t now(const struct drail_platform *p)
{
    return stands_at ? stands_at : machine->now_ns(machine);
}

static void taken(const DAT_EVENT *event)
{
    rejected += event->event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
                event->event_number == DAT_CONNECTION_EVENT_PEER_REJECTED;
}

/* The first ones go where nobody listens. */
static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (hello->reconnect && asked++ < REJECTIONS)
        *qual = 1;
    return true;
}

/* How much later, in milliseconds, is it tried again? Where another thing is to
 * be awaited, the clock stands still. */
static unsigned next_try(struct rank *r, unsigned n)
{
    double end = seconds() + 20;
    unsigned ms = 0;
    while (asked == n) {
        check(seconds() < end);
        expect(r, DRAIL_EAGAIN, drail_notify_wait(r->t, 1, NULL, 0));
        nap(1);
        if (rejected == n) {
            stands_at += MS;
            ms++;
        }
    }
    return ms;
}

static void again_and_again(struct rank *r)
{
    barrier(r); /* both are connected */
    if (r->rank == 1) {
        for (uint32_t id = 0; id != UINT32_MAX;)
            expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        return;
    }
    stands_at = machine->now_ns(machine);
    cut.left[0] = 0;
    while (!cut.cuts)
        expect(r, 0, drail_notify(r->t, 1, 0, 0));
    unsigned last = 0;
    for (unsigned n = 0; n <= REJECTIONS; n++) {
        unsigned ms = next_try(r, n);
        printf("# try %u after %u ms\n", n + 1, ms);
        check(ms > last && ms < 1000);
        last = ms;
    }
    stands_at = 0;
    while (!stats_sum(r).up)
        drail_notify_wait(r->t, 1, NULL, 1);
    expect(r, 0, drail_notify(r->t, 1, 0, UINT32_MAX));
}

static const struct test tests[] = {
    {"again and again", 2, again_and_again, nonthreaded, 0},
};

int main(int argc, char **argv)
{
    machine = machine_platform();
    check(machine);
    struct drail_platform platform = *machine;
    platform.now_ns = now;
    ranks_platform = &platform;
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
