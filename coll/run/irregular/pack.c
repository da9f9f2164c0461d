/* SPDX-License-Identifier: BSD-3-Clause */
/* PACK: one bundle with all elements of my node for another node. */
#include <string.h>

#include "coll/run/irregular/offer.h"

struct packing {
    dcoll_request_t *q;
    unsigned char *bundle;
    size_t room, at; /* at: where the next elements go */
    unsigned first, receivers;
};

static int pack_part(struct packing *p, const unsigned char *table, size_t room,
                     unsigned to, unsigned char *entry)
{
    struct offer offer;
    memcpy(&offer, table + offer_table(to), sizeof offer);
    size_t bytes = offer.elements * p->q->elements.element;
    if (!offer_is_within(p->q, to, &offer, room) || bytes > p->room - p->at)
        return team_fail(p->q->team, DRAIL_EINVAL,
                         "%s: a table offers rank %u %llu elements, which are "
                         "not in it",
                         p->q->algorithm->name, to,
                         (unsigned long long)offer.elements);
    platform_copy(p->q->team->platform, p->bundle + p->at, table + offer.at,
                  bytes);
    offer.at = p->at;
    memcpy(entry, &offer, sizeof offer);
    p->at += bytes;
    return 0;
}

/* If the elements are of another size than mine, only the head is packed: the
 * receivers see the error there. */
static int pack_table(struct packing *p, const unsigned char *table,
                      size_t room, unsigned sender)
{
    unsigned char *section = p->bundle + offer_section(sender, p->receivers);
    unsigned char *entry = section + sizeof(struct offer_head);
    struct offer_head head;
    int rc = 0;
    memcpy(&head, table, sizeof head);
    memcpy(section, &head, sizeof head);
    memset(entry, 0, p->receivers * sizeof(struct offer));
    if (head.error || head.element != p->q->elements.element)
        return 0;
    for (unsigned i = 0; !rc && i < p->receivers; i++)
        rc = pack_part(p, table, room, p->first + i,
                       entry + i * sizeof(struct offer));
    return rc;
}

int offer_pack(dcoll_request_t *q, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &q->schedule.deals[op->deal];
    const dcoll_shape_t *shape = &q->team->shape;
    const unsigned char *table = address(q, op->src);
    unsigned node = dcoll_shape_node(shape, op->peer);
    struct packing p = {.q = q,
                        .bundle = address(q, op->dst),
                        .room = op->bytes,
                        .first = shape->node_begin[node],
                        .receivers = dcoll_shape_locals(shape, op->peer)};
    int rc = 0;
    p.at = offer_section(deal->fan, p.receivers);
    for (unsigned i = 0; !rc && i < deal->fan; i++, table += deal->stride)
        rc = pack_table(&p, table, deal->stride, i);
    *(struct bundle_head *)p.bundle = (struct bundle_head){p.at, 0};
    return rc;
}
