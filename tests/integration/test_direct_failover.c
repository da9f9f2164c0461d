/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of short messages while each end breaks the connection that carries
 * it: each message is received once, in order and whole. */
#include "cut.h"
#include "rails_up.h"

#define SECONDS 2.0
#define HEAD    8u
#define MOST    256u

struct message {
    uint32_t number, last;
    unsigned char bytes[MOST - HEAD];
};

/* Bits by rank, for both: it has not yet seen the last break, or not all links
 * are up again. */
static _Atomic unsigned *unsettled;

static uint64_t failures(const struct rank *r)
{
    return rail_stats(r, 0).failures + rail_stats(r, 1).failures;
}

/* Not too often, as a connection must be there for the next break. */
static void break_one(struct rank *r, uint32_t number, unsigned every)
{
    static uint64_t seen;
    unsigned none = 0;
    if (number % every)
        return;
    if (failures(r) > seen && is_up(r, 0) && is_up(r, 1)) {
        seen = failures(r);
        *unsettled &= ~(1u << r->rank);
    }
    if (atomic_compare_exchange_strong(unsettled, &none, 3))
        dat_ep_disconnect(cut.eps[number / every % 2], DAT_CLOSE_ABRUPT_FLAG);
}

static size_t size_of(uint32_t number)
{
    return HEAD + number % (MOST - HEAD);
}

static void send_all(struct rank *r)
{
    struct message m = {0};
    for (double end = seconds() + SECONDS; !m.last; m.number++) {
        m.last = m.number % 64 == 0 && seconds() > end;
        memset(m.bytes, (int)m.number, sizeof m.bytes);
        expect(r, 0, drail_send(r->t, 1, &m, size_of(m.number), NULL));
        break_one(r, m.number, 1009);
    }
}

static void receive_all(struct rank *r)
{
    struct message m = {0};
    size_t got;
    for (uint32_t n = 0; !m.last; n++) {
        expect(r, 0, drail_recv(r->t, 0, &m, sizeof m, &got, -1));
        check(m.number == n && got == size_of(n));
        for (size_t i = 0; i < got - HEAD; i++)
            check(m.bytes[i] == (unsigned char)n);
        break_one(r, n, 997);
    }
}

static void breaks(struct rank *r)
{
    barrier(r);
    if (r->rank == 0) {
        send_all(r);
        printf("# %lu breaks\n", (unsigned long)failures(r));
        check(failures(r) > 0);
    } else {
        receive_all(r);
    }
}

static const struct test tests[] = {{"breaks", 2, breaks, NULL, 0}};

RUN_TESTS_AFTER(unsettled = shared_memory(sizeof *unsettled);
                cut.direct = true, 1, tests)
