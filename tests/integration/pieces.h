/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of both ranks that are somewhat longer than eager ones. */
#ifndef TESTS_PIECES_H
#define TESTS_PIECES_H

#include "failover.h"

#define MOST 65536u
#define ROW  12u

static unsigned char bytes[MOST];

/* One piece and one byte up to four whole ones; some are short. */
static inline size_t size_of(unsigned n)
{
    static const size_t sizes[] = {16385, 65536, 8, 32768, 32769, 65535};
    return sizes[n % 6];
}

static inline void send_one(struct rank *r, unsigned n)
{
    fill(bytes, size_of(n), n);
    expect(r, 0, drail_send(r->t, r->peer, bytes, size_of(n), NULL));
}

static inline void receive_one(struct rank *r, unsigned n)
{
    size_t got;
    expect(r, 0, drail_recv(r->t, r->peer, bytes, MOST, &got, -1));
    check(got == size_of(n));
    verify(bytes, got, n);
}

static inline void one_way(struct rank *r, unsigned sender, unsigned first)
{
    for (unsigned n = first; n < first + ROW; n++)
        r->rank == sender ? send_one(r, n) : receive_one(r, n);
}

/* The peer takes nothing: what does not fit its receives is not sent. */
static inline void without_credits(struct rank *r)
{
    unsigned n = 0, sent;
    size_t got;
    if (r->rank == 0) {
        while (!drail_send(r->t, 1, bytes, MOST, NULL))
            n++;
        check(n);
        barrier_outside(r);
        expect(r, 0, drail_send(r->t, 1, &n, sizeof n, NULL));
    } else {
        barrier_outside(r);
        do
            expect(r, 0, drail_recv(r->t, 0, bytes, MOST, &got, -1));
        while (got == MOST && ++n);
        memcpy(&sent, bytes, sizeof sent);
        check(got == sizeof sent && n == sent);
    }
    one_way(r, 0, 0);
    barrier(r);
}

static inline void too_long(struct rank *r)
{
    size_t got = 0;
    for (unsigned n = 0; n < ROW; n++) {
        if (r->rank == 0) {
            send_one(r, 1);
        } else {
            bytes[MOST / 2] = 1;
            expect(r, DRAIL_ETRUNC,
                   drail_recv(r->t, 0, bytes, MOST / 2, &got, -1));
            check(got == MOST && bytes[MOST / 2] == 1);
        }
    }
    one_way(r, 0, 0);
    barrier(r);
}

/* The receiver asks again and again, with the same buffer. */
static inline void without_waiting(struct rank *r)
{
    for (unsigned n = 0; n < ROW; n++) {
        size_t got = 0;
        int rc = DRAIL_EAGAIN;
        double late = seconds() + 20;
        if (r->rank == 0)
            send_one(r, n);
        for (; r->rank == 1 && rc == DRAIL_EAGAIN; check(seconds() < late))
            rc = drail_recv(r->t, 0, bytes, MOST, &got, 0);
        check(r->rank == 0 || (!rc && got == size_of(n)));
        if (r->rank == 1)
            verify(bytes, got, n);
    }
    barrier(r);
}

#endif
