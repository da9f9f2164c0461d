/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/note.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"

int note_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct note_wait *w = arg;
    struct inbox_entry *a = inbox_next(&w->peer->mail->notes);
    (void)t;
    uint32_t arrived = atomic_load_explicit(&a->arrived, memory_order_acquire);
    if (arrived) {
        *owed =
            atomic_load_explicit(&a->expected, memory_order_relaxed) & ~arrived;
        if (!*owed)
            return 1;
    } else {
        *owed = w->rails;
    }
    return atomic_load_explicit(&w->peer->error, memory_order_relaxed);
}

struct wire note_wire(const struct note *note, enum wire_type type)
{
    return (struct wire){.type = (uint8_t)type,
                         .parts = (uint8_t)__builtin_popcount(note->eps),
                         .id = note->id,
                         .seq = note->seq,
                         .rails = (uint16_t)note->rails};
}

int note_send(struct link *link, const struct note *note,
              const struct completion *done)
{
    struct wire wire = note_wire(note, WIRE_NOTIFY);
    return link_send(link, &wire, NULL, 0, done);
}

/*
 * Immediate data, from the lowest bit on: one bit each for whether all rails to
 * the peer carry a part, or this one alone, and all EPs of a rail, or one; as
 * many bits of the sequence number as distinguish the notifications that may be
 * under way; the id.
 */
#define CHOICE_BITS 2

static unsigned seq_bits(const struct inbox *box)
{
    return (unsigned)__builtin_popcount(box->mask);
}

bool note_immed(const struct link *link, const struct note *note,
                uint32_t *immed)
{
    const struct rail *rail = link->rail;
    const struct inbox *box = &link->peer->mail->notes;
    bool all = note->rails == link->peer->rails;
    bool spread = note->eps & (note->eps - 1);
    unsigned bits = seq_bits(box);
    if (rail->owner->cfg.notify_by == DRAIL_NOTIFY_BY_SEND ||
        !rail->write_immed || (!all && note->rails != RAIL_BIT(rail->index)) ||
        note->id >> (IMMED_NOTE_BITS - CHOICE_BITS - bits))
        return false;
    *immed = (note->id << bits | (note->seq & box->mask)) << CHOICE_BITS |
             (uint32_t)spread << 1 | all;
    return true;
}

/*
 * Marks a peer that may have a notification: so note_next() need not look at
 * all peers. The mark stays until nothing is found: a peer that sends often is
 * not marked again. Threads of several rails may mark at once; the caller's
 * thread looks when they are not at work.
 */
static void note_mark(const struct peer *peer)
{
    _Atomic uint64_t *word = &peer->owner->noted[peer->rank / 64];
    uint64_t bit = UINT64_C(1) << peer->rank % 64;
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

static bool check_mark(const drail_t *t, unsigned rank)
{
    const struct peer *peer = t->peers[rank];
    if (peer && peer->mail && inbox_ready(&peer->mail->notes))
        return true;
    atomic_fetch_and_explicit(&t->noted[rank / 64], ~(UINT64_C(1) << rank % 64),
                              memory_order_relaxed);
    return false;
}

unsigned note_next(const drail_t *t, unsigned rank)
{
    for (; rank < t->job->size; rank = (rank / 64 + 1) * 64) {
        uint64_t left =
            atomic_load_explicit(&t->noted[rank / 64], memory_order_relaxed) &
            UINT64_MAX << rank % 64;
        for (; left; left &= left - 1) {
            unsigned at = rank / 64 * 64 + (unsigned)__builtin_ctzll(left);
            if (check_mark(t, at))
                return at;
        }
    }
    return t->job->size;
}

/* A part of a notification has arrived. */
static const char *note_enter(struct slot *slot, const struct wire *wire)
{
    struct link *link = slot->link;
    if (inbox_put(&link->peer->mail->notes, wire, link->rail->index,
                  link->index, wire->rails))
        return "sequence of a notification";
    note_mark(link->peer);
    slot_return(slot, false); /* its credit is owed when it is delivered */
    return NULL;
}

const char *note_arrived_immed(struct slot *slot, uint32_t immed)
{
    struct link *link = slot->link;
    struct inbox *box = &link->peer->mail->notes;
    uint32_t seq = immed >> CHOICE_BITS;
    struct wire wire = {
        .parts = immed & 2 ? (uint8_t)link->rail->owner->cfg.eps : 1,
        .id = seq >> seq_bits(box),
        .seq = box->next + ((seq - box->next) & box->mask),
        .rails = immed & 1 ? link->peer->rails : RAIL_BIT(link->rail->index),
    };
    return note_enter(slot, &wire);
}

uint32_t note_deliver(struct peer *peer)
{
    struct inbox_entry *a = inbox_next(&peer->mail->notes);
    uint32_t id = atomic_load_explicit(&a->id, memory_order_relaxed);
    uint32_t rails = atomic_load_explicit(&a->expected, memory_order_relaxed);
    uint8_t eps[DRAIL_MAX_RAILS];
    memcpy(eps, a->eps, sizeof eps);
    inbox_pop(&peer->mail->notes);
    for (; rails; rails &= rails - 1) {
        unsigned r = (unsigned)__builtin_ctz(rails);
        for (unsigned left = eps[r]; left; left &= left - 1)
            link_owe(peer_link(peer, r, (unsigned)__builtin_ctz(left)));
    }
    return id;
}

const char *note_arrived(struct slot *slot)
{
    struct link *link = slot->link;
    const struct rail *rail = link->rail;
    const struct wire *wire = (const struct wire *)slot->data;
    if (!(wire->rails & RAIL_BIT(rail->index)) ||
        wire->rails & ~link->peer->rails)
        return "rails of a notification";
    return note_enter(slot, wire);
}
