/* SPDX-License-Identifier: BSD-3-Clause */
/* Short messages in a row over TCP share requests: all arrive, in order, also
 * if the sender does nothing more, or if connections break. */
#include "losses_tcp.h"

#define ROW     300u
#define LONGEST 1500u

static size_t size_of(unsigned n)
{
    uint32_t draw = n * 2654435761u >> 8;
    return draw % (n % 7 ? 100 : LONGEST + 1);
}

static void send_row(struct rank *r, unsigned first)
{
    unsigned char bytes[LONGEST];
    for (unsigned n = first; n < first + ROW; n++) {
        fill(bytes, size_of(n), n + r->rank);
        expect(r, 0, drail_send(r->t, r->peer, bytes, size_of(n), NULL));
    }
}

static void receive_row(struct rank *r, unsigned first)
{
    unsigned char bytes[LONGEST];
    for (unsigned n = first; n < first + ROW; n++) {
        size_t got;
        expect(r, 0, drail_recv(r->t, r->peer, bytes, sizeof bytes, &got, -1));
        check(got == size_of(n));
        verify(bytes, got, n + r->peer);
    }
}

/* Messages that this rank's rail has received. */
static uint64_t arrivals(const struct rank *r)
{
    return rail_stats(r, 0).recvs;
}

/* Both ranks poll for a while, as ranks that send much do. */
static void poll_both(struct rank *r)
{
    for (unsigned n = 0; n < 100; n++)
        barrier(r);
}

/* Rank 0 sends rows, until most messages of one came together. */
static void rows(struct rank *r, void (*await)(struct rank *r))
{
    bool together = false;
    double late = seconds() + 20;
    for (unsigned first = 0; !together; first += ROW) {
        poll_both(r);
        if (r->rank == 0) {
            send_row(r, first);
            await(r);
            expect(r, 0,
                   drail_recv(r->t, 1, &together, sizeof together, NULL, -1));
        } else {
            uint64_t before = arrivals(r);
            receive_row(r, first);
            together = arrivals(r) - before < ROW / 2;
            await(r);
            expect(r, 0, drail_send(r->t, 0, &together, sizeof together, NULL));
        }
        check(seconds() < late);
    }
}

static void in_calls(struct rank *r)
{
    (void)r;
}

static void in_a_row(struct rank *r)
{
    rows(r, in_calls);
}

static void left_alone(struct rank *r)
{
    rows(r, barrier_outside);
}

static void break_under_load(struct rank *r)
{
    double end = seconds() + SECONDS, late = seconds() + 60;
    for (unsigned first = 0; goes_on(r, end); first += ROW) {
        break_something(r, ROW);
        if (r->rank == 0)
            send_row(r, first);
        receive_row(r, first);
        if (r->rank == 1)
            send_row(r, first);
        check(seconds() < late);
    }
    break_no_more(r);
}

static const struct test tests[] = {
    {"in a row", 2, in_a_row, one, 0},
    {"nothing more is called", 2, left_alone, one, 0},
    {"connections break", 2, break_under_load, three, 0},
};

RUN_TESTS_OVER_TCP(tests)
