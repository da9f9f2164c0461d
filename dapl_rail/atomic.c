/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drail_atomic: 64-bit atomics over the first rail that all ranks share, by the
 * IB extension if the provider has it, else by a message that the target serves
 * inside its own calls. If no rail is shared by all, they go by message, too:
 * atomics of different adapters are not atomic with each other.
 */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/outcome.h"
#include "dapl_rail/own_atomic.h"

/* The link over the shared rail, or else the first link, for messages: a peer
 * of this host may be reached only outside it. */
static struct link *atomic_link(const drail_t *t, const struct peer *peer)
{
    uint32_t common = t->common & peer->rails;
    return peer_link(peer,
                     (unsigned)__builtin_ctz(common ? common : peer->rails), 0);
}

/* The rail offers no atomics, or not all ranks share it. */
static bool goes_by_message(const drail_t *t, unsigned rail)
{
    return !t->rails[rail].atomics || !(t->common & RAIL_BIT(rail));
}

bool drail_serves_atomics(const drail_t *t)
{
    return !t->common || goes_by_message(t, (unsigned)__builtin_ctz(t->common));
}

/* A DTO or a message that is posted when there is room. */
struct posting {
    struct link *link;
    struct dto *dto; /* NULL: a message */
    struct wire *wire;
    const struct wire_atomic *ask;
    const struct completion *done;
};

static int try_post(drail_t *t, void *arg, uint32_t *owed)
{
    const struct posting *p = arg;
    (void)t;
    *owed = RAIL_BIT(p->link->rail->index);
    int rc = p->dto ? link_post(p->link, p->dto, p->done)
                    : link_send(p->link, p->wire, p->ask, sizeof *p->ask, NULL);
    return rc == DRAIL_EAGAIN ? 0 : rc ? rc : 1;
}

static int answer_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct peer *peer = arg;
    const struct mailbox *mail = peer->mail;
    const struct link *link = atomic_link(t, peer);
    *owed = RAIL_BIT(link->rail->index);
    if (atomic_load_explicit(&mail->answered, memory_order_acquire) ==
        mail->asked)
        return 1;
    return link->state >= LINK_DOWN ? link->error : 0;
}

static int by_message(drail_t *t, struct peer *peer, struct link *link,
                      struct wire_atomic *ask, uint64_t *old)
{
    struct mailbox *mail = peer->mail;
    struct wire wire = {.type = WIRE_ATOMIC};
    struct posting posting = {.link = link, .wire = &wire, .ask = ask};
    /* one at a time: this rank may have given up waiting for the last one */
    int rc = progress_wait_for(peer, answer_owed, peer, t->cfg.timeout_ms);
    if (!rc)
        rc = links_reserve(t, peer, RAIL_BIT(link->rail->index), EP_BIT(0),
                           t->cfg.timeout_ms);
    if (rc)
        return rc;
    ask->id = ++mail->asked;
    rc = progress_wait_for(peer, try_post, &posting, t->cfg.timeout_ms);
    if (rc) {
        mail->asked--;
        link_unreserve(link);
        return rc;
    }
    rc = progress_wait_for(peer, answer_owed, peer, t->cfg.timeout_ms);
    if (rc)
        return rc;
    *old = mail->answer.old;
    if (mail->answer.status == DRAIL_ENOTSUP)
        return fail(t, DRAIL_ENOTSUP,
                    "rank %u is reached outside its host, and others inside "
                    "it: atomics of the two would not know of one another",
                    peer->rank);
    if (mail->answer.status)
        return fail(t, DRAIL_EACCESS, "rank %u refused the atomic", peer->rank);
    return 0;
}

static int by_extension(drail_t *t, struct peer *peer, struct link *link,
                        const struct wire_atomic *ask, uint64_t *old)
{
    drail_req_t req;
    volatile uint64_t *result =
        (volatile uint64_t *)(link->slots.buffers + link->slots.buffers_bytes -
                              8);
    struct completion done = {.ended = req_part_ended, .req = req_of(&req)};
    struct dto d = {
        .verb = ask->op == DRAIL_FETCH_ADD ? VERB_FETCH_ADD : VERB_CMP_SWAP,
        .local = {.virtual_address = (uintptr_t)result,
                  .segment_length = 8,
                  .lmr_context = link->slots.lmr_context},
        .remote = {.virtual_address = ask->address,
                   .segment_length = 8,
                   .rmr_context = ask->rmr_context},
        .operand = ask->operand,
        .compare = ask->compare,
    };
    struct posting posting = {.link = link, .dto = &d, .done = &done};
    req_start(req_of(&req), peer, RAIL_BIT(link->rail->index), 1);
    int rc = progress_wait_for(peer, try_post, &posting, t->cfg.timeout_ms);
    if (rc)
        return rc;
    rc = progress_wait_for(peer, req_owed, req_of(&req), t->cfg.timeout_ms);
    if (rc == DRAIL_EPEER && !atomic_load(&peer->error))
        rc = fail(t, rc,
                  "rank %u: %s was lost under an atomic, which may have been "
                  "carried out or not",
                  peer->rank, link->rail->info.name);
    if (!rc)
        *old = *result;
    else /* its event must not write to the request, which ends here */
        link_forget(link, req_of(&req), NULL);
    return rc;
}

static int on_peer(drail_t *t, struct peer *peer, const drail_key_t *remote,
                   struct wire_atomic *ask, uint64_t *old)
{
    struct link *link = atomic_link(t, peer);
    unsigned at = link->rail->index;
    ask->rmr_context = remote->rmr_context[at];
    int rc = goes_by_message(t, at) ? by_message(t, peer, link, ask, old)
                                    : by_extension(t, peer, link, ask, old);
    return rc ? outcome(t, peer, rc, "drail_atomic") : 0;
}

int drail_atomic(drail_t *t, unsigned rank, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t remote_offset,
                 uint64_t operand, uint64_t compare, uint64_t *old)
{
    int rc = 0;
    uint64_t result = 0;
    const bool own = t && rank == t->job->rank;
    struct peer *peer = own ? NULL : peer_get(t, rank, -1, &rc);
    if (rc)
        return rc;
    if (!remote || remote->nrails != t->nrails || remote->bytes < 8 ||
        remote_offset > remote->bytes - 8 ||
        (remote->address + remote_offset) % 8 ||
        (op != DRAIL_FETCH_ADD && op != DRAIL_CMP_SWAP))
        return fail(t, DRAIL_EINVAL,
                    "drail_atomic: operation %d at offset %lu (8 aligned bytes "
                    "within the remote memory)",
                    op, (unsigned long)remote_offset);
    struct wire_atomic ask = {
        .op = (uint16_t)op,
        .address = remote->address + remote_offset,
        .operand = operand,
        .compare = compare,
    };
    rc = own ? atomic_on_own(t, remote, &ask, &result)
             : on_peer(t, peer, remote, &ask, &result);
    if (!rc && old)
        *old = result;
    return rc;
}
