/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/slots.h"

#include <stdlib.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/buffers.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/rails/fail.h"

/* A slot of slot_spare(); its bytes follow. */
struct spare {
    struct slot slot;
    struct spare *next;
} __attribute__((aligned(CACHE_LINE)));

/* A link model makes a rail as slow as a wire: there rendezvous stripes. */
static bool eager_is_inline(const struct rail *rail)
{
    return rail->max_inline_send >= sizeof(struct wire) + EAGER_INLINE_BYTES &&
           !rail->info.link_model[0];
}

size_t eager_bytes(const struct rail *rail)
{
    size_t asked = rail->owner->cfg.eager_bytes;
    return asked != DRAIL_EAGER_AUTO ? asked
           : rail->info.is_polled    ? EAGER_POLLED_BYTES
           : eager_is_inline(rail)   ? EAGER_INLINE_BYTES
                                     : EAGER_BYTES;
}

size_t piece_bytes(const struct rail *rail)
{
    size_t most = eager_bytes(rail);
    return rail->owner->cfg.eager_bytes == DRAIL_EAGER_AUTO &&
                   most > EAGER_BYTES
               ? most
               : 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t slot_bytes(const drail_t *t)
{
    const size_t put = sizeof(struct wire_put) + EAGER_POLLED_BYTES;
    size_t payload = sizeof(drail_key_t);
    for (unsigned r = 0; r < t->nrails; r++) { /* any may carry it */
        payload = larger(payload, eager_bytes(&t->rails[r]));
        if (t->rails[r].info.is_polled)
            payload = larger(payload, put);
    }
    return (sizeof(struct wire) + payload + 63) & ~(size_t)63;
}

unsigned spare_receives(const drail_t *t)
{
    return SPARE_RECEIVES + (may_fail_over(t) ? 2 * WINDOW : 0);
}

/*
 * The heads of receive and send slots in turn: the first few are in one page.
 * Then receive slots, then as many send slots as the depth, then those for
 * carried messages and for their acknowledgements, then a line for the result
 * of atomics.
 */
int slots_open(struct link *link)
{
    const size_t page = 4096;
    struct slots *s = &link->slots;
    unsigned depth = link->rail->owner->cfg.depth;
    size_t heads = s->count * 2 * SLOT_HEAD;
    size_t bytes = heads + (s->count + depth + WINDOW) * s->slot_bytes +
                   WINDOW * ACK_BYTES + CACHE_LINE;
    bytes = (bytes + page - 1) & ~(page - 1);
    int rc = buffers_take(link->rail, bytes, &s->piece);
    if (rc)
        return rc;
    s->heads = s->piece->start;
    s->buffers = s->heads + heads;
    s->buffers_bytes = bytes - heads;
    s->lmr_context = s->piece->lmr_context;
    for (unsigned i = 0; i < s->count; i++) {
        unsigned char *slot = s->buffers + i * s->slot_bytes;
        s->all[i] = (struct slot){
            .link = link,
            .data = link->rail->split_receives ? s->heads + i * 2 * SLOT_HEAD
                                               : slot,
            .rest = slot + SLOT_HEAD,
            .idle = true,
        };
    }
    return 0;
}

void slots_close(struct link *link)
{
    struct slots *s = &link->slots;
    if (s->piece)
        buffers_give(link->rail, s->piece);
    for (struct spare *next; s->spares; s->spares = next) {
        next = s->spares->next;
        free(s->spares);
    }
}

int slot_post(struct slot *slot)
{
    struct link *link = slot->link;
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)slot | COOKIE_RECEIVE};
    bool whole = slot->data + SLOT_HEAD == slot->rest;
    slot->bytes = (uint32_t)link->slots.slot_bytes;
    DAT_LMR_TRIPLET iov[] = {
        {.virtual_address = (uintptr_t)slot->data,
         .segment_length = whole ? slot->bytes : SLOT_HEAD,
         .lmr_context = link->slots.lmr_context},
        {.virtual_address = (uintptr_t)slot->rest,
         .segment_length = slot->bytes - SLOT_HEAD,
         .lmr_context = link->slots.lmr_context},
    };
    DAT_RETURN status = dat_ep_post_recv(link->ep.handle, whole ? 1 : 2, iov,
                                         cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (status != DAT_SUCCESS)
        return dat_fail(link->rail, "dat_ep_post_recv", status);
    link->slots.posted++;
    return 0;
}

int slot_recycle(struct slot *slot)
{
    enum ep_state ep = slot->link->ep.state;
    slot->idle = true;
    return slot->spare || (ep != EP_CONNECTING && ep != EP_UP)
               ? 0
               : slot_post(slot);
}

struct slot *slot_spare(struct link *link)
{
    struct spare *spare = link->slots.spares;
    while (spare && !spare->slot.idle)
        spare = spare->next;
    if (spare) {
        spare->slot.idle = false;
        return &spare->slot;
    }
    spare = alloc_lines(sizeof *spare + link->slots.slot_bytes);
    if (!spare)
        return NULL;
    unsigned char *data = (unsigned char *)(spare + 1);
    *spare = (struct spare){.slot = {.link = link,
                                     .data = data,
                                     .rest = data + SLOT_HEAD,
                                     .spare = true},
                            .next = link->slots.spares};
    link->slots.spares = spare;
    return &spare->slot;
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
