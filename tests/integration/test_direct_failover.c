/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of short messages, and of short puts, while each end breaks the
 * connection that carries them: each is received once, in order and whole. */
#include "cut.h"
#include "memory.h"
#include "rails_up.h"

#define SECONDS 2.0
#define HEAD    8u
#define MOST    256u
#define SLOTS   16u /* of puts on their way: a power of 2 */
#define LAST    (1u << 31)

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

static void check_broken(const struct rank *r)
{
    printf("# %lu breaks\n", (unsigned long)failures(r));
    check(failures(r) > 0);
}

static void messages(struct rank *r)
{
    *unsettled = 0;
    barrier(r);
    if (r->rank == 0) {
        send_all(r);
        check_broken(r);
    } else {
        receive_all(r);
    }
}

static unsigned char *slot_of(const struct memory *m, uint32_t number)
{
    return m->bytes + number % SLOTS * MOST;
}

static void put_all(struct rank *r, const struct memory *m)
{
    uint32_t last = 0;
    const double end = seconds() + SECONDS;
    for (uint32_t number = 0; !last; number++) {
        drail_xfer_t x = memory_xfer(r, m, size_of(number));
        x.local = slot_of(m, number);
        x.remote_offset = (size_t)(slot_of(m, number) - m->bytes);
        memset(x.local, (int)number, x.bytes);
        last = number % SLOTS == SLOTS - 1 && seconds() > end ? LAST : 0;
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_NOTIFY, number | last, NULL));
        if (number % SLOTS == SLOTS - 1) /* rank 1 has read all slots */
            expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
        break_one(r, number, 1009);
    }
}

static void read_all(struct rank *r, const struct memory *m)
{
    uint32_t id = 0;
    for (uint32_t n = 0; !(id & LAST); n++) {
        expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        check((id & ~LAST) == n);
        for (size_t i = 0; i < size_of(n); i++)
            check(slot_of(m, n)[i] == (unsigned char)n);
        if (n % SLOTS == SLOTS - 1)
            expect(r, 0, drail_notify(r->t, 0, 0, 0));
        break_one(r, n, 997);
    }
}

static void put_slots(struct rank *r)
{
    struct memory m;
    *unsettled = 0;
    memory_open(r, &m, SLOTS * MOST);
    if (r->rank == 0) {
        put_all(r, &m);
        check_broken(r);
    } else {
        read_all(r, &m);
    }
    memory_close(r, &m);
}

enum { LONG = 1 << 20, MIDDLE = LONG / 2, SHORT = 8 };

/* Streams the bytes, so this is no direct write, and its request stays in the
 * journal, as no event is due. */
static void put_long(struct rank *r, const struct memory *m)
{
    const drail_xfer_t x = memory_xfer(r, m, LONG);
    memset(m->bytes, 1, LONG);
    expect(r, 0, drail_put(r->t, 1, &x, DRAIL_ON_RAIL(0), 0, NULL));
}

static void put_over_it(struct rank *r, const struct memory *m, int value)
{
    drail_xfer_t x = memory_xfer(r, m, SHORT);
    x.local = m->bytes + MIDDLE;
    x.remote_offset = MIDDLE;
    memset(x.local, value, SHORT);
    expect(r, 0, drail_put(r->t, 1, &x, DRAIL_ON_RAIL(0), 0, NULL));
    memset(x.local, 1, SHORT); /* as a replay of the long put would find it */
}

/* The connection breaks behind two puts to the same bytes, of which only the
 * first may still be replayed: the second one's stay. */
static void written_over(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, LONG);
    for (int n = 2; n < 10; n++) {
        if (r->rank == 0) {
            const uint64_t before = failures(r);
            put_long(r, &m);
            put_over_it(r, &m, n);
            dat_ep_disconnect(cut.eps[0], DAT_CLOSE_ABRUPT_FLAG);
            check_within(20, (drail_progress(r->t), failures(r) > before));
            await_rails_up(r);
            expect(r, 0, drail_fence(r->t, 1));
            expect(r, 0, drail_notify(r->t, 1, 0, 0));
            expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
        } else {
            expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
            for (size_t i = 0; i < SHORT; i++)
                check(m.bytes[MIDDLE + i] == n);
            check(m.bytes[0] == 1 && m.bytes[LONG - 1] == 1);
            expect(r, 0, drail_notify(r->t, 0, 0, 0));
        }
    }
    memory_close(r, &m);
}

static void whole_puts(drail_config_t *cfg)
{
    cfg->stripe_threshold = 2 * LONG;
}

static const struct test tests[] = {
    {"messages", 2, messages, NULL, 0},
    {"puts", 2, put_slots, NULL, 0},
    {"a put that is written over", 2, written_over, whole_puts, 0},
};

RUN_TESTS_AFTER(unsettled = shared_memory(sizeof *unsettled);
                cut.direct = true, 1, tests)
