/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64-bit atomics over rail 0: the IB extension where the provider has it,
 * else a message that the target serves inside its own calls.
 */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/atomic.h"
#include "dapl_rail/rails/rail.h"

/* The one rail on which atomics of all ranks meet. */
#define ATOMIC_RAIL 0

static int answer_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct link *link = arg;
    (void)t;
    *owed = RAIL_BIT(ATOMIC_RAIL);
    return link->answered ? 1 : link->state == LINK_DOWN ? link->error : 0;
}

static int by_message(drail_t *t, struct peer *peer, struct link *link,
                      struct wire_atomic *ask, uint64_t *old)
{
    struct wire wire = {.type = WIRE_ATOMIC};
    int rc = links_reserve(t, peer, RAIL_BIT(ATOMIC_RAIL), t->cfg.timeout_ms);
    link->answered = false;
    if (!rc)
        rc = link_send(link, &wire, ask, sizeof *ask, NULL);
    if (rc)
        return rc;
    rc = progress_wait(t, answer_owed, link, t->cfg.timeout_ms);
    if (rc) { /* its answer must not be taken for the next one's */
        link_down(link, rc, "an atomic did not end");
        return rc;
    }
    *old = link->answer.old;
    if (link->answer.status)
        return fail(t, DRAIL_EACCESS, "rank %u refused the atomic", peer->rank);
    return 0;
}

static int by_extension(drail_t *t, struct peer *peer, struct link *link,
                        const struct wire_atomic *ask, uint64_t *old)
{
    drail_req_t req;
    volatile uint64_t *result =
        (volatile uint64_t *)(link->buffers + link->buffers_bytes - 8);
    struct completion done = {.req = req_of(&req)};
    struct dto d = {
        .verb = ask->op == DRAIL_FETCH_ADD ? VERB_FETCH_ADD : VERB_CMP_SWAP,
        .local = {.virtual_address = (uintptr_t)result,
                  .segment_length = 8,
                  .lmr_context = link->lmr_context},
        .remote = {.virtual_address = ask->address,
                   .segment_length = 8,
                   .rmr_context = ask->rmr_context},
        .operand = ask->operand,
        .compare = ask->compare,
    };
    req_start(&req, peer, RAIL_BIT(ATOMIC_RAIL));
    int rc = link_post(link, &d, &done);
    if (!rc)
        rc = progress_wait(t, req_owed, req_of(&req), t->cfg.timeout_ms);
    if (!rc)
        *old = *result;
    else if (link->state != LINK_DOWN)
        /* its event must not find the request that ends here */
        link_down(link, rc, "an atomic did not end");
    return rc;
}

int drail_atomic(drail_t *t, unsigned rank, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t remote_offset,
                 uint64_t operand, uint64_t compare, uint64_t *old)
{
    int rc;
    uint64_t result = 0;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    if (!remote || remote->nrails != t->nrails || remote->bytes < 8 ||
        remote_offset > remote->bytes - 8 ||
        (remote->address + remote_offset) % 8 ||
        (op != DRAIL_FETCH_ADD && op != DRAIL_CMP_SWAP))
        return fail(t, DRAIL_EINVAL,
                    "drail_atomic: operation %d at offset %lu (8 aligned bytes "
                    "within the remote memory)",
                    op, (unsigned long)remote_offset);
    struct link *link = peer->links[ATOMIC_RAIL];
    struct wire_atomic ask = {
        .op = op,
        .rmr_context = remote->rmr_context[ATOMIC_RAIL],
        .address = remote->address + remote_offset,
        .operand = operand,
        .compare = compare,
    };
    rc = link->rail->atomics ? by_extension(t, peer, link, &ask, &result)
                             : by_message(t, peer, link, &ask, &result);
    if (rc)
        return outcome(t, peer, rc, "drail_atomic");
    if (old)
        *old = result;
    return 0;
}

void atomic_serve(struct slot *slot)
{
    struct link *link = slot->link;
    struct wire_atomic *reply = &link->reply;
    *reply = *(const struct wire_atomic *)(slot->data + sizeof(struct wire));
    uint64_t *at = (uint64_t *)(uintptr_t)reply->address;
    if (reply->address % 8 ||
        !region_of_key(link->rail->owner, link->rail->index, reply->rmr_context,
                       reply->address, 8)) {
        reply->status = DRAIL_EACCESS;
    } else if (reply->op == DRAIL_FETCH_ADD) {
        reply->old = __atomic_fetch_add(at, reply->operand, __ATOMIC_SEQ_CST);
    } else {
        reply->old = reply->compare;
        __atomic_compare_exchange_n(at, &reply->old, reply->operand, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    link->reply_due = true;
    link_pay(link);
}
