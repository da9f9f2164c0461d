/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics. The bond at the target carries them out, by the processor. So they
 * are atomic whichever members carry them, and each is done once, as every
 * numbered message. The target keeps the last results, and sends them again
 * when a link is lost. b->lock is held.
 */
#include "providers/core/atomic.h"
#include "providers/core/segments.h"
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"

/* ----------------------------------------------------------- the target --- */

/* The word, or NULL: the peer may not access it. */
static uint64_t *word_of(const struct bond_conn *c,
                         const struct bond_atomic *ask)
{
    const struct core_mr *mr = core_mr_find(c->b->ia, ask->key);
    if (!bond_range_find(c->b, ask->key) || ask->address % sizeof(uint64_t) ||
        !core_range_within(mr, ask->address, sizeof(uint64_t)) ||
        !(mr->priv & CORE_PRIV_REMOTE_ATOMIC) || mr->pz_id != c->zone->id)
        return NULL;
    return (uint64_t *)(uintptr_t)ask->address;
}

void bond_atomic_execute(struct bond_conn *c, const struct bond_header *h)
{
    struct bond_answers *a = &c->answers;
    struct bond_atomic ask;
    uint64_t *word = NULL;
    if (h->bytes == sizeof ask) {
        memcpy(&ask, h + 1, sizeof ask);
        word = word_of(c, &ask);
    }
    c->b->executed++;
    if (word)
        a->old[a->count++ % BOND_ATOMICS] =
            core_atomic(word, ask.swap, ask.operand, ask.compare);
    else
        a->refused = true;
    c->answers_due = true;
}

/* -------------------------------------------------------- the initiator --- */

/* Gives the consumer the result. */
static void finish(struct bond_conn *c, uint64_t n, uint64_t old)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_request *q = r->tp;
    if (!bond_range_find(c->b, r->w.seg[0].lmr_context)) {
        bond_request_fail(c, n, DAT_DTO_ERR_LOCAL_PROTECTION);
        return;
    }
    core_scatter(r->w.nseg, r->w.seg, &old, sizeof old);
    q->answered = true;
    bond_request_look(c, n);
}

void bond_on_answers(struct bond_conn *c, const struct bond_answers *answers)
{
    if (!bond_conn_open(c))
        return;
    core_ep_lock(c->ep);
    while ((int32_t)(answers->count - c->answered) > 0 &&
           c->answered != c->atomics) {
        uint32_t i = c->answered++ % BOND_ATOMICS;
        finish(c, c->atomic[i], answers->old[i]);
    }
    if (answers->refused && answers->count == c->answered &&
        c->answered != c->atomics)
        bond_request_fail(c, c->atomic[c->answered % BOND_ATOMICS],
                          DAT_DTO_ERR_REMOTE_ACCESS);
    core_ep_unlock(c->ep);
}
