/* SPDX-License-Identifier: BSD-3-Clause */
/* One link: the EP to a peer over a rail, its slots and its end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/beside.h"
#include "dapl_rail/links/buffers.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/ends.h"
#include "dapl_rail/links/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/parting.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/rails/fail.h"

/* How long it may take until all of an EP has come back: of that of a lost
 * link, which is then made to end; when that was done. */
#define FORCE_NS  (20 * MS)
#define HURRY_NS  (5 * MS) /* where nothing can come back by itself */
#define FORCED_NS (1000 * MS)

size_t slot_bytes(const drail_t *t)
{
    const size_t put = sizeof(struct wire_put) + EAGER_PUT_BYTES;
    size_t payload = t->cfg.eager_bytes;
    if (payload < sizeof(drail_key_t))
        payload = sizeof(drail_key_t);
    for (unsigned r = 0; r < t->nrails; r++) /* any may carry it */
        if (t->rails[r].info.is_polled && payload < put)
            payload = put;
    return (sizeof(struct wire) + payload + 63) & ~(size_t)63;
}

static int slot_post(struct slot *slot)
{
    struct link *link = slot->link;
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)slot | COOKIE_RECEIVE};
    bool whole = slot->data + SLOT_HEAD == slot->rest;
    slot->bytes = (uint32_t)link->slot_bytes;
    DAT_LMR_TRIPLET iov[] = {
        {.virtual_address = (uintptr_t)slot->data,
         .segment_length = whole ? slot->bytes : SLOT_HEAD,
         .lmr_context = link->lmr_context},
        {.virtual_address = (uintptr_t)slot->rest,
         .segment_length = slot->bytes - SLOT_HEAD,
         .lmr_context = link->lmr_context},
    };
    DAT_RETURN status = dat_ep_post_recv(link->ep, whole ? 1 : 2, iov, cookie,
                                         DAT_COMPLETION_DEFAULT_FLAG);
    if (status != DAT_SUCCESS)
        return dat_fail(link->rail, "dat_ep_post_recv", status);
    link->receives++;
    return 0;
}

void slot_read(const struct slot *slot, size_t at, void *to, size_t bytes)
{
    const drail_job_t *job = slot->link->rail->owner->job;
    size_t head = at < SLOT_HEAD ? SLOT_HEAD - at : 0;
    if (head > bytes)
        head = bytes;
    if (head)
        job_copy(job, to, slot->data + at, head);
    if (bytes > head)
        job_copy(job, (char *)to + head, slot->rest + at + head - SLOT_HEAD,
                 bytes - head);
}

/* Receives on the present EP, or on the next. */
static int slot_free(struct slot *slot)
{
    enum ep_state ep = slot->link->ep_state;
    slot->idle = true;
    return slot->spare || (ep != EP_CONNECTING && ep != EP_UP)
               ? 0
               : slot_post(slot);
}

void slot_return(struct slot *slot, bool owe)
{
    struct link *link = slot->link;
    int rc = slot_free(slot);
    if (rc)
        link_lost(link, rc, "%s", link->rail->error.text);
    if (owe && link->state < LINK_DOWN)
        link_owe(link);
}

void slot_return_soon(struct slot *slot)
{
    struct rail *rail = slot->link->rail;
    slots_return_now(rail);
    if (slot->link->owed + 1 < rail->owner->cfg.depth / 2)
        rail->read = slot;
    else
        slot_return(slot, true);
}

/* Its bytes follow. */
struct spare {
    struct slot slot;
    struct spare *next;
} __attribute__((aligned(CACHE_LINE)));

struct slot *slot_spare(struct link *link)
{
    struct spare *spare = link->spares;
    while (spare && !spare->slot.idle)
        spare = spare->next;
    if (spare) {
        spare->slot.idle = false;
        return &spare->slot;
    }
    spare = alloc_lines(sizeof *spare + link->slot_bytes);
    if (!spare)
        return NULL;
    unsigned char *data = (unsigned char *)(spare + 1);
    *spare = (struct spare){.slot = {.link = link,
                                     .data = data,
                                     .rest = data + SLOT_HEAD,
                                     .spare = true},
                            .next = link->spares};
    link->spares = spare;
    return &spare->slot;
}

/* Can a link go on over another one? */
static bool several_links(const drail_t *t)
{
    return t->nrails * t->cfg.eps > 1;
}

