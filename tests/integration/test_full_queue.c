/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider whose queues are shorter than it said: it refuses a DTO while the
 * transport sees room. The poster waits for events then. Stands in for the
 * provider at its own calls.
 */
#include <pthread.h>

#include "dapl_rail/batch.h"

#include "memory.h"
#include "no_direct.h"
#include "taken.h"

#define QUEUE  8u
#define WRITES 100u
#define BYTES  4096u

/* RDMA writes that are under way, by EP. */
static struct {
    DAT_EP_HANDLE ep;
    unsigned writes;
} queues[8];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_short; /* the queues are, from now on */
static _Atomic unsigned refusals;

static unsigned *writes_of(DAT_EP_HANDLE ep)
{
    unsigned i = 0;
    while (queues[i].ep && queues[i].ep != ep)
        i++;
    queues[i].ep = ep;
    return &queues[i].writes;
}

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    pthread_mutex_lock(&lock);
    unsigned *writes = writes_of(ep);
    bool full = is_short && *writes == QUEUE;
    *writes += !full;
    pthread_mutex_unlock(&lock);
    if (full) {
        refusals++;
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    }
    return real(dat_ep_post_rdma_write)(ep, n, local, cookie, remote, flags);
}

static void taken(const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (event->event_number != DAT_DTO_COMPLETION_EVENT ||
        dto->operation != DAT_DTO_RDMA_WRITE)
        return;
    pthread_mutex_lock(&lock);
    *writes_of(dto->ep_handle) = 0;
    pthread_mutex_unlock(&lock);
}

static drail_xfer_t begin(struct rank *r, struct memory *m)
{
    memory_open(r, m, BYTES);
    if (r->rank == 0)
        memset(m->bytes, 7, BYTES);
    is_short = true;
    return memory_xfer(r, m, BYTES);
}

static void end(struct rank *r, struct memory *m)
{
    barrier(r);
    check((refusals > 0) == (r->rank == 0));
    for (size_t i = 0; i < BYTES; i++)
        check(m->bytes[i] == 7);
    memory_close(r, m);
}

static void puts_in_a_row(struct rank *r)
{
    struct memory m;
    drail_xfer_t x = begin(r, &m);
    if (r->rank == 0) {
        for (unsigned n = 0; n < WRITES; n++)
            expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
        expect(r, 0, drail_fence(r->t, 1));
    }
    end(r, &m);
}

/* Without a look at the events between the writes. */
static void batch(struct rank *r)
{
    struct memory m;
    drail_batch_t ask = {.xfer = begin(r, &m), .count = WRITES};
    if (r->rank == 0)
        expect(r, 0, drail_batch(r->t, 1, &ask));
    else
        expect(r, 0, drail_batch_answer(r->t, 0, false, 0, NULL));
    end(r, &m);
}

static void shallow(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
    cfg->depth = 4; /* 16 requests, each fourth with an event */
}

static void threaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->stripe_threshold = 0;
    cfg->depth = 4; /* 16 requests, each fourth with an event */
}

static void single(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_SINGLE;
    cfg->depth = 4; /* 16 requests, each fourth with an event */
}

static const struct test tests[] = {
    {"nonthreaded", 2, puts_in_a_row, shallow, 0},
    {"batch, nonthreaded", 2, batch, shallow, 0},
    {"batch, threaded", 2, batch, threaded, 0},
    {"single", 2, puts_in_a_row, single, 0},
};

RUN_TESTS(tests)
