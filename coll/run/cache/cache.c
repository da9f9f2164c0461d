/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "coll/run/prepare/buffers.h"
#include "coll/run/prepare/choose.h"
#include "coll/run/prepare/create.h"
#include "coll/run/cache/cache.h"

#define CACHE_REQUESTS 512u
#define CACHE_FILES    256u /* the usual limit of a process is 1024 */

/* Neither has traffic, or both have the same bounds. */
static bool same_traffic(const dcoll_traffic_t *a, const dcoll_traffic_t *b)
{
    if (!a || !b)
        return a == b;
    return a->element == b->element && a->max_pair == b->max_pair &&
           a->max_rank == b->max_rank && a->labelled == b->labelled;
}

/* Equal blocks, or the same sizes. */
static bool same_blocks(const dcoll_request_t *q, const dcoll_args_t *args)
{
    if (!q->begin || !args->begin)
        return q->begin == args->begin;
    return !memcmp(q->begin, args->begin,
                   (q->team->shape.nranks + 1) * sizeof *q->begin);
}

/* Of algorithms that divide work by ports. */
static bool same_ports(const dcoll_request_t *q, const dcoll_args_t *args)
{
    if (!q->algorithm->by_ports || !q->port_begin || !args->port_begin)
        return !q->algorithm->by_ports || (!q->port_begin && !args->port_begin);
    return !memcmp(q->port_begin, args->port_begin,
                   (q->team->shape.nranks + 1) * sizeof *q->port_begin);
}

/* Of algorithms whose schedules are for these counts only. */
static bool same_counts(const dcoll_request_t *q, const dcoll_args_t *args)
{
    const size_t n = q->team->shape.nranks;
    return !q->algorithm->by_counts ||
           !memcmp(q->counts, args->traffic->counts, n * n * sizeof *q->counts);
}

static bool serves(const dcoll_request_t *q, const dcoll_args_t *args,
                   const dcoll_algorithm_t *algorithm, enum owner owner)
{
    const dcoll_args_t *a = &q->args;
    return q->owner == owner && q->algorithm == algorithm &&
           a->collective == args->collective && a->bytes == args->bytes &&
           a->element == args->element && a->commutes == args->commutes &&
           a->root == args->root && a->in_place == args->in_place &&
           a->zero_copy == args->zero_copy && a->ports == args->ports &&
           same_blocks(q, args) && same_ports(q, args) &&
           same_traffic(a->traffic, args->traffic) && same_counts(q, args);
}

static dcoll_request_t *use(dcoll_request_t *q)
{
    TAILQ_REMOVE(&q->team->requests, q, used);
    TAILQ_INSERT_HEAD(&q->team->requests, q, used);
    return q;
}

dcoll_request_t *cache_find(dcoll_team_t *team, const dcoll_args_t *args,
                            const dcoll_algorithm_t *algorithm)
{
    dcoll_request_t *q;
    TAILQ_FOREACH(q, &team->requests, used)
    if (serves(q, args, algorithm, OWNER_BLOCKING))
        return use(q);
    return NULL;
}

dcoll_request_t *cache_peek_next(dcoll_team_t *team, const dcoll_args_t *args,
                                 const dcoll_algorithm_t *algorithm)
{
    unsigned equal = 0;
    dcoll_request_t *q;
    TAILQ_FOREACH(q, &team->requests, used)
    if (serves(q, args, algorithm, OWNER_NONBLOCKING) && ++equal == ROTATION)
        return q;
    return NULL;
}

dcoll_request_t *cache_take_next(dcoll_team_t *team, const dcoll_args_t *args,
                                 const dcoll_algorithm_t *algorithm)
{
    dcoll_request_t *q = cache_peek_next(team, args, algorithm);
    return q ? use(q) : NULL;
}

/* Compares only pointers and numbers: what the pointers of the earlier call
 * lead to belongs to the caller and may have changed. */
