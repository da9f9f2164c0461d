/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP break while many eager puts are under way, and RDMA
 * writes among them: each arrives once, whole, before its notification, and
 * never again.
 */
#include "conf.h"
#include "failover.h"

#define RAILS   3
#define SECONDS 1
#define LOSSES  3  /* at least, of each end */
#define PUTS    16 /* of a round, to as many places of one side of the memory */
#define PLACE   (32u << 10)
#define SIDE    (PUTS * PLACE)

static const char lines[] = RAIL_OF("ofi", "tcp-a", "device=lo")
    RAIL_OF("ofi", "tcp-b", "device=lo") RAIL_OF("ofi", "tcp-c", "device=lo");

/* The last rail stays, whatever both ends draw. */
static void break_something(struct rank *r)
{
    unsigned rail = (unsigned)(rnd(r) % (RAILS - 1));
    if (cut.left[rail] != CUT_NEVER)
        return;
    cut.after = rnd(r) % 2;
    cut.left[rail] = (unsigned)(rnd(r) % (2 * PUTS));
}

/* Most are short, some long; the same at both ends. */
static size_t size_of_put(uint32_t n)
{
    uint32_t draw = n * 2654435761u >> 8;
    return 1 + draw % (n % 5 ? 4096 : PLACE - 1);
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
                             DRAIL_ON_RAIL(n % RAILS),
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

/* Until both have lost enough; asked in calls that help the other rank. */
static bool goes_on(struct rank *r, double end)
{
    bool mine = seconds() < end || stats_sum(r).failures < LOSSES, other;
    expect(r, 0, drail_send(r->t, r->peer, &mine, sizeof mine, NULL));
    expect(r, 0, drail_recv(r->t, r->peer, &other, sizeof other, NULL, -1));
    return mine || other;
}

static void under_load(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 3 * SIDE);
    double end = seconds() + SECONDS, late = seconds() + 60;
    for (uint32_t first = 0; goes_on(r, end); first += PUTS) {
        break_something(r);
        put_all(r, &m, first);
        take_all(r, &m, first);
        is_clear(m.bytes + (first / PUTS + 1) % 2 * SIDE);
        expect(r, 0, drail_fence(r->t, r->peer)); /* sources change next */
        check(seconds() < late);
    }
    for (unsigned i = 0; i < RAILS; i++)
        cut.left[i] = CUT_NEVER;
    await_rails(r);
    is_clear(m.bytes);
    is_clear(m.bytes + SIDE);
    memory_close(r, &m);
}

static void three(drail_config_t *cfg)
{
    static const char *const names[RAILS] = {"tcp-a", "tcp-b", "tcp-c"};
    for (unsigned i = 0; i < RAILS; i++)
        cfg->rails[i] = names[i];
    cfg->nrails = RAILS;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void threaded(drail_config_t *cfg)
{
    three(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
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

int main(int argc, char **argv)
{
    if (!conf_has_ofi()) {
        printf("1..0 # skipped: there is no libfabric here\n");
        return 77;
    }
    conf_restart(argv, lines);
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
