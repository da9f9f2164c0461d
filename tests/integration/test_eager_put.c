/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short puts over rails where data move only while the target polls travel with
 * their notification, where that is wanted: one send each, complete at once.
 * Looks at the provider's calls.
 */
#include "memory.h"
#include "no_direct.h"
#include "over_tcp.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define EAGER 16384u
#define LONG  (EAGER + 1)
#define HALF  32768u

static _Atomic unsigned sends, told, writes; /* told: sends with an event */

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    sends++;
    told += !(flags & DAT_COMPLETION_SUPPRESS_FLAG);
    return real(dat_ep_post_send)(ep, n, local, cookie, flags);
}

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    writes++;
    return real(dat_ep_post_rdma_write)(ep, n, local, cookie, remote, flags);
}

static void put(struct rank *r, const drail_xfer_t *x, unsigned flags,
                drail_req_t *req)
{
    sends = told = writes = 0;
    expect(r, 0, drail_put(r->t, r->peer, x, DRAIL_NOTIFY | flags, 7, req));
}

static void take(struct rank *r)
{
    uint32_t id;
    expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
    check(id == 7);
}

static drail_xfer_t to_second_half(struct rank *r, const struct memory *m,
                                   size_t bytes)
{
    drail_xfer_t x = memory_xfer(r, m, bytes);
    x.remote_offset = HALF;
    return x;
}

static void check_bytes(const struct memory *m, size_t bytes, int value)
{
    for (size_t i = 0; i < bytes; i++)
        check(m->bytes[HALF + i] == value);
    check(!m->bytes[HALF + bytes]);
}

/* Its source may change before the target takes it. */
static void complete_at_once(struct rank *r)
{
    static const size_t sizes[] = {1, 8, 3000, 8191};
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        drail_xfer_t x = to_second_half(r, &m, sizes[i]);
        drail_req_t req;
        if (r->rank == 0) {
            memset(m.bytes, 5, sizes[i]);
            put(r, &x, DRAIL_EAGER, &req);
            check(sends == 1 && !told && !writes);
            expect(r, 0, drail_test(r->t, &req));
            memset(m.bytes, 6, sizes[i]);
        }
        barrier(r);
        if (r->rank == 1) {
            take(r);
            check_bytes(&m, sizes[i], 5);
            memset(m.bytes + HALF, 0, HALF);
        }
        barrier(r);
    }
    memory_close(r, &m);
}

/* The sends and RDMA writes of an eager put. Its source may change when it is
 * complete. */
static void expect_put(struct rank *r, const struct memory *m, size_t bytes,
                       unsigned flags, unsigned wanted_sends,
                       unsigned wanted_writes)
{
    drail_xfer_t x = to_second_half(r, m, bytes);
    drail_req_t req;
    if (r->rank == 0) {
        memset(m->bytes, 5, bytes);
        put(r, &x, DRAIL_EAGER | flags, &req);
        check(sends == wanted_sends && writes == wanted_writes);
        expect(r, 0, drail_wait(r->t, &req, -1));
        memset(m->bytes, 6, bytes);
    } else {
        take(r);
        check_bytes(m, bytes, 5);
        memset(m->bytes + HALF, 0, bytes);
    }
    barrier(r);
}

/* From half of the stripe threshold on, each rail takes a part in a message of
 * its own; not if the caller names a rail, and not if a part is too long. */
static void striped(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 3 * HALF);
    expect_put(r, &m, 8191, 0, 1, 0);
    expect_put(r, &m, 8192, 0, 2, 0);
    expect_put(r, &m, 8192, DRAIL_ON_RAIL(1), 1, 0);
    expect_put(r, &m, 2 * EAGER - 256, 0, 2, 0);
    expect_put(r, &m, 2 * EAGER, 0, 2, 0);
    expect_put(r, &m, 2 * EAGER + 128, 0, 2, 2);
    memory_close(r, &m);
}

