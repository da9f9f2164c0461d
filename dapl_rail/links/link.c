/* SPDX-License-Identifier: BSD-3-Clause */
/* One link: the EP to a peer over a rail, its slots and its end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/rails/fail.h"

size_t slot_bytes(const drail_t *t)
{
    size_t payload = t->cfg.eager_bytes;
    if (payload < sizeof(drail_key_t))
        payload = sizeof(drail_key_t);
    return (sizeof(struct wire) + payload + 63) & ~(size_t)63;
}

static int slot_post(struct slot *slot)
{
    struct link *link = slot->link;
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)slot | COOKIE_RECEIVE};
    slot->bytes = (uint32_t)link->slot_bytes;
    DAT_LMR_TRIPLET iov = {
        .virtual_address = (uintptr_t)slot->data,
        .segment_length = slot->bytes,
        .lmr_context = link->lmr_context,
    };
    DAT_RETURN status = dat_ep_post_recv(link->ep, 1, &iov, cookie,
                                         DAT_COMPLETION_DEFAULT_FLAG);
    if (status != DAT_SUCCESS)
        return dat_fail(link->rail, "dat_ep_post_recv", status);
    link->receives++;
    return 0;
}

void slot_return(struct slot *slot, bool owe)
{
    struct link *link = slot->link;
    if (link->state > LINK_UP)
        return;
    int rc = slot_post(slot);
    if (rc)
        link_down(link, rc, "%s", link->rail->error.text);
    else if (owe)
        link_owe(link);
}

unsigned link_events(const struct rail *rail)
{
    return rail->request_depth + rail->owner->cfg.depth + SPARE_RECEIVES;
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
    attr.max_request_dtos = (DAT_COUNT)rail->request_depth;
    attr.max_recv_iov = attr.max_request_iov = 1;
    attr.max_rdma_read_iov = attr.max_rdma_write_iov = 1;
    attr.max_rdma_read_in = attr.max_rdma_read_out =
        (DAT_COUNT)rail->info.max_rdma_read_out;
    DAT_RETURN status =
        dat_ep_create(rail->ia, rail->pz, rail->dto_evd, rail->dto_evd,
                      rail->conn_evd, &attr, &link->ep);
    return status == DAT_SUCCESS ? 0 : dat_fail(rail, "dat_ep_create", status);
}

/* Receive slots, then as many send slots as the depth, then 8 bytes for the
 * result of atomics: one registered region. */
static int buffers_create(struct link *link, unsigned depth)
{
    struct rail *rail = link->rail;
    DAT_VLEN size;
    DAT_VADDR start;
    DAT_RMR_CONTEXT rmr;
    void *address;

    link->buffers_bytes = (link->nslots + depth) * link->slot_bytes + 8;
    int error = memory_map(link->buffers_bytes, &address, &link->buffers_fd);
    if (error)
        return rail_fail(rail, DRAIL_ENOMEM, "%s: no memory for %zu bytes: %s",
                         rail->info.name, link->buffers_bytes, strerror(error));
    link->buffers = address;
    DAT_REGION_DESCRIPTION where = {.for_va = link->buffers};
    DAT_RETURN status = dat_lmr_create(
        rail->ia, DAT_MEM_TYPE_VIRTUAL, where, link->buffers_bytes, rail->pz,
        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
        DAT_VA_TYPE_VA, &link->lmr, &link->lmr_context, &rmr, &size, &start);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_lmr_create", status);
    for (unsigned i = 0; i < link->nslots; i++)
        link->slots[i] = (struct slot){
            .link = link,
            .data = link->buffers + i * link->slot_bytes,
        };
    return 0;
}

int link_open(struct rail *rail, struct peer *peer, unsigned index,
              struct link **out)
{
    drail_t *t = rail->owner;
    unsigned depth = t->cfg.depth, ring = 1;
    struct link *link = alloc_lines(sizeof *link);
    if (!link)
        return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
    link->rail = rail;
    link->peer = peer;
    link->index = index;
    link->full_at = rail->request_depth;
    link->credits = (int)depth;
    link->nslots = depth + SPARE_RECEIVES;
    link->slot_bytes = slot_bytes(t);
    while (ring < rail->request_depth)
        ring *= 2;
    link->ops_mask = ring - 1;
    link->ops = alloc_lines(ring * sizeof *link->ops);
    link->slots = calloc(link->nslots, sizeof *link->slots);

    int rc = link->ops && link->slots
                 ? evd_check(rail)
                 : rail_fail(rail, DRAIL_ENOMEM, "out of memory");
    rail->links++;
    if (!rc)
        rc = buffers_create(link, depth);
    if (!rc)
        rc = ep_create(link);
    /* before the connection exists, so that no message comes too early */
    for (unsigned i = 0; !rc && i < link->nslots; i++)
        rc = slot_post(&link->slots[i]);
    if (rc) {
        link_close(link);
        return rc;
    }
    *out = link;
    return 0;
}

static void link_free(struct link *link)
{
    bool kept = link->lmr && dat_lmr_free(link->lmr) != DAT_SUCCESS;
    /* what the provider does not let go, stays mapped */
    if (link->buffers && !kept) {
        munmap(link->buffers, link->buffers_bytes);
        close(link->buffers_fd);
    }
    free(link->slots);
    free(link->ops);
    free(link);
}

void link_close(struct link *link)
{
    struct rail *rail = link->rail;
    link->closed = true;
    link->ops_tail = link->ops_head; /* nobody is told any more */
    if (link->ep)
        link_down(link, DRAIL_EPEER, "closed");
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
        if (!gone && (all || link_drained(link))) {
            dat_ep_free(link->ep);
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
    return freed;
}

void link_down(struct link *link, int code, const char *format, ...)
{
    struct peer *peer = link->peer;
    int none = 0;
    va_list args;

    if (link->state > LINK_UP)
        return;
    link->state = LINK_DOWN;
    link->error = code;
    va_start(args, format);
    vsnprintf(link->why, sizeof link->why, format, args);
    va_end(args);
    /* before error, after which it is read */
    if (!atomic_load(&peer->error))
        atomic_store(&peer->error_rail, link->rail->index);
    atomic_compare_exchange_strong(&peer->error, &none, code);
    dat_ep_disconnect(link->ep, DAT_CLOSE_ABRUPT_FLAG);
    link_flush(link);
}

bool link_flushed(struct link *link)
{
    link_flush(link);
    return link->state >= LINK_FLUSHED;
}

bool link_drained(struct link *link)
{
    return link_flushed(link) && !link->receives;
}
