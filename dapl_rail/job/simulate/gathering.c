/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/simulate/gathering.h"
#include "dapl_rail/job/transports.h"

#define SERVE_MS 20 /* between looks whether a peer waits for the rank */

/* The result of a round, while a rank uses it or has still to arrive. */
struct shared {
    unsigned users; /* ranks; and one for the round until it is complete */
    int status;     /* DRAIL_EINVAL: contributions differ in length */
    size_t bytes;   /* of the first contribution */
    void *common;   /* see job_share.common */
    max_align_t all[];
};

/* For the largest contributions: pages that are not touched cost nothing. */
static size_t shared_bytes(const struct gathering *g)
{
    return sizeof(struct shared) + (size_t)g->ranks * JOB_GATHER_BYTES;
}

static struct shared *shared_of(void *all)
{
    return (void *)((char *)all - offsetof(struct shared, all));
}

static void **common(void *all)
{
    return &shared_of(all)->common;
}

static void drop(const struct gathering *g, struct shared *s)
{
    if (!s || --s->users)
        return;
    free(s->common);
    pages_free(s, shared_bytes(g));
}

static void release(void *context, void *all)
{
    const struct place *place = context;
    drop(place->gathering, shared_of(all));
}

/* The memory of this round, or NULL. */
static struct shared *shared_now(struct gathering *g)
{
    if (!g->shared && !g->no_memory) {
        g->shared = pages_new(shared_bytes(g));
        g->no_memory = !g->shared;
        if (g->shared)
            g->shared->users = 1;
    }
    return g->shared;
}

static void contribute(struct shared *s, unsigned rank, const void *mine,
                       size_t bytes)
{
    if (!s->bytes)
        s->bytes = bytes;
    if (bytes == s->bytes)
        memcpy((char *)s->all + rank * bytes, mine, bytes);
    else
        s->status = DRAIL_EINVAL;
}

/* The last rank has arrived. */
static void complete(struct gathering *g)
{
    gathering_end(g);
    g->arrived = 0;
    g->no_memory = false;
    g->round++;
    g->sim->wake(g);
}

/* Until the round is complete. The rank's transports make progress meanwhile,
 * but not without a reason: to look takes time, in which virtual time passes,
 * too. */
static int await_round(struct place *place, unsigned round, uint64_t until)
{
    const struct gathering *g = place->gathering;
    int ms = SERVE_MS;
    while (g->round == round) {
        uint64_t now = g->sim->now(), next = now + (uint64_t)ms * MS;
        if (place->job && drail_job_interrupted(place->job))
            return DRAIL_EINTR;
        if (now >= until)
            return DRAIL_ETIMEOUT;
        g->sim->wait(g, next < until ? next : until);
        uint64_t notices = g->sim->notices(place->rank);
        if (g->round != round || !place->job ||
            (notices == place->notices && ms == SERVE_MS))
            continue;
        place->notices = notices;
        ms = transports_serve(place->job, SERVE_MS);
    }
    return 0;
}

static int gather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms)
{
    struct place *place = context;
    struct gathering *g = place->gathering;
    unsigned round = g->round;
    uint64_t until = g->sim->now() + (uint64_t)timeout_ms * MS;
    struct shared *s = shared_now(g);
    if (!s)
        return DRAIL_ENOMEM;
    contribute(s, place->rank, mine, bytes);
    s->users++;
    if (++g->arrived == g->ranks)
        complete(g);
    int rc = await_round(place, round, until);
    if (!rc && s->status)
        rc = error_set(&place->job->error, s->status, JOB_SIZES_DIFFER);
    if (rc)
        drop(g, s);
    else
        *(void **)all = s->all;
    return rc;
}

const struct job_share gathering_share = {gather, release, common};

int gathering_allgather(void *context, const void *mine, size_t bytes,
                        void *all, int timeout_ms)
{
    const struct place *place = context;
    void *shared;
    int rc = gather(context, mine, bytes, &shared, timeout_ms);
    if (rc)
        return rc;
    memcpy(all, shared, bytes * place->gathering->ranks);
    release(context, shared);
    return 0;
}

void gathering_end(struct gathering *g)
{
    drop(g, g->shared);
    g->shared = NULL;
}