unsigned spare_receives(const drail_t *t)
{
    return SPARE_RECEIVES + (several_links(t) ? 2 * WINDOW : 0);
}

unsigned link_foreign(const drail_t *t)
{
    return several_links(t) ? CARRIED : 0;
}

unsigned link_events(const struct rail *rail)
{
    const drail_t *t = rail->owner;
    return rail->request_depth + link_foreign(t) + t->cfg.depth +
           spare_receives(t);
}

/*
 * The EVD must hold every DTO of all its EPs: all may be flushed at once. It is
 * made large enough for all peers: verbs providers can't resize one that has
 * EPs.
 */
static int evd_check(struct rail *rail)
{
    unsigned need = (rail->links + 1) * link_events(rail);
    if (need <= rail->dto_qlen)
        return 0;
    return rail_fail(rail, DRAIL_ENOMEM,
                     "%s: an EVD holds %u events, %u EPs need %u",
                     rail->info.name, rail->dto_qlen, rail->links + 1, need);
}

static int ep_create(struct link *link)
{
    struct rail *rail = link->rail;
    DAT_EP_ATTR attr;
    memset(&attr, 0, sizeof attr);
    attr.service_type = DAT_SERVICE_TYPE_RC;
    attr.max_message_size = (DAT_SEG_LENGTH)link->slot_bytes;
    attr.max_rdma_size = (DAT_SEG_LENGTH)rail->max_rdma;
    attr.qos = DAT_QOS_BEST_EFFORT;
    attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_recv_dtos = (DAT_COUNT)link->nslots;
    attr.max_request_dtos =
        (DAT_COUNT)(rail->request_depth + link_foreign(rail->owner));
    attr.max_recv_iov = rail->split_receives ? 2 : 1;
    attr.max_request_iov = 1;
    attr.max_rdma_read_iov = attr.max_rdma_write_iov = 1;
    attr.max_rdma_read_in = attr.max_rdma_read_out =
        (DAT_COUNT)rail->info.max_rdma_read_out;
    DAT_RETURN status =
        dat_ep_create(rail->ia, rail->pz, rail->dto_evd, rail->dto_evd,
                      rail->conn_evd, &attr, &link->ep);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_ep_create", status);
    if (!ends_enter(link))
        return 0;
    dat_ep_free(link->ep);
    link->ep = DAT_HANDLE_NULL;
    return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
}

/* Places of short messages, received and sent ones in turn, of which the first
 * few are in a page of their own. Then receive slots, then as many send slots
 * as the depth, then those of messages for lost links and of their
 * acknowledgements, then a line for the result of atomics. */
static int buffers_create(struct link *link, unsigned depth)
{
    const size_t page = 4096;
    size_t heads = link->nslots * 2 * SLOT_HEAD;
    size_t bytes = heads + (link->nslots + depth + WINDOW) * link->slot_bytes +
                   WINDOW * ACK_BYTES + CACHE_LINE;
    bytes = (bytes + page - 1) & ~(page - 1);
    int rc = buffers_take(link->rail, bytes, &link->piece);
    if (rc)
        return rc;
    link->heads = link->piece->start;
    link->buffers = link->heads + heads;
    link->buffers_bytes = bytes - heads;
    link->lmr_context = link->piece->lmr_context;
    for (unsigned i = 0; i < link->nslots; i++) {
        unsigned char *slot = link->buffers + i * link->slot_bytes;
        link->slots[i] = (struct slot){
            .link = link,
            .data = link->rail->split_receives ? link->heads + i * 2 * SLOT_HEAD
                                               : slot,
            .rest = slot + SLOT_HEAD,
            .idle = true,
        };
    }
    return 0;
}

/* With what it has from its beginning on: the first ops and its slots; behind
 * them, the places of all ops. NULL: out of memory. */
static struct link *link_new(unsigned nslots, unsigned nops)
{
    struct first {
        struct link link;
        struct op ops[OPS_CHUNK];
        struct slot slots[];
    } * first;
    unsigned chunks = (nops + OPS_CHUNK - 1) / OPS_CHUNK;
    size_t slots = nslots * sizeof *first->slots;
    first = alloc_lines(sizeof *first + slots + chunks * sizeof(struct op *));
    if (!first)
        return NULL;
    struct link *link = &first->link;
    link->nslots = nslots;
    link->slots = first->slots;
    link->ops = (struct op **)(first->slots + nslots);
    link->ops[0] = first->ops;
    link->ops_mask = nops - 1;
    return link;
}

