/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts that nobody waits for ask for no event of their own, and so need no
 * acknowledgement each; a fence waits for them all the same. Looks at the
 * provider's calls.
 */
#include "memory.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define PUTS  8u /* fewer than a quarter of a queue */
#define BYTES 64u

static _Atomic unsigned asked;

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    asked += !(flags & DAT_COMPLETION_SUPPRESS_FLAG);
    return real(dat_ep_post_rdma_write)(ep, n, local, cookie, remote, flags);
}

static void put_some(struct rank *r, struct memory *m)
{
    drail_xfer_t x = memory_xfer(r, m, BYTES);
    memset(m->bytes, 7, BYTES);
    unsigned before = asked;
    for (unsigned n = 0; n < PUTS; n++)
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
    check(asked == before);
    expect(r, 0, drail_fence(r->t, 1));
    check(asked > before);
}

static void fenced(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, BYTES);
    if (r->rank == 0)
        put_some(r, &m);
    barrier(r);
    for (size_t i = 0; i < BYTES; i++)
        check(m.bytes[i] == 7);
    memory_close(r, &m);
}

/* The last of them has asked: nothing is asked again. */
static void asked_before(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, BYTES);
    drail_xfer_t x = memory_xfer(r, &m, BYTES);
    if (r->rank == 0) {
        drail_req_t req;
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, &req));
        unsigned before = asked;
        expect(r, 0, drail_fence(r->t, 1));
        check(asked == before);
        expect(r, 0, drail_wait(r->t, &req, -1));
    }
    memory_close(r, &m);
}

/* Room comes back without a fence. */
static void many(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, BYTES);
    drail_xfer_t x = memory_xfer(r, &m, BYTES);
    if (r->rank == 0) {
        for (unsigned n = 0; n < 1000; n++)
            expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
        expect(r, 0, drail_fence(r->t, 1));
    }
    memory_close(r, &m);
}

static void single(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_SINGLE;
}

static void striped(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
}

static const struct test tests[] = {
    {"fenced, single", 2, fenced, single, 0},
    {"fenced, striped", 2, fenced, striped, 0},
    {"asked before", 2, asked_before, single, 0},
    {"many", 2, many, striped, 0},
};

RUN_TESTS(tests)
