/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/prepare/buffers.h"
#include "coll/run/irregular/neighborhood.h"
#include "coll/run/irregular/offer.h"
#include "coll/run/node/deferred_release.h"

static size_t send_bytes(const dcoll_request_t *q)
{
    const dcoll_team_t *team = q->team;
    if (q->dealing.call_error)
        return 0; /* counts and places may be wrong */
    if (q->args.traffic)
        return elements_send_extent(&q->elements, team->shape.nranks);
    return dcoll_send_bytes(&q->args, team->shape.nranks, team->rank);
}

static size_t recv_bytes(const dcoll_request_t *q)
{
    const dcoll_team_t *team = q->team;
    if (q->dealing.call_error)
        return 0;
    if (q->args.traffic)
        return elements_extent(q);
    return dcoll_recv_bytes(&q->args, team->shape.nranks, team->rank);
}

/* Publishes the key of my buffer in node memory; peers read it after a flag of
 * the next start. Without a registration the key has only the address, for CMA.
 */
static void share(dcoll_request_t *q)
{
    dcoll_space_t space = q->args.in_place ? DCOLL_RECV : DCOLL_SEND;
    if (!q->schedule.shared)
        return;
    drail_key_t *key = &q->shared[q->team->rank - q->team->first].key;
    if (q->mem[space])
        drail_mem_key(q->mem[space], key);
    else
        *key = (drail_key_t){.address = (uintptr_t)q->base[space]};
}

/* Irregular calls use another range each time: memory of drail_mem_alloc()
 * needs no registration for it. Other memory is registered only while the call
 * is under way: nothing would tell when the user unmaps it. */
static int bind_memory(dcoll_request_t *q, dcoll_space_t space, size_t bytes,
                       unsigned access)
{
    drail_mem_t **mem = &q->mem[space];
    drail_t *rail = q->team->rail;
    if (bytes && q->args.traffic)
        *mem = drail_mem_find(rail, q->base[space], bytes,
                              access & DRAIL_ACCESS_ALL);
    return !bytes || *mem
               ? 0
               : drail_mem_register(rail, q->base[space], bytes, access, mem);
}

/* Registering SEND in each call takes longer than CMA, so it is registered only
 * if ranks cannot read each other's memory. */
static int bind_offered(dcoll_request_t *q, unsigned access)
{
    const dcoll_team_t *team = q->team;
    drail_mem_t **mem = &q->mem[DCOLL_SEND];
    size_t bytes = team->rails_map ? offer_extent(q, true) : 0;
    if (bytes)
        *mem = drail_mem_find(team->rail, q->base[DCOLL_SEND], bytes,
                              access & DRAIL_ACCESS_ALL);
    q->dealing.mapped = *mem;
    if (*mem || team->readable)
        return 0;
    return bind_memory(q, DCOLL_SEND, offer_extent(q, false), access);
}

/* If ranks of a node only get from each other: memory of drail_mem_alloc() goes
 * over the rails, other memory through CMA. False: it must be registered. */
static bool binds_found(dcoll_request_t *q, dcoll_space_t space, size_t bytes,
                        unsigned access)
{
    const dcoll_team_t *team = q->team;
    if (!q->pulls || q->owner == OWNER_CALLER || !team->readable)
        return false;
    if (bytes)
        q->mem[space] =
            drail_mem_find(team->rail, q->base[space], bytes, access);
    return true;
}

static int bind_send(dcoll_request_t *q, unsigned reading)
{
    unsigned access = DRAIL_ACCESS_READ_ONLY | reading;
    if (!q->uses_send || !q->base[DCOLL_SEND] ||
        binds_found(q, DCOLL_SEND, send_bytes(q), reading))
        return 0;
    if (q->args.traffic && !q->algorithm->placed)
        return bind_offered(q, access);
    return bind_memory(q, DCOLL_SEND, send_bytes(q), access);
}

/* An offer may be got over a rail if RECV is memory of drail_mem_alloc(). */
static int bind_recv(dcoll_request_t *q, unsigned reading)
{
    const dcoll_team_t *team = q->team;
    bool picks = q->traffic.labelled && !q->algorithm->placed;
    size_t bytes = q->base[DCOLL_RECV] ? recv_bytes(q) : 0;
    unsigned found = q->args.in_place ? reading : DRAIL_ACCESS_LOCAL;
    if (q->uses_recv && binds_found(q, DCOLL_RECV, bytes, found))
        return 0;
    if (q->uses_recv)
        return bind_memory(q, DCOLL_RECV, bytes,
                           DRAIL_ACCESS_REMOTE_WRITE | reading);
    if (bytes && picks && team->readable && team->rails_map)
        q->mem[DCOLL_RECV] =
            drail_mem_find(team->rail, q->base[DCOLL_RECV], bytes, 0);
    return 0;
}

int request_bind(dcoll_request_t *q, const void *send, void *recv)
{
    unsigned reading = q->schedule.shared ? DRAIL_ACCESS_REMOTE_READ : 0;
    q->base[DCOLL_SEND] = (unsigned char *)send;
    q->base[DCOLL_RECV] = recv;
    int rc = bind_send(q, reading);
    if (!rc)
        rc = bind_recv(q, reading);
    if (rc)
        return team_rail_fail(q->team, rc);
    if (q->mine && q->mem[DCOLL_RECV] && !q->algorithm->placed)
        drail_mem_key(q->mem[DCOLL_RECV], &q->mine->key);
    share(q);
    return 0;
}

/* Packed blocks stay as long as peers may access them. rc: a peer still does,
 * so they stay for good. A persistent request starts again; one that has failed
 * keeps them until it is destroyed. */
static void leave_neighborhood(dcoll_request_t *q, int rc)
{
    if (!rc && (q->owner == OWNER_CALLER || q->active))
        return;
    if (!rc)
        neighborhood_close(q->neighborhood);
    q->neighborhood = NULL;
}

int request_unbind(dcoll_request_t *q)
{
    int rc = 0;
    for (dcoll_space_t s = DCOLL_SEND; s <= DCOLL_RECV; s++) {
        if (!q->mem[s])
            continue;
        int failed = release_users(q->team, q->mem[s]);
        rc = rc ? rc : failed;
        q->mem[s] = NULL;
    }
    leave_neighborhood(q, rc);
    return rc;
}
