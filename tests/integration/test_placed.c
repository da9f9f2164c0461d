/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages go from the provider straight to the buffer of drail_recv(), if that
 * waits for them and they fit. Nobody sees more of it than that: whichever way
 * a message takes, it arrives once, in order and whole, and no other byte
 * changes.
 */
#include "failover.h"

#define MOST  4096u
#define GUARD 64u

static void send_one(struct rank *r, size_t bytes, unsigned id)
{
    unsigned char out[MOST];
    fill(out, bytes, id);
    expect(r, 0, drail_send(r->t, r->peer, out, bytes, NULL));
}

/* With a buffer of this capacity. */
static void receive_one(struct rank *r, size_t bytes, size_t capacity,
                        unsigned id)
{
    static const unsigned char clear[MOST + GUARD];
    unsigned char in[MOST + GUARD] = {0};
    size_t got, left = capacity < bytes ? 0 : bytes;
    expect(r, left == bytes ? 0 : DRAIL_ETRUNC,
           drail_recv(r->t, r->peer, in, capacity, &got, -1));
    check(got == bytes);
    verify(in, left, id);
    check(!memcmp(in + left, clear, sizeof in - left));
}

/* A message arrives while its receiver is outside, so that drail_recv() finds
 * it when it polls first. Is it placed? */
static void alone(struct rank *r, size_t bytes, size_t capacity, bool placed)
{
    unsigned before = cut.placed;
    if (r->rank == 0)
        send_one(r, bytes, (unsigned)bytes);
    barrier_outside(r);
    if (r->rank == 1) {
        receive_one(r, bytes, capacity, (unsigned)bytes);
        check(cut.placed == before + placed);
    }
    barrier_outside(r);
}

static void fits(struct rank *r)
{
    static const size_t sizes[] = {0, 8, 231, 232, 1000, MOST - 1};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        bool placed = bytes >= 232; /* 256 with their header */
        alone(r, bytes, bytes, placed);
        alone(r, bytes, MOST, placed);
        alone(r, bytes, bytes + 1, placed);
        if (bytes)
            alone(r, bytes, bytes - 1, false);
    }
}

/* It arrives in another call: drail_recv() takes it from its slot. */
static void early(struct rank *r)
{
    for (unsigned i = 0; i < 20; i++) {
        if (r->rank == 0) {
            send_one(r, 1000, i);
            expect(r, 0, drail_notify(r->t, 1, 0, i));
        } else {
            unsigned before = cut.placed;
            await_note(r, i);
            receive_one(r, 1000, MOST, i);
            check(cut.placed == before);
        }
    }
}

/* drail_recv() gives up; the next call has another buffer. */
static void in_the_next_call(struct rank *r)
{
    unsigned char first[1000] = {0};
    for (unsigned i = 0; i < 5; i++) {
        if (r->rank == 1) {
            expect(r, DRAIL_EAGAIN,
                   drail_recv(r->t, 0, first, sizeof first, NULL, 0));
            expect(r, DRAIL_ETIMEOUT,
                   drail_recv(r->t, 0, first, sizeof first, NULL, 1));
        }
        barrier_outside(r);
        alone(r, 1000, 1000, true);
        for (size_t k = 0; k < sizeof first; k++)
            check(!first[k]);
    }
}

/* Several arrive before drail_recv() asks for the first. */
static void several(struct rank *r)
{
    enum { N = 8 };
    for (unsigned i = 0; i < 500; i++) {
        if (r->rank == 0)
            for (unsigned k = 0; k < N; k++)
                send_one(r, 1000 - 100 * k, i * N + k);
        if (i % 10 == 0)
            barrier_outside(r);
        if (r->rank == 1)
            for (unsigned k = 0; k < N; k++)
                receive_one(r, 1000 - 100 * k, MOST, i * N + k);
        if (i % 10 == 0)
            barrier_outside(r);
    }
    check(r->rank == 0 || cut.placed);
}

/* Messages of both ranks cross while a rail breaks at each of their DTOs. */
static void cross(struct rank *r, unsigned turn)
{
    enum { N = 6 };
    for (unsigned k = 0; k < N; k++)
        send_one(r, 1000 + 300 * k, turn * N + k);
    if (turn % 2)
        nap(1);
    for (unsigned k = 0; k < N; k++)
        receive_one(r, 1000 + 300 * k, k % 3 ? MOST : 1000 + 300 * k,
                    turn * N + k);
}

static void rails_break(struct rank *r)
{
    for (unsigned turn = 0; turn < 40; turn++) {
        unsigned rail = turn / 2 % 2;
        cut.after = turn % 3 == 0;
        if (r->rank == turn % 2)
            cut.left[rail] = turn / 4;
        cross(r, turn);
        cut.left[rail] = CUT_NEVER;
        await_rails(r);
    }
    check(cut.cuts >= 5);
    check(cut.placed);
}

static void two_rails(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->policy = DRAIL_POLICY_ROUNDROBIN;
}

static const struct test tests[] = {
    {"whatever fits", 2, fits, one_rail, 0},
    {"whatever fits, two rails", 2, fits, two_rails, 0},
    {"arrived early", 2, early, one_rail, 0},
    {"in the next call", 2, in_the_next_call, one_rail, 0},
    {"several", 2, several, one_rail, 0},
    {"several over two rails", 2, several, two_rails, 0},
    {"rails break", 2, rails_break, two_rails, 0},
};

RUN_TESTS(tests)
