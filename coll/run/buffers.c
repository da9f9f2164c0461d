/* SPDX-License-Identifier: BSD-3-Clause */
/* Users' memory. */
#include "coll/run/buffers.h"
#include "coll/run/leftovers.h"
#include "coll/run/offer.h"

static size_t send_bytes(const dcoll_request_t *q)
{
    const dcoll_team_t *team = q->team;
    if (q->args.traffic)
        return q->algorithm->placed
                   ? elements_send_extent(&q->elements, team->shape.nranks)
                   : offer_extent(q);
    return q->args.bytes *
           dcoll_send_blocks(&q->args, team->shape.nranks, team->rank);
}

static size_t recv_bytes(const dcoll_request_t *q)
{
    const dcoll_team_t *team = q->team;
    if (q->args.traffic)
        return elements_extent(q);
    return q->args.bytes *
           dcoll_recv_blocks(&q->args, team->shape.nranks, team->rank);
}

/* Peers read the key after a flag of the start that follows. */
static void share(dcoll_request_t *q)
{
    const drail_mem_t *mem = q->mem[q->args.in_place ? DCOLL_RECV : DCOLL_SEND];
    if (q->schedule.shared && mem)
        drail_mem_key(mem, &q->shared[q->team->rank - q->team->first].key);
}

int request_bind(dcoll_request_t *q, const void *send, void *recv)
{
    drail_t *rail = q->team->rail;
    unsigned reading = q->schedule.shared ? DRAIL_ACCESS_REMOTE_READ : 0;
    int rc = 0;
    q->base[DCOLL_SEND] = (unsigned char *)send;
    q->base[DCOLL_RECV] = recv;
    if (q->uses_send && send && send_bytes(q))
        rc = drail_mem_register(rail, (void *)send, send_bytes(q),
                                DRAIL_ACCESS_READ_ONLY | reading,
                                &q->mem[DCOLL_SEND]);
    if (!rc && q->uses_recv && recv && recv_bytes(q))
        rc = drail_mem_register(rail, recv, recv_bytes(q),
                                DRAIL_ACCESS_REMOTE_WRITE | reading,
                                &q->mem[DCOLL_RECV]);
    if (rc)
        return team_rail_fail(q->team, rc);
    if (q->mine && q->mem[DCOLL_RECV] && !q->algorithm->placed)
        drail_mem_key(q->mem[DCOLL_RECV], &q->mine->key);
    share(q);
    return 0;
}

int request_unbind(dcoll_request_t *q)
{
    int rc = 0;
    for (dcoll_space_t s = DCOLL_SEND; s <= DCOLL_RECV; s++) {
        if (!q->mem[s])
            continue;
        int failed = leftovers_release(q->team, q->mem[s], NULL);
        rc = rc ? rc : failed;
        q->mem[s] = NULL;
    }
    return rc;
}
