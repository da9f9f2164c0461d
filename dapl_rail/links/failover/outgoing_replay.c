/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and reads go with the carrier's contexts, sends as messages for this
 * link, writes with immediate data as both. What the peer has already is only
 * retired, but for reads: their data may not have come. They are repeated, as
 * are writes of which no later message has come: until a transfer is complete,
 * its target may change.
 */
#include "dapl_rail/links/failover/outgoing_replay.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/failover/carrier.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

void detour_begin(struct link *link, struct link *carrier)
{
    struct lost *lost = link->lost;
    lost->at = link->retired;
    lost->op = link->ops_tail;
    lost->carrier = carrier;
    lost->last = carrier->carrier->sent;
    lost->pending = 0;
    lost->part = 0;
    lost->written = false;
}

/* The op of the record that is next; NULL: it has no event. */
static struct op *op_of(const struct link *link)
{
    const struct lost *lost = link->lost;
    if (lost->op == link->ops_head)
        return NULL;
    struct op *op = op_at(link, lost->op);
    return op->posted == lost->at + 1 ? op : NULL;
}

static bool carry_data(struct link *link, const struct record *r,
                       uint64_t number)
{
    struct lost *lost = link->lost;
    const struct rail *rail = lost->carrier->rail;
    struct dto d = journal_dto(link, r, rail->index);
    if (d.verb == VERB_WRITE_IMMED)
        d.verb = VERB_WRITE;
    for (;;) {
        uint64_t left = r->bytes - lost->part;
        uint64_t part = left < rail->max_rdma ? left : rail->max_rdma;
        d.local.virtual_address = r->local + lost->part;
        d.remote.virtual_address = r->remote + lost->part;
        d.local.segment_length = d.remote.segment_length = (DAT_SEG_LENGTH)part;
        if (!carrier_post(lost->carrier, &d, link, part == left ? number : 0))
            return false;
        if (part == left)
            return true;
        lost->part += part;
    }
}

static bool carry_send(struct link *link, const struct record *r,
                       uint64_t number)
{
    const unsigned char *slot = (const unsigned char *)(uintptr_t)r->local;
    struct wire wire = *(const struct wire *)slot;
    wire.lane = (uint16_t)lane_number(link);
    return carrier_send(link->lost->carrier, link, number, &wire,
                        slot + sizeof wire, r->bytes - sizeof wire);
}

static bool carry_immed(struct link *link, const struct record *r,
                        uint64_t number)
{
    struct lost *lost = link->lost;
    const struct wire wire = {.type = WIRE_IMMED,
                              .lane = (uint16_t)lane_number(link),
                              .id = r->immed};
    lost->written = lost->written || carry_data(link, r, 0);
    return lost->written &&
           carrier_send(lost->carrier, link, number, &wire, NULL, 0);
}

static bool carry(struct link *link, const struct record *r, uint64_t number)
{
    drail_rail_stats_t *stats = &link->rail->stats;
    bool done = r->verb == VERB_SEND          ? carry_send(link, r, number)
                : r->verb == VERB_WRITE_IMMED ? carry_immed(link, r, number)
                                              : carry_data(link, r, number);
    if (done && link->lost->carrier != link) {
        stats->carried++;
        stats->carried_bytes += r->bytes;
    }
    return done;
}

/* As it would have been posted at first. */
static bool post_own(struct link *link, const struct record *r, struct op *op)
{
    struct dto d = journal_dto(link, r, link->rail->index);
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)op};
    DAT_RETURN status = dto_post(
        link, &d, op ? cookie : cookie_suppressed(link),
        op ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG);
    if (status == DAT_SUCCESS)
        return true;
    if (DAT_GET_TYPE(status) != DAT_INSUFFICIENT_RESOURCES) {
        dat_fail(link->rail, "dat_ep_post", status);
        link_lost(link, DRAIL_EPEER, "%s", link->rail->error.text);
    }
    return false;
}

/* One that is not to be posted again; when all before it are complete. */
static bool retire(struct link *link, struct op *op, int status)
{
    if (op && (link->lost->pending || link->lost->op != link->ops_tail))
        return false;
    if (op)
        link_retire(op, status);
    return true;
}

static bool step(struct link *link)
{
    struct lost *lost = link->lost;
    const struct record *r = journal_at(link, lost->at);
    struct op *op = op_of(link);
    bool known = lost->at < lost->until, done;
    if (is_atomic(r->verb)) /* nobody knows */
        done = retire(link, op, DRAIL_EPEER);
    else if (known && r->verb != VERB_READ)
        done = retire(link, op, 0);
    else if (known || lost->carrier != link)
        done = carry(link, r, op ? lost->at + 1 : 0);
    else
        done = post_own(link, r, op);
    if (!done)
        return false;
    if (lost->at < lost->tried)
        link->rail->stats.retries += !known;
    else
        lost->tried = lost->at + 1;
    lost->at++;
    lost->op += op != NULL;
    lost->part = 0;
    lost->written = false;
    return true;
}

void detour_go_on(struct link *link)
{
    while (link->lost->at != link->posted && step(link))
        ;
}

int detour_ends(const struct link *link)
{
    return link->lost->carrier == link && link->lost->at == link->posted &&
           !link->lost->pending;
}

void detour_end(struct link *link)
{
    uint64_t until;
    if (journal_until(link, link->lost->received, &until))
        return; /* it has not told since before the last ones that are */
    while (link->ops_tail != link->ops_head) {
        struct op *op = op_first(link);
        unsigned verb = journal_at(link, op->posted - 1)->verb;
        bool answered = verb == VERB_READ || is_atomic(verb);
        if (op->posted > until)
            return;
        link_retire(op, answered ? link->error : 0);
    }
}

void detour_turn(struct link *link)
{
    struct lost *lost = link->lost;
    if (lost->carrier == link || lost->pending ||
        !carrier_acknowledged(lost->carrier, lost->last))
        return;
    lost->carrier = link;
    lost->part = 0;
    lost->written = false;
}
