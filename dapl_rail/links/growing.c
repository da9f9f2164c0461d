/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/growing.h"

#include <string.h>

#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "providers/core/extensions.h"

#define MOST    4096u /* bytes of all messages of a request */
#define MESSAGE 1024u /* bytes of one of them */

bool growing_begins(const struct link *link, const struct wire *wire,
                    size_t bytes)
{
    return link->rail->growing_sends && wire->type == WIRE_EAGER &&
           bytes <= MESSAGE && link->growing.polls == link->rail->polls;
}

void growing_posted(struct link *link, const struct dto *d)
{
    if (!link->rail->growing_sends)
        return;
    size_t bytes = d->local.segment_length;
    link->growing = (struct growing){
        .posted = link->queue.posted,
        .polls = link->rail->polls,
        .end = (unsigned char *)(uintptr_t)d->local.virtual_address + bytes,
        .room = d->grows ? MOST - bytes : 0,
    };
}

bool link_append(struct link *link, const struct wire *wire,
                 const void *payload, size_t bytes)
{
    struct growing *g = &link->growing;
    size_t gap = -(uintptr_t)g->end % GROWING_ALIGN;
    size_t more = gap + sizeof *wire + bytes;
    if (more > g->room || bytes > MESSAGE || link->state != LINK_UP ||
        g->posted != link->queue.posted)
        return false;
    memcpy(g->end + gap, wire, sizeof *wire);
    if (bytes)
        memcpy(g->end + gap + sizeof *wire, payload, bytes);
    DAT_LMR_TRIPLET tail = {.virtual_address = (uintptr_t)g->end,
                            .segment_length = (DAT_SEG_LENGTH)more,
                            .lmr_context = link->slots.lmr_context};
    DAT_DTO_COOKIE none = {0};
    if (dat_ep_post_send(link->ep.handle, 1, &tail, none,
                         DAPL_SEND_APPEND_FLAG) != DAT_SUCCESS)
        return false;
    if (link->journal.records)
        journal_at(&link->journal, g->posted - 1)->bytes += (uint32_t)more;
    g->end += more;
    g->room -= more;
    link->rail->stats.sends++;
    link->rail->stats.send_bytes += bytes;
    return true;
}
