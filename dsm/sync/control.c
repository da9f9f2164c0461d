/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/control.h"

#include <stdlib.h>
#include <string.h>

#include "dsm/base/rdma.h"
#include "dsm/pages/exclusive.h"
#include "dsm/pages/pack.h"
#include "dsm/sync/ticket.h"

static size_t lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Offset of the next @bytes of the layout. */
static size_t place(size_t *end, size_t bytes)
{
    const size_t at = *end;
    *end += lines(bytes);
    return at;
}

int control_open(ddsm_t *d)
{
    struct control *c = &d->control;
    size_t end = 0;
    void *start;
    const size_t own_locks = (d->cfg.locks + d->size - 1) / d->size;
    c->lock_bytes = lines(ticket_bytes(d));
    const size_t log = place(&end, sizeof(struct notice_log));
    c->locks_offset = place(&end, own_locks * c->lock_bytes);
    const size_t arrival = place(&end, sizeof(struct arrival));
    const size_t arrivals = place(&end, d->size * sizeof(struct arrival));
    const size_t pack_parts = place(&end, d->size * sizeof(struct pack_part));
    const size_t reduce_in = place(&end, REDUCE_INLINE_BYTES);
    const size_t reduce_out = place(&end, REDUCE_INLINE_BYTES);
    const size_t broken = place(&end, sizeof(uint64_t));
    const size_t ticket_rounds = place(&end, sizeof(uint64_t));
    c->lock_ends_offset = place(&end, sizeof(uint64_t));
    c->lock_numbers_offset = place(&end, sizeof(uint64_t));
    const size_t probe = place(&end, d->size * sizeof(uint64_t));
    const size_t word = place(&end, sizeof(uint64_t));
    const size_t clock = place(&end, d->size * sizeof(uint64_t));
    const size_t abandoned =
        place(&end, TICKET_ABANDONED_MAX * sizeof(uint64_t));
    const size_t reserved = place(&end, sizeof(uint64_t));
    const size_t range = place(&end, LOG_RANGES * sizeof(struct range));
    const size_t log_end = place(&end, 2 * sizeof(uint64_t));
    const size_t ends = place(&end, d->size * sizeof(uint64_t));
    const size_t copied = place(&end, d->pages);
    const size_t copied_blocks = place(&end, d->pages / COPIED_BLOCK + 1);
    const size_t ones = place(&end, COPIED_ONES);
    const size_t read_part = place(&end, sizeof(struct pack_part));
    c->pack_room = pack_room(d);
    c->packs_asked_offset = place(&end, d->size * sizeof(uint64_t));
    c->packs_done_offset = place(&end, d->size * sizeof(uint64_t));
    const size_t pack_numbers = place(&end, d->size * sizeof(uint64_t));
    const size_t packs_served = place(&end, d->size * sizeof(uint64_t));
    const size_t pack = place(&end, c->pack_room);
    const size_t read_pack = place(&end, c->pack_room);
    c->keys = calloc(d->size, sizeof *c->keys);
    if (!c->keys)
        return space_fail(d, DRAIL_ENOMEM, "out of memory");
    int rc = drail_mem_alloc(d->t, end, DRAIL_ACCESS_ALL, &start, &c->mem);
    if (rc)
        return space_fail_rails(d, rc, "memory of notices and locks");
    c->start = start;
    c->log = (struct notice_log *)(c->start + log);
    c->arrival = (struct arrival *)(c->start + arrival);
    c->arrivals = (struct arrival *)(c->start + arrivals);
    c->reduce_in = c->start + reduce_in;
    c->reduce_out = c->start + reduce_out;
    c->pack_parts_offset = pack_parts;
    c->pack_parts = (struct pack_part *)(c->start + pack_parts);
    c->pack_offset = pack;
    c->pack = c->start + pack;
    c->packs_asked = (_Atomic uint64_t *)(c->start + c->packs_asked_offset);
    c->packs_done = (_Atomic uint64_t *)(c->start + c->packs_done_offset);
    c->pack_numbers = (uint64_t *)(c->start + pack_numbers);
    c->packs_served = (uint64_t *)(c->start + packs_served);
    c->read_part = (struct pack_part *)(c->start + read_part);
    c->read_pack = c->start + read_pack;
    c->broken_offset = broken;
    c->broken = (_Atomic uint64_t *)(c->start + broken);
    c->ticket_rounds_offset = ticket_rounds;
    c->ticket_rounds = (_Atomic uint64_t *)(c->start + ticket_rounds);
    c->lock_ends = (_Atomic uint64_t *)(c->start + c->lock_ends_offset);
    c->probe = (uint64_t *)(c->start + probe);
    c->word = (uint64_t *)(c->start + word);
    c->clock = (uint64_t *)(c->start + clock);
    c->abandoned = (uint64_t *)(c->start + abandoned);
    c->reserved = (uint64_t *)(c->start + reserved);
    c->range = (struct range *)(c->start + range);
    c->end = (uint64_t *)(c->start + log_end);
    c->ends = (uint64_t *)(c->start + ends);
    c->copied_offset = copied;
    c->copied = c->start + copied;
    c->copied_blocks_offset = copied_blocks;
    c->copied_blocks = c->start + copied_blocks;
    c->ones = memset(c->start + ones, 1, COPIED_ONES);
    return 0;
}

void control_close(ddsm_t *d)
{
    free(d->control.keys);
}

static drail_xfer_t transfer(const ddsm_t *d, unsigned rank, size_t offset,
                             void *local, size_t bytes)
{
    return (drail_xfer_t){.local = local,
                          .local_mem = d->control.mem,
                          .remote = &d->control.keys[rank],
                          .remote_offset = offset,
                          .bytes = bytes};
}

int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes)
{
    if (rank == d->rank) {
        memcpy(to, d->control.start + offset, bytes);
        return 0;
    }
    const drail_xfer_t xfer = transfer(d, rank, offset, to, bytes);
    int rc = rdma_read(d, rank, &xfer);
    return rc ? space_break_rails(d, rc, "reading from a rank") : 0;
}

int control_probe(ddsm_t *d, unsigned rank)
{
    enum { WAIT_MS = 20 };
    uint64_t *to = &d->control.probe[rank];
    drail_req_t req;
    const drail_xfer_t xfer =
        transfer(d, rank, d->control.broken_offset, to, sizeof *to);
    int rc = drail_get(d->t, rank, &xfer, 0, &req);
    if (rc)
        return rc;
    rc = drail_wait(d->t, &req, WAIT_MS);
    if (rc)
        drail_forget(d->t, &req);
    return rc;
}

int control_write(ddsm_t *d, unsigned rank, size_t offset, void *from,
                  size_t bytes)
{
    if (rank == d->rank) {
        memcpy(d->control.start + offset, from, bytes);
        return 0;
    }
    const drail_xfer_t xfer = transfer(d, rank, offset, from, bytes);
    int rc = rdma_write(d, rank, &xfer);
    return rc ? space_break_rails(d, rc, "writing to a rank") : 0;
}

int control_post(ddsm_t *d, unsigned rank, size_t offset, void *from,
                 size_t bytes)
{
    const drail_xfer_t xfer = transfer(d, rank, offset, from, bytes);
    int rc = drail_put(d->t, rank, &xfer, 0, 0, NULL);
    return rc ? space_break_rails(d, rc, "writing to a rank") : 0;
}