/* Until credits run out: a put that is refused takes none. The last one waits.
 */
static void striped_nowait(struct rank *r)
{
    enum { BYTES = 8192, ROUNDS = 50, LAST = 8 };
    const unsigned flags = DRAIL_NOTIFY | DRAIL_EAGER;
    unsigned started = 0;
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    drail_xfer_t x = to_second_half(r, &m, BYTES);
    for (int n = 1; n <= ROUNDS; n++) {
        uint32_t id = 0;
        int rc = 0;
        memset(m.bytes, n, BYTES);
        if (r->rank == 0) {
            while (
                !(rc = drail_put(r->t, 1, &x, flags | DRAIL_NOWAIT, 7, NULL)))
                id++;
            expect(r, DRAIL_EAGAIN, rc);
            started += id;
            expect(r, 0, drail_put(r->t, 1, &x, flags, LAST, NULL));
        }
        while (r->rank == 1 && id != LAST)
            expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        if (r->rank == 1)
            check_bytes(&m, BYTES, n);
        barrier(r);
    }
    check(r->rank == 1 || started);
    memory_close(r, &m);
}

static void not_over_a_rail_without_weight(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    expect_put(r, &m, 8192, 0, 1, 0);
    expect_put(r, &m, EAGER, 0, 1, 0);
    expect_put(r, &m, LONG, 0, 1, 1);
    memory_close(r, &m);
}

static void threshold_of_0(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    expect_put(r, &m, 4095, 0, 1, 0);
    expect_put(r, &m, 4096, 0, 2, 0);
    memory_close(r, &m);
}

static void huge_threshold(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    expect_put(r, &m, EAGER, 0, 1, 0);
    expect_put(r, &m, LONG, 0, 1, 1);
    memory_close(r, &m);
}

/* Policy adaptive learns from writes. */
static void adaptive(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    expect_put(r, &m, EAGER, 0, 2, 0);
    expect_put(r, &m, LONG, 0, 2, 2);
    memory_close(r, &m);
}

/* A longer put, one whose caller waits for delivery, and one without a
 * notification go by RDMA. */
static void not_so(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    if (r->rank == 0) {
        drail_xfer_t x = to_second_half(r, &m, LONG);
        drail_req_t req;
        memset(m.bytes, 5, LONG);
        put(r, &x, DRAIL_EAGER, &req);
        check(writes == 1 && sends == 1);
        expect(r, 0, drail_wait(r->t, &req, -1));
        x.bytes = 8;
        put(r, &x, 0, &req);
        check(writes == 1 && sends == 1);
        expect(r, 0, drail_wait(r->t, &req, -1));
        writes = sends = 0;
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_EAGER, 0, &req));
        check(writes == 1 && !sends);
        expect(r, 0, drail_wait(r->t, &req, -1));
    } else {
        take(r);
        check_bytes(&m, LONG, 5);
        take(r);
    }
    memory_close(r, &m);
}

/* More than there are credits, slots and requests. */
static void many(struct rank *r, const struct memory *m)
{
    enum { PUTS = 1000 };
    drail_xfer_t x = to_second_half(r, m, sizeof(unsigned));
    for (unsigned n = 0; n < PUTS; n++) {
        if (r->rank == 0) {
            memcpy(m->bytes, &n, sizeof n);
            put(r, &x, DRAIL_EAGER, NULL);
        } else {
            /* each is there before its notification, the next may be */
            unsigned last;
            take(r);
            memcpy(&last, m->bytes + HALF, sizeof last);
            check(last >= n && last < PUTS);
        }
    }
}

static void over_all_rails(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    drail_xfer_t x = to_second_half(r, &m, 100);
    if (r->rank == 0) {
        memset(m.bytes, 5, 100);
        put(r, &x, DRAIL_EAGER | DRAIL_ALL_RAILS, NULL);
        check(sends == 2 && !writes);
    } else {
        take(r);
        check_bytes(&m, 100, 5);
    }
    barrier(r); /* it has been looked at */
    many(r, &m);
    memory_close(r, &m);
}

