/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request that tells of its end has its cookie alone until then: what retires
 * one record never takes that of another, in whatever order the queues of a
 * slow and a fast rail fill and empty. Stands in for the provider at its own
 * calls.
 */
#include <pthread.h>

#include "conf.h"
#include "memory.h"
#include "no_direct.h"
#include "taken.h"

#define DEPTH  4u  /* so that 16 requests fill a queue */
#define OPS    40u /* more than both hold */
#define BYTES  4096u
#define ROUNDS 40u

static const char rails[] = RAIL("slow0", "rate=20");

/* Requests with an event that has not been taken. */
static struct {
    DAT_EP_HANDLE ep;
    uint64_t cookie;
} live[256];
static unsigned nlive, most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned find(DAT_EP_HANDLE ep, uint64_t cookie)
{
    unsigned i = 0;
    while (i < nlive && (live[i].ep != ep || live[i].cookie != cookie))
        i++;
    return i;
}

/* Before it is posted, as its event may be taken at once. */
static bool enter(DAT_EP_HANDLE ep, DAT_DTO_COOKIE cookie,
                  DAT_COMPLETION_FLAGS flags)
{
    if (flags & DAT_COMPLETION_SUPPRESS_FLAG)
        return false;
    pthread_mutex_lock(&lock);
    check(find(ep, cookie.as_64) == nlive);
    check(nlive < sizeof live / sizeof live[0]);
    live[nlive].ep = ep;
    live[nlive++].cookie = cookie.as_64;
    most = nlive > most ? nlive : most;
    pthread_mutex_unlock(&lock);
    return true;
}

static void leave(DAT_EP_HANDLE ep, uint64_t cookie)
{
    pthread_mutex_lock(&lock);
    unsigned i = find(ep, cookie);
    check(i < nlive);
    live[i] = live[--nlive];
    pthread_mutex_unlock(&lock);
}

static DAT_RETURN posted(DAT_RETURN status, bool entered, DAT_EP_HANDLE ep,
                         DAT_DTO_COOKIE cookie)
{
    if (entered && status != DAT_SUCCESS)
        leave(ep, cookie.as_64);
    return status;
}

#define POST_RDMA(name)                                                        \
    STAND_IN DAT_RETURN name(DAT_EP_HANDLE ep, DAT_COUNT n,                    \
                             DAT_LMR_TRIPLET *local, DAT_DTO_COOKIE cookie,    \
                             const DAT_RMR_TRIPLET *remote,                    \
                             DAT_COMPLETION_FLAGS flags)                       \
    {                                                                          \
        bool entered = enter(ep, cookie, flags);                               \
        return posted(real(name)(ep, n, local, cookie, remote, flags),         \
                      entered, ep, cookie);                                    \
    }
POST_RDMA(dat_ep_post_rdma_write)
POST_RDMA(dat_ep_post_rdma_read)

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    bool entered = enter(ep, cookie, flags);
    return posted(real(dat_ep_post_send)(ep, n, local, cookie, flags), entered,
                  ep, cookie);
}

static void taken(const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (event->event_number == DAT_DTO_COMPLETION_EVENT &&
        dto->operation != DAT_DTO_RECEIVE)
        leave(dto->ep_handle, dto->user_cookie.as_64);
}

/* The contents do not matter here. */
static void start(struct rank *r, const struct memory *m, unsigned n,
                  drail_req_t *req)
{
    drail_xfer_t x = memory_xfer(r, m, BYTES);
    x.local = m->bytes + BYTES;
    if (n % 2)
        expect(r, 0, drail_get(r->t, r->peer, &x, 0, req));
    else
        expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, n % 3 ? req : NULL));
}

static void in_a_loop(struct rank *r)
{
    struct memory m;
    drail_req_t reqs[OPS];
    memory_open(r, &m, 2 * (size_t)BYTES);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned n = 0; n < OPS; n++)
            start(r, &m, n, &reqs[n]);
        expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ALL_RAILS, round));
        for (unsigned n = 0; n < OPS; n++)
            if (n % 2 || n % 3)
                expect(r, 0, drail_wait(r->t, &reqs[n], -1));
        expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    }
    expect(r, 0, drail_fence(r->t, r->peer));
    check(most > 2 * DEPTH); /* or nothing was to be seen */
    memory_close(r, &m);
}

static void shallow(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->rails[1] = "slow0";
    cfg->depth = DEPTH;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
}

static void threaded(drail_config_t *cfg)
{
    shallow(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"nonthreaded", 2, in_a_loop, shallow, 0},
    {"threaded", 2, in_a_loop, threaded, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)