int link_open(struct rail *rail, struct peer *peer, unsigned index,
              struct link **out)
{
    drail_t *t = rail->owner;
    unsigned depth = t->cfg.depth, ring = 1;
    while (ring < rail->request_depth)
        ring *= 2;
    struct link *link = link_new(depth + spare_receives(t), ring);
    if (!link)
        return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
    link->rail = rail;
    link->peer = peer;
    link->index = index;
    link->full_at = rail->request_depth;
    link->credits = (int)depth;
    link->slot_bytes = slot_bytes(t);

    int failed = journal_open(link);
    failed |= beside_open(link); /* also then, for its end */
    int rc = failed ? rail_fail(rail, DRAIL_ENOMEM, "out of memory")
                    : evd_check(rail);
    rail->links++;
    if (!rc)
        rc = buffers_create(link, depth);
    if (rc) {
        link_close(link);
        return rc;
    }
    *out = link;
    return 0;
}

/* It was: the rail's time without it begins, and ends. */
static void lost_begins(struct link *link)
{
    struct rail *rail = link->rail;
    link->lost->down = true;
    link->lost->since_ns = job_now(rail->owner->job);
    if (!rail->lost_links++)
        rail->lost_since_ns = link->lost->since_ns;
}

void link_lost_ends(struct link *link)
{
    struct rail *rail = link->rail;
    if (!link->journal || !link->lost->down)
        return;
    link->lost->down = false;
    if (!--rail->lost_links)
        rail->stats.down_ns += job_now(rail->owner->job) - rail->lost_since_ns;
}

static void link_free(struct link *link)
{
    if (link->rail->read && link->rail->read->link == link)
        link->rail->read = NULL;
    if (link->piece)
        buffers_give(link->rail, link->piece);
    for (struct spare *next; link->spares; link->spares = next) {
        next = link->spares->next;
        free(link->spares);
    }
    beside_close(link);
    journal_close(link);
    sentence_free(&link->why);
    free(link->replies);
    for (unsigned at = OPS_CHUNK; at <= link->ops_mask; at += OPS_CHUNK)
        free(link->ops[at / OPS_CHUNK]);
    free(link);
}

void link_close(struct link *link)
{
    struct rail *rail = link->rail;
    link->closed = true;
    link->ops_tail = link->ops_head; /* nobody is told any more, … */
    if (link->journal)
        link->lost->pending = 0; /* … nor is its carrier asked */
    if (link->ep)
        link_down(link, DRAIL_EPEER, "closed");
    link_lost_ends(link);
    link->next_closed = rail->closed;
    rail->closed = link;
    rail->links--;
}

bool links_bury(struct rail *rail, bool all)
{
    struct link **at = &rail->closed, *link;
    bool freed = false;
    while ((link = *at)) {
        bool gone = !link->ep;
        /* receives of an EP that was never connected do not come back */
        if (!gone && (all || !link->begun || link_drained(link))) {
            ends_leave(link);
            parting(rail, link->ep);
            link->ep = DAT_HANDLE_NULL;
            freed = true;
        }
        if (!gone && !all) { /* the events that are left point to it */
            at = &link->next_closed;
            continue;
        }
        *at = link->next_closed;
        link_free(link);
    }
    if (all) {
        partings_end(rail);
        ends_free(rail);
        buffers_free(rail);
    }
    return freed;
}

/* Its EP ends, if it has one that has not. */
static void ep_end(struct link *link)
{
    if (link->ep_state == EP_NONE)
        return;
    link->ep_state = EP_ENDING;
    dat_ep_disconnect(link->ep, DAT_CLOSE_ABRUPT_FLAG);
}

/* The same when others go on: verbs flush at once what is under way, but an
 * abrupt end would wait for the answer of a peer that can't be reached. Nothing
 * can be posted while it is ending, so the last request comes before. */
static void ep_part(struct link *link)
{
    bool up = link->ep_state == EP_UP;
    link->ending = ENDING_FIRST;
    link->ending_ns = job_now(link->rail->owner->job);
    if (up && link_post_last(link)) {
        link->ep_state = EP_ENDING;
        dat_ep_disconnect(link->ep, DAT_CLOSE_GRACEFUL_FLAG);
    } else {
        ep_end(link);
    }
}

