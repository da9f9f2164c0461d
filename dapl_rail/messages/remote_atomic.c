/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/remote_atomic.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/rails/rail.h"
#include "providers/core/atomic.h"

uint64_t atomic_by_processor(const struct wire_atomic *a)
{
    return core_atomic((uint64_t *)(uintptr_t)a->address,
                       a->op == DRAIL_CMP_SWAP, a->operand, a->compare);
}

static bool complete(const struct slot *slot)
{
    return slot->bytes >= sizeof(struct wire) + sizeof(struct wire_atomic);
}

static bool may_serve(const struct link *link, const struct wire_atomic *a)
{
    return a->address % 8 == 0 &&
           key_grants(link->rail->owner, link->rail->index, a->rmr_context,
                      a->address, 8, DRAIL_ACCESS_REMOTE_ATOMIC);
}

/* May another rank use the provider's atomics on this memory? They are not
 * atomic with those of this file. A peer connected over the common rail may at
 * any time. */
static bool provider_may_serve(const struct link *link)
{
    const drail_t *t = link->rail->owner;
    uint32_t common = t->common;
    if (!common || common & RAIL_BIT(link->rail->index) ||
        !t->rails[__builtin_ctz(common)].atomics)
        return false;
    for (const struct peer *peer = t->met; peer; peer = peer->next) {
        unsigned at = 0;
        if (peer_next(peer, common, &at))
            return true;
    }
    return false;
}

static void serve(const struct link *link, struct wire_atomic *a)
{
    a->status = 0;
    if (!may_serve(link, a))
        a->status = DRAIL_EACCESS;
    else if (provider_may_serve(link))
        a->status = DRAIL_ENOTSUP;
    else
        a->old = atomic_by_processor(a);
}

const char *atomic_asked(struct slot *slot)
{
    const struct wire reply = {.type = WIRE_ATOMIC_REPLY};
    struct wire_atomic a;
    if (!complete(slot))
        return "length of an atomic";
    slot_read(slot, sizeof(struct wire), &a, sizeof a);
    if (a.op != DRAIL_FETCH_ADD && a.op != DRAIL_CMP_SWAP)
        return "operation of an atomic";
    int rc = link_may_reply(slot->link); /* before it is executed */
    if (!rc) {
        serve(slot->link, &a);
        rc = link_reply(slot->link, REPLY_ATOMIC, &reply, &a, sizeof a);
    }
    if (rc) /* not the peer's fault */
        link_down(slot->link, rc, "out of memory");
    else
        slot_return(slot, true);
    return NULL;
}

const char *atomic_answered(struct slot *slot)
{
    struct mailbox *mail = slot->link->peer->mail;
    if (!complete(slot))
        return "length of an atomic";
    struct wire_atomic a;
    slot_read(slot, sizeof(struct wire), &a, sizeof a);
    /* any other answer is ignored */
    if (a.id == mail->asked) {
        mail->answer = a;
        atomic_store_explicit(&mail->answered, a.id, memory_order_release);
    }
    slot_return(slot, false);
    return NULL;
}
