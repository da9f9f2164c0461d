/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers: RDMA writes and reads that are striped over rails; writes may have
 * a notification. */
#ifndef DRAIL_MESSAGES_TRANSFER_H
#define DRAIL_MESSAGES_TRANSFER_H

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/note.h"

/* One rail's part, on a cache line of its own: the rail's thread writes it. */
struct transfer_part {
    drail_chunk_t chunk; /* if the rail carries data */
    size_t posted;       /* bytes of the present EP's share of the chunk */
    uint64_t start_ns;   /* if timed */
    uint32_t done;       /* EPs whose share is posted */
} __attribute__((aligned(CACHE_LINE)));

/* A put or get. The rails that it uses are those of `data` and of `note`. */
struct transfer {
    struct peer *peer;
    const drail_xfer_t *xfer;
    enum verb verb;
    uint32_t reach;   /* rails that it may take */
    uint32_t data;    /* rails with a chunk */
    bool threads;     /* as in struct work */
    bool eager;       /* travels with its notification: eager_put.h */
    bool reports;     /* as in struct rdma */
    struct note note; /* rails 0: none */
    struct req *req;
    struct timed_message *message; /* NULL: not timed */
    struct transfer_part parts[DRAIL_MAX_RAILS];
};

/* 0, or the error of a transfer that is not within its local and remote memory.
 */
static inline int xfer_check(drail_t *t, const drail_xfer_t *x)
{
    if (x->bytes == 0)
        return 0;
    if (!x->local_mem || !x->remote)
        return fail(t, DRAIL_EINVAL,
                    "a transfer needs local and remote memory");
    const drail_mem_t *mem = x->local_mem;
    uintptr_t begin = (uintptr_t)mem->address, at = (uintptr_t)x->local;
    if (at < begin || x->bytes > mem->bytes ||
        at - begin > mem->bytes - x->bytes)
        return fail(t, DRAIL_EINVAL,
                    "%zu bytes are not within the local memory", x->bytes);
    if (x->remote->nrails != t->nrails)
        return fail(t, DRAIL_EINVAL, "the key is for %u rails, not %u",
                    x->remote->nrails, t->nrails);
    if (x->bytes > x->remote->bytes ||
        x->remote_offset > x->remote->bytes - x->bytes)
        return fail(t, DRAIL_EINVAL,
                    "%zu bytes at %lu are not within the remote memory of %lu",
                    x->bytes, (unsigned long)x->remote_offset,
                    (unsigned long)x->remote->bytes);
    return 0;
}

/* Posts a put without notification, if it needs no decision and its rail has
 * room: most short puts. flags: those of drail_put; req: of the put, or NULL.
 * False: nothing is posted. */
bool transfer_plain(drail_t *t, struct peer *peer, const drail_xfer_t *xfer,
                    unsigned flags, struct req *req);
void transfer_init(struct transfer *x, struct peer *peer,
                   const drail_xfer_t *xfer, enum verb verb);
/* Decides which rails carry it. flags: those of drail_put. */
void transfer_cut(drail_t *t, struct transfer *x, unsigned flags);
/* Posts it, and waits for room. If it fails in its middle, all links to the
 * peer end, and nothing of it is under way any more. */
int transfer_start(drail_t *t, struct transfer *x, struct req *req);
/* The same without waiting. DRAIL_EAGAIN: there was no room for all of it. Then
 * call transfer_continue() until it returns something else; the transfer, and
 * all that it points to, must stay in place until then. */
int transfer_try_start(drail_t *t, struct transfer *x, struct req *req);
int transfer_continue(drail_t *t, struct transfer *x);
/* The transfer has been cut, and is not started. */
void transfer_abandon(drail_t *t, struct transfer *x);

#endif
