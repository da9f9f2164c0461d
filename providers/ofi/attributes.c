/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the EP's provider-specific attributes tell of its wire, over TCP:
 * whether the peer's system answers, be the peer stopped or busy. A consumer
 * with several connections to one peer compares them: the provider can't, as it
 * does not know which belong together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ofi.h"

enum { SILENT_MS, ANSWER_MS, BYTES, ATTRIBUTES };

struct ofi_wire {
    DAT_NAMED_ATTR attr[ATTRIBUTES];
    char text[ATTRIBUTES][24];
};

static struct ofi_wire *new_wire(void)
{
    static const char *const names[] = {"wire_silent_ms", "wire_answer_ms",
                                        "wire_bytes"};
    struct ofi_wire *w = calloc(1, sizeof *w);
    for (unsigned i = 0; w && i < ATTRIBUTES; i++)
        w->attr[i] = (DAT_NAMED_ATTR){names[i], w->text[i]};
    return w;
}

/* Of an attempt to connect: has the peer's system not answered it? */
static void look_connecting(struct ofi_conn *c, struct ofi_acked *acked)
{
    c->fd = ofi_socket_find(c->fid, c->guess);
    *acked = (struct ofi_acked){
        .owed = c->fd < 0,
        .heard_ms = (unsigned)((busywait_now_ns() - c->begun) / 1000000)};
}

static bool look(struct ofi_conn *c, struct ofi_acked *acked)
{
    if (c->state == OFI_CONNECTING && c->fid && c->fd < 0)
        look_connecting(c, acked);
    else if (c->state == OFI_CLOSED || !ofi_socket_acked(c->fd, acked))
        return false;
    return true;
}

static void write_number(struct ofi_wire *w, unsigned attribute, uint64_t value)
{
    snprintf(w->text[attribute], sizeof w->text[attribute], "%" PRIu64, value);
}

void ofi_ep_attributes(struct core_ep *ep, DAT_EP_ATTR *attr)
{
    struct ofi_conn *c = ep->tp;
    struct ofi_acked acked;
    if (!c || !c->oia->talks || !look(c, &acked))
        return;
    if (!c->wire && !(c->wire = new_wire()))
        return;
    write_number(c->wire, SILENT_MS,
                 !acked.owed      ? 0
                 : acked.heard_ms ? acked.heard_ms
                                  : 1);
    write_number(c->wire, ANSWER_MS, acked.answer_ms);
    write_number(c->wire, BYTES, acked.bytes);
    attr->ep_provider_specific = c->wire->attr;
    attr->ep_provider_specific_count = ATTRIBUTES;
}
