/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP break while many eager puts are under way, and RDMA
 * writes among them: each arrives once, whole, before its notification, and
 * never again.
 */
#include "losses_tcp.h"

#define PUTS  16 /* of a round, to as many places of one side of the memory */
#define PLACE (32u << 10)
#define SIDE  (PUTS * PLACE)

/* Most are short, some long; the same at both ends. Half of them name a rail;
 * of the others the long ones are striped. */
static size_t size_of_put(uint32_t n)
{
    uint32_t draw = n * 2654435761u >> 8;
    return 1 + draw % (n % 5 && n % 4 ? 4096 : PLACE - 1);
}

/* Sources follow what the peer puts here. */
static void put_all(struct rank *r, const struct memory *m, uint32_t first)
{
    unsigned char *source = m->bytes + 2 * SIDE;
    for (uint32_t n = first; n < first + PUTS; n++, source += PLACE) {
        drail_xfer_t x = {.local = source,
                          .local_mem = m->mem,
                          .remote = &m->keys[r->peer],
                          .remote_offset = n % (2 * PUTS) * PLACE,
                          .bytes = size_of_put(n)};
        fill(source, x.bytes, n + r->rank);
        expect(r, 0,
               drail_put(r->t, r->peer, &x,
                         DRAIL_NOTIFY | DRAIL_EAGER |
                             (n % 3 ? 0 : DRAIL_ALL_RAILS) |
                             (n % 2 ? DRAIL_ON_RAIL(n % RAILS) : 0),
                         n, NULL));
    }
}

static void take_all(struct rank *r, const struct memory *m, uint32_t first)
{
    for (uint32_t n = first; n < first + PUTS; n++) {
        unsigned char *place = m->bytes + n % (2 * PUTS) * PLACE;
        await_note(r, n);
        verify(place, size_of_put(n), n + r->peer);
        memset(place, 0, PLACE);
    }
}

static void is_clear(const unsigned char *side)
{
    for (size_t i = 0; i < SIDE; i++)
        check(!side[i]);
}

static void under_load(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 3 * SIDE);
    double end = seconds() + SECONDS, late = seconds() + 60;
    for (uint32_t first = 0; goes_on(r, end); first += PUTS) {
        break_something(r, 2 * PUTS);
        put_all(r, &m, first);
        take_all(r, &m, first);
        is_clear(m.bytes + (first / PUTS + 1) % 2 * SIDE);
        expect(r, 0, drail_fence(r->t, r->peer)); /* sources change next */
        check(seconds() < late);
    }
    break_no_more(r);
    is_clear(m.bytes);
    is_clear(m.bytes + SIDE);
    memory_close(r, &m);
}

static void several_eps(drail_config_t *cfg)
{
    three(cfg);
    cfg->eps = 2;
}

static const struct test tests[] = {
    {"one thread", 2, under_load, three, 0},
    {"a thread for each rail", 2, under_load, threaded, 0},
    {"several EPs", 2, under_load, several_eps, 0},
};

RUN_TESTS_OVER_TCP(tests)
