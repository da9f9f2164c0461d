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

/* From half of the stripe threshold on, each rail takes a part in a message of
 * its own; not if the caller names a rail, and not if a part is too long. */
static void striped(struct rank *r)
{
    static const struct {
        size_t bytes;
        unsigned flags, sends, writes;
    } puts[] = {
        {8191, 0, 1, 0},
        {8192, 0, 2, 0},
        {8192, DRAIL_ON_RAIL(1), 1, 0},
        {2 * EAGER - 256, 0, 2, 0},
        {2 * EAGER, 0, 2, 0},
        {2 * EAGER + 128, 0, 2, 2},
    };
    struct memory m;
    memory_open(r, &m, 3 * HALF);
    for (unsigned i = 0; i < sizeof puts / sizeof puts[0]; i++) {
        drail_xfer_t x = to_second_half(r, &m, puts[i].bytes);
        drail_req_t req;
        if (r->rank == 0) {
            memset(m.bytes, 5, puts[i].bytes);
            put(r, &x, DRAIL_EAGER | puts[i].flags, &req);
            check(sends == puts[i].sends && writes == puts[i].writes);
            expect(r, 0, drail_wait(r->t, &req, -1));
            memset(m.bytes, 6, puts[i].bytes);
        } else {
            take(r);
            check_bytes(&m, puts[i].bytes, 5);
            memset(m.bytes + HALF, 0, 2 * HALF);
        }
        barrier(r);
    }
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
    {"not so", 2, not_so, one, 0},
    {"over all rails, and many", 2, over_all_rails, shallow, 0},
    {"beyond its key", 2, beyond, one, 0},
    {"not to be written", 2, not_to_be_written, one, 0},
};

RUN_TESTS_OVER_TCP(tests)
