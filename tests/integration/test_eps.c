/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several EPs for each rail and peer: striped messages are spread over all of
 * them, shorter ones take one in turn. Seen in the calls of
 * dat_ep_post_rdma_write that the library makes.
 */
#include "dapl_rail/batch.h"

#include "memory.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define EPS      4
#define CAPACITY (64u << 10)

static struct {
    DAT_EP_HANDLE ep;
    uint64_t bytes;
} used[64];
static unsigned nused;

/* takes the place of libdat2's */
STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT nseg,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    unsigned i = 0;
    while (i < nused && used[i].ep != ep)
        i++;
    if (i == nused && nused < 64)
        used[nused++].ep = ep;
    used[i].bytes += local->segment_length;
    return real(dat_ep_post_rdma_write)(ep, nseg, local, cookie, remote, flags);
}

static void forget_uses(void)
{
    memset(used, 0, sizeof used);
    nused = 0;
}

/* Equal parts on all EPs of all rails. */
static void striped(struct rank *r)
{
    unsigned eps = EPS * drail_nrails(r->t);
    struct memory m;
    memory_open(r, &m, CAPACITY);
    for (unsigned n = 0; n < 2; n++) {
        drail_batch_t b = {.xfer = memory_xfer(r, &m, CAPACITY),
                           .count = 5,
                           .await_reply = true};
        forget_uses();
        if (r->rank == 1) {
            expect(r, 0, drail_batch_answer(r->t, 0, true, 0, NULL));
            expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
            continue;
        }
        expect(r, 0, drail_batch(r->t, 1, &b));
        expect(r, 0, drail_put(r->t, 1, &b.xfer, DRAIL_NOTIFY, 0, NULL));
        expect(r, 0, drail_fence(r->t, 1));
        check(nused == eps);
        for (unsigned i = 0; i < eps; i++)
            check(used[i].bytes == 6 * CAPACITY / eps);
    }
    memory_close(r, &m);
}

static void in_turn(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    drail_xfer_t x = memory_xfer(r, &m, 8);
    forget_uses();
    for (unsigned n = 0; n < 10 * EPS; n++)
        expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    expect(r, 0, drail_fence(r->t, r->peer));
    check(nused == EPS);
    for (unsigned i = 0; i < EPS; i++)
        check(used[i].bytes == 10 * 8);
    memory_close(r, &m);
}

/* Reads complete when the parts of all EPs have come. */
static void reads(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    for (unsigned i = CAPACITY / 2; i < CAPACITY; i++)
        m.bytes[i] = (unsigned char)(i * 7 + r->rank);
    barrier(r);
    for (size_t bytes = 1; bytes <= CAPACITY / 2; bytes = 2 * bytes + 1) {
        drail_req_t req;
        drail_xfer_t x = memory_xfer(r, &m, bytes);
        x.remote_offset = CAPACITY / 2;
        memset(m.bytes, 0, bytes);
        expect(r, 0, drail_get(r->t, r->peer, &x, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        for (unsigned i = 0; i < bytes; i++)
            check(m.bytes[i] ==
                  (unsigned char)((CAPACITY / 2 + i) * 7 + r->peer));
    }
    memory_close(r, &m);
}

/* The rates that messages teach do not depend on the number of EPs. */
static void adaptive(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_ADAPTIVE, NULL, 0));
    for (unsigned n = 0; n < 60; n++) {
        drail_req_t req;
        drail_xfer_t x = memory_xfer(r, &m, CAPACITY);
        expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, n, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    }
    drail_rail_stats_t s = rail_stats(r, 0);
    check(s.busy_ns > 0 && s.measured_MBps > 0);
    memory_close(r, &m);
}

static void several(drail_config_t *cfg)
{
    cfg->eps = EPS;
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void several_one_rail(drail_config_t *cfg)
{
    several(cfg);
    cfg->nrails = 1;
}

static void shallow(drail_config_t *cfg)
{
    several(cfg);
    cfg->depth = 4;
    cfg->stripe_threshold = 0;
}

static const struct test tests[] = {
    {"striped", 2, striped, several, 0},
    {"striped, 1 rail", 2, striped, several_one_rail, 0},
    {"in turn", 2, in_turn, several, 0},
    {"reads", 2, reads, several, 0},
    {"reads, any length, shallow", 2, reads, shallow, 0},
    {"adaptive", 2, adaptive, several, 0},
};

RUN_TESTS(tests)
