/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank receives messages of one peer without end, each of which is there at
 * once, or waits for puts to it that are complete at once. What another peer
 * sends it arrives meanwhile. */
#include <stdatomic.h>

#include "ranks.h"

/* Messages; the receiver naps after each, so that the sender is always ahead.
 */
#define STREAM 6000u
#define SOON   512u
#define NAP_US 20

/* Of rank 0: messages received. Of rank 2: it has sent its notification. */
static _Atomic unsigned *received, *notified;

static void stream(struct rank *r)
{
    for (unsigned n = 0; n < STREAM; n++)
        expect(r, 0, drail_send(r->t, 0, &n, sizeof n, NULL));
}

static void notify(struct rank *r)
{
    check_within(60, *received > STREAM / 100);
    expect(r, 0, drail_notify(r->t, 0, 0, 1));
    *notified = 1;
}

static void receive(struct rank *r)
{
    unsigned after = 0, got;
    bool come = false;
    uint32_t id;
    for (unsigned n = 0; n < STREAM; n++) {
        expect(r, 0, drail_recv(r->t, 1, &got, sizeof got, NULL, -1));
        check(got == n);
        *received = n;
        come = come || !drail_notify_test(r->t, 2, &id);
        after += *notified && !come;
        usleep(NAP_US);
    }
    printf("# it came %u messages later\n", after);
    check(after < SOON);
}

static void notified_meanwhile(struct rank *r)
{
    void (*const part[])(struct rank * r) = {receive, stream, notify};
    barrier(r);
    part[r->rank](r);
    barrier_outside(r);
}

/* Rank 0 puts to rank 1, which calls nothing. Each put is complete at once. */
static void puts_meanwhile(struct rank *r)
{
    enum { PUTS = 1000000 };
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[3];
    uint32_t id;
    unsigned puts = 0;
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_ALL, (void **)&bytes, &mem));
    exchange_keys(r, mem, keys);
    const drail_xfer_t x = {
        .local = bytes, .local_mem = mem, .remote = &keys[1], .bytes = 64};
    barrier(r);
    if (r->rank == 2)
        expect(r, 0, drail_notify(r->t, 0, 0, 1));
    while (r->rank == 0 && drail_notify_test(r->t, 2, &id)) {
        drail_req_t req;
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        check(++puts < PUTS);
    }
    barrier_outside(r);
    expect(r, 0, drail_mem_release(mem));
}

static const struct test tests[] = {
    {"notified meanwhile", 3, notified_meanwhile, one_rail, 0},
    {"puts meanwhile", 3, puts_meanwhile, one_rail, 0},
};

RUN_TESTS_AFTER(received = shared_memory(2 * sizeof *received);
                notified = received + 1, 1, tests)