void link_down(struct link *link, int code, const char *format, ...)
{
    struct peer *peer = link->peer;
    int none = 0;
    va_list args;

    if (link->state >= LINK_DOWN)
        return;
    link->state = LINK_DOWN;
    link_lost_ends(link);
    va_start(args, format);
    sentence_vwrite(&link->why, format, args);
    va_end(args);
    link->error = code;
    /* before error, after which it is read */
    if (!atomic_load(&peer->error))
        atomic_store(&peer->error_rail, link->rail->index);
    atomic_compare_exchange_strong(&peer->error, &none, code);
    peer_unsettle(peer);
    ep_end(link);
    link_flush(link);
}

/* Has no link to the peer ended? May be asked by a rail's thread. */
static bool may_go_on(const struct link *link)
{
    const struct peer *peer = link->peer;
    return link->journal && !peer->ending && !atomic_load(&peer->error);
}

void link_lost(struct link *link, int code, const char *format, ...)
{
    bool was_up = link->ep_state == EP_UP;
    bool first = link->state == LINK_CONNECTING;
    va_list args;
    char why[SENTENCE_BYTES];
    if ((link->ep_state == EP_NONE && !first) || link->ep_state == EP_ENDING)
        return;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!may_go_on(link)) {
        link_down(link, code, "%s", why);
        return;
    }
    link->error = first ? code : DRAIL_EPEER;
    link->lost->retry_ns = 0;
    link->lost->never_up = !was_up;
    if (was_up || first)
        sentence_write(&link->why, "%s", why);
    link->lost->deaths += was_up;
    if (link->state <= LINK_UP || link->broken) {
        if (!link->broken) /* else since before the DTO that was not taken */
            link->lost->tried = link->posted;
        link->state = LINK_LOST;
        link->broken = false;
        link->lost->carrier = link;
        link->full_at = link->retired + link->rail->request_depth;
        lost_begins(link);
        atomic_fetch_and(&link->peer->up, ~RAIL_BIT(link->rail->index));
    }
    peer_unsettle(link->peer);
    ep_part(link);
    link_flush(link);
}

int link_renew(struct link *link)
{
    link->last_posted = link->last_come = link->begun = false;
    link->ending = ENDING_FIRST;
    if (link->journal) { /* else it has no other EP than the first */
        *link->carrier = (struct carrier){0};
        *link->silence = (struct silence){0};
    }
    int rc = ep_create(link);
    if (rc)
        return rc;
    link->ep_state = EP_CONNECTING;
    /* before the connection exists, so that no message comes too early */
    for (unsigned i = 0; !rc && i < link->nslots; i++)
        if (link->slots[i].idle)
            rc = slot_post(&link->slots[i]);
    return rc;
}

bool link_bury_ep(struct link *link)
{
    /* of one that was never to be connected, nothing comes */
    if (link->ep_state != EP_ENDING || (link->begun && !link_drained(link)))
        return false;
    link->receives = 0;
    ends_leave(link);
    parting(link->rail, link->ep);
    link->ep = DAT_HANDLE_NULL;
    link->ep_state = EP_NONE;
    return true;
}

void link_hurry(struct link *link)
{
    if (link->ep_state == EP_ENDING && link->ending == ENDING_FIRST)
        link->ending_ns -= FORCE_NS - HURRY_NS;
}

bool link_overdue(const struct link *link)
{
    uint64_t most = link->ending == ENDING_RESET ? FORCED_NS : FORCE_NS;
    return link->ep_state == EP_ENDING &&
           job_now(link->rail->owner->job) - link->ending_ns >= most;
}

/* The queue pair of an EP that libdaplofa tells to be unreachable still runs,
 * and to disconnect it does nothing: what is under way would land later. */
void link_force(struct link *link)
{
    if (link_drained(link))
        return;
    link->ending_ns = job_now(link->rail->owner->job);
    if (link->ending == ENDING_FIRST) {
        link->ending = ENDING_ABRUPTLY;
        ep_end(link);
    } else if (link->ending == ENDING_RESET) {
        link->receives = 0;
        link_flush_done(link);
    } else if (dat_ep_reset(link->ep) == DAT_SUCCESS) {
        link->ending = ENDING_RESET;
    }
}

bool link_flushed(struct link *link)
{
    link_flush(link);
    return link->state == LINK_LOST ? link->last_come
                                    : link->state >= LINK_FLUSHED;
}

bool link_drained(struct link *link)
{
    return link_flushed(link) && !link->receives;
}
