/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "coll/run/prepare/exchange.h"
#include "coll/run/prepare/buffers.h"
#include "coll/run/prepare/create.h"
#include "coll/run/irregular/neighborhood.h"
#include "coll/run/node/deferred_release.h"
#include "coll/run/prepare/entry_barrier.h"
#include "coll/run/prepare/local.h"
#include "coll/run/execute/wait.h"
#include "coll/run/prepare/skip.h"

/* Completes the starts under way: other ranks may wait for them before they
 * come to the entry barrier. Starts without order are not waited for: other
 * ranks may make them only after they have prepared the present request. */
static int finish_started(dcoll_team_t *team)
{
    int rc = 0;
    dcoll_request_t *q = TAILQ_FIRST(&team->active);
    while (!rc && q) {
        if (!request_is_ordered(q)) {
            q = TAILQ_NEXT(q, active_one);
            continue;
        }
        rc = request_finish(q, team->timeout_ms);
        q = TAILQ_FIRST(&team->active);
    }
    return rc;
}

/* Credits between nodes may fill at most half of the transport's queues. */
static unsigned depth_of(const dcoll_team_t *team, const dcoll_args_t *args,
                         const dcoll_algorithm_t *algorithm)
{
    const unsigned queue = drail_config_of(team->rail)->depth;
    unsigned depth =
        dcoll_depth(algorithm, &team->shape, args->bytes, args->depth);
    if (algorithm->ahead == DCOLL_AHEAD_NOTES)
        while (depth > 2 && depth > queue / 2)
            depth /= 2;
    return depth;
}

/* The request keeps its own copy of what the arguments point to. */
static bool keep_args(dcoll_request_t *q, const dcoll_args_t *args,
                      unsigned nranks)
{
    const size_t bytes = (nranks + 1) * sizeof *q->begin;
    const size_t ports = (nranks + 1) * sizeof *q->port_begin;
    const size_t counts = (size_t)nranks * nranks * sizeof *q->counts;
    q->args = *args;
    if (args->traffic) {
        q->traffic = *args->traffic;
        q->args.traffic = &q->traffic;
    }
    if (args->traffic && args->traffic->counts) {
        q->traffic.counts = q->counts = malloc(counts);
        if (!q->counts)
            return false;
        memcpy(q->counts, args->traffic->counts, counts);
    }
    if (args->port_begin) {
        q->args.port_begin = q->port_begin = malloc(ports);
        if (!q->port_begin)
            return false;
        memcpy(q->port_begin, args->port_begin, ports);
    }
    if (!args->begin)
        return true;
    q->begin = malloc(bytes);
    q->args.begin = q->begin;
    return q->begin && memcpy(q->begin, args->begin, bytes);
}

static void free_new(dcoll_request_t *q)
{
    if (!q)
        return;
    free(q->begin);
    free(q->port_begin);
    free(q->counts);
    free(q);
}

int request_create(dcoll_team_t *team, const dcoll_args_t *args,
                   const dcoll_algorithm_t *algorithm, enum owner owner,
                   dcoll_request_t **out)
{
    struct needs needs = {0};
    bool known = false;
    struct segment_locator locator = {0};
    dcoll_request_t *q = calloc(1, sizeof *q);
    /* allocated before the barrier: there the others learn of an error */
    struct request_gather gather;
    int rc = request_gather_new(team->job, &gather) || !q ||
                     !keep_args(q, args, team->shape.nranks)
                 ? team_fail(team, DRAIL_ENOMEM, "no memory for a request")
                 : finish_started(team);
    if (!rc)
        rc = skips_settle(team);
    if (rc) {
        request_gather_free(&gather);
        free_new(q);
        return ledger_break_if(team, rc);
    }
    q->team = team;
    q->owner = owner;
    q->args.depth = depth_of(team, args, algorithm);
    q->algorithm = algorithm;
    q->node = SEGMENT_NONE;
    q->call = call_of(args, algorithm, team->shape.nranks, true);
    q->id = team->next_id;
    team->next_id = (q->id + 1) % REQUEST_IDS;
    ledger_append(team->ledger, &q->call);
    TAILQ_INSERT_HEAD(&team->requests, q, used);
    LIST_INSERT_HEAD(&team->by_id[q->id % REQUEST_BUCKETS], q, same_bucket);
    rc = entry_barrier(q);
    if (!rc) {
        rc = prepare_local(q, &needs, &locator);
        rc = prepare_exchange(q, rc, &needs, &locator, &gather, &known);
    }
    request_gather_free(&gather);
    if (rc) {
        if (!known)
            ledger_break(team, rc); /* other ranks may wait for this one */
        request_destroy(q);
        return rc;
    }
    q->call = call_of(args, algorithm, team->shape.nranks, false);
    *out = q;
    return 0;
}

int request_destroy(dcoll_request_t *q)
{
    deferred_release_retry(q->team);
    TAILQ_REMOVE(&q->team->requests, q, used);
    LIST_REMOVE(q, same_bucket);
    if (q->active)
        TAILQ_REMOVE(&q->team->active, q, active_one);
    for (unsigned i = q->completed; i < q->transfers; i++)
        drail_forget(q->team->rail, &q->reqs[i]);
    int rc = request_unbind(q);
    request_hollow(q, DCOLL_NODE, false); /* may fail: it is unmapped */
    release_or_defer(q->team, q->mem[DCOLL_NODE], &q->node);
    if (!request_hollow(q, DCOLL_TEMP, false)) /* else it can't be reused */
        release_or_defer(q->team, pool_give(&q->team->pool, q->memory), NULL);
    dcoll_schedule_free(&q->schedule);
    free(q->reqs);
    partners_free(&q->partners);
    free(q->seen);
    free(q->creditors);
    dealing_close(&q->dealing);
    neighborhood_close(q->neighborhood);
    free_new(q);
    return rc;
}