static bool repeats(const struct repeat *repeat, const dcoll_call_t *call)
{
    const dcoll_request_t *q = repeat->request;
    const dcoll_reduction_t *r = call->reduction;
    return repeat->send == call->send && repeat->recv == call->recv &&
           repeat->bytes == call->bytes && repeat->root == call->root &&
           (repeat->chosen ? choice_is_auto(call->algorithm)
                           : call->algorithm && !strcmp(call->algorithm,
                                                        q->algorithm->name)) &&
           (!q->args.element ||
            (r && r->combine && r->element == q->args.element &&
             r->commutes == q->args.commutes));
}

/* Another call may have bound other buffers to the request since. */
static dcoll_request_t *start_again(const struct repeat *repeat,
                                    const dcoll_call_t *call)
{
    dcoll_request_t *q = repeat->request;
    q->base[DCOLL_SEND] = repeat->base[DCOLL_SEND];
    q->base[DCOLL_RECV] = repeat->base[DCOLL_RECV];
    if (q->args.element)
        q->reduction = *call->reduction;
    return q == TAILQ_FIRST(&q->team->requests) ? q : use(q);
}

dcoll_request_t *cache_repeat(dcoll_team_t *team, const dcoll_call_t *call)
{
    if (!call || (unsigned)call->collective >= DCOLL_COLLECTIVES ||
        call->counts || team->broken)
        return NULL;
    const struct repeat *repeat = team->repeats[call->collective];
    for (unsigned i = 0; i < REPEATS; i++, repeat++)
        if (repeat->request && repeats(repeat, call) &&
            repeat->engine == drail_config_of(team->rail)->engine)
            return start_again(repeat, call);
    return NULL;
}

/* It takes the place of the oldest call, or of one that is forgotten. Not if
 * the ranks may plan the same call anew (ports_left.h): only those that use the
 * same buffers again would start the old request. */
void cache_remember(dcoll_request_t *q, const dcoll_call_t *call)
{
    struct repeat *known = q->team->repeats[call->collective];
    unsigned last = 0;
    if (q->uses_send || q->uses_recv || q->schedule.shared || q->begin ||
        q->algorithm->by_ports)
        return;
    while (last + 1 < REPEATS && known[last].request)
        last++;
    memmove(&known[1], &known[0], last * sizeof *known);
    known[0] = (struct repeat){
        .send = call->send,
        .recv = call->recv,
        .bytes = call->bytes,
        .root = call->root,
        .engine = drail_config_of(q->team->rail)->engine,
        .chosen = choice_is_auto(call->algorithm),
        .request = q,
        .base = {q->base[DCOLL_SEND], q->base[DCOLL_RECV]},
    };
}

static void forget(const dcoll_request_t *q)
{
    if (q->args.traffic)
        return;
    struct repeat *repeat = q->team->repeats[q->args.collective];
    for (unsigned i = 0; i < REPEATS; i++)
        if (repeat[i].request == q)
            repeat[i].request = NULL;
}

static void drop(dcoll_request_t *q)
{
    forget(q);
    if (q->handles)
        q->owner = OWNER_DROPPED;
    else
        request_destroy(q);
}

void cache_trim(dcoll_team_t *team)
{
    size_t bytes = 0;
    unsigned number = 0, files = 0;
    dcoll_request_t *q = TAILQ_FIRST(&team->requests), *next;
    for (; q; q = next) {
        next = TAILQ_NEXT(q, used);
        if (q->owner != OWNER_BLOCKING && q->owner != OWNER_NONBLOCKING)
            continue;
        if (!number++)
            continue; /* the latest */
        bytes += q->footprint.bytes;
        files += q->footprint.files;
        if (bytes > team->cfg.keep_bytes || number > CACHE_REQUESTS ||
            files > CACHE_FILES)
            drop(q);
    }
}

int cache_return(dcoll_request_t *q)
{
    int rc = request_unbind(q);
    if (q->handles)
        q->handles--;
    if (!q->handles && q->owner == OWNER_DROPPED)
        request_destroy(q);
    return rc;
}