/* A key that promises more than there is: what is not ours is not touched. */
static void beyond(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * HALF);
    drail_key_t wrong = m.keys[r->peer];
    drail_xfer_t x = memory_xfer(r, &m, 8);
    wrong.bytes += 8;
    x.remote = &wrong;
    x.remote_offset = 2 * HALF - 7;
    if (r->rank == 0) {
        memset(m.bytes, 5, 8);
        put(r, &x, DRAIL_EAGER, NULL);
        check(drail_notify_wait(r->t, 1, NULL, -1) == DRAIL_EPEER);
    } else {
        expect(r, DRAIL_EDAT, drail_notify_wait(r->t, 0, NULL, -1));
        check(strstr(drail_last_error(r->t), "key of a put"));
        check(!m.bytes[2 * HALF - 7]);
    }
    memory_close(r, &m);
}

/* Memory that peers may only read. */
static void not_to_be_written(struct rank *r)
{
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[2];
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_REMOTE_READ, (void **)&bytes,
                           &mem));
    exchange_keys(r, mem, keys);
    drail_xfer_t x = {
        .local = bytes, .local_mem = mem, .remote = &keys[r->peer], .bytes = 8};
    if (r->rank == 0) {
        memset(bytes, 5, 8);
        put(r, &x, DRAIL_EAGER, NULL);
        check(drail_notify_wait(r->t, 1, NULL, -1) == DRAIL_EPEER);
    } else {
        expect(r, DRAIL_EDAT, drail_notify_wait(r->t, 0, NULL, -1));
        check(!bytes[0]);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void two(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a", "tcp-b");
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
}

static void several_eps(drail_config_t *cfg)
{
    two(cfg);
    cfg->eps = 2;
}

static void several_eps_shallow(drail_config_t *cfg)
{
    several_eps(cfg);
    cfg->depth = 4;
}

static void weighted(drail_config_t *cfg)
{
    two(cfg);
    cfg->policy = DRAIL_POLICY_WEIGHTED;
    cfg->weights[1] = 1;
}

static void stripes_all(drail_config_t *cfg)
{
    two(cfg);
    cfg->stripe_threshold = 0;
}

static void stripes_nothing(drail_config_t *cfg)
{
    two(cfg);
    cfg->stripe_threshold = SIZE_MAX;
}

static void learns(drail_config_t *cfg)
{
    two(cfg);
    cfg->policy = DRAIL_POLICY_ADAPTIVE;
}

static void with_threads(drail_config_t *cfg)
{
    two(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void one(drail_config_t *cfg)
{
    two(cfg);
    cfg->engine = DRAIL_ENGINE_SINGLE;
}

static void shallow(drail_config_t *cfg)
{
    two(cfg);
    cfg->depth = 4;
}

static const struct test tests[] = {
    {"complete at once", 2, complete_at_once, two, 0},
    {"complete at once, several EPs", 2, complete_at_once, several_eps, 0},
    {"striped", 2, striped, two, 0},
    {"striped, a thread for each rail", 2, striped, with_threads, 0},
    {"striped, without waiting", 2, striped_nowait, several_eps_shallow, 0},
    {"a rail without weight", 2, not_over_a_rail_without_weight, weighted, 0},
    {"a threshold of 0", 2, threshold_of_0, stripes_all, 0},
    {"a huge threshold", 2, huge_threshold, stripes_nothing, 0},
    {"adaptive", 2, adaptive, learns, 0},
    {"not so", 2, not_so, one, 0},
    {"over all rails, and many", 2, over_all_rails, shallow, 0},
    {"beyond its key", 2, beyond, one, 0},
    {"not to be written", 2, not_to_be_written, one, 0},
};

RUN_TESTS_OVER_TCP(tests)
