/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/eager_put.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/rails/rail.h"

int eager_put_send(struct link *link, const struct note *note,
                   const drail_xfer_t *xfer, const drail_chunk_t *chunk)
{
    struct wire wire = note_wire(note, WIRE_PUT);
    const struct wire_put put = {
        .address = xfer->remote->address + xfer->remote_offset + chunk->offset,
        .rmr_context = xfer->remote->rmr_context[link->rail->index],
    };
    return link_send_put(link, &wire, &put,
                         (const char *)xfer->local + chunk->offset,
                         chunk->bytes);
}

/* A peer may write the memory that it may write by RDMA, and no other. */
const char *eager_put_arrived(struct slot *slot)
{
    const struct rail *rail = slot->link->rail;
    const struct wire_put *put =
        (const struct wire_put *)(slot->data + sizeof(struct wire));
    size_t head = sizeof(struct wire) + sizeof *put;
    if (slot->bytes < head)
        return "length of a put";
    size_t bytes = slot->bytes - head;
    if (!key_grants(rail->owner, rail->index, put->rmr_context, put->address,
                    bytes, DRAIL_ACCESS_REMOTE_WRITE))
        return "key of a put";
    slot_read(slot, head, (void *)(uintptr_t)put->address, bytes);
    return note_arrived(slot);
}
