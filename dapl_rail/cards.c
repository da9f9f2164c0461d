/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails are matched by fabric: IAs that reach each other, whatever their names
 * and their order in a rank. If a rank has several rails on a fabric, those of
 * the same network match (other networks may be reached through routers), then
 * those of the same name, then the others in their order.
 */
#include "dapl_rail/cards.h"

#include <string.h>

#include "dapl_rail/base/limits.h"

/* How well two rails match; 0: not at all. */
static unsigned likeness(const struct card *a, const struct card *b)
{
    if (strcmp(a->fabric, b->fabric))
        return 0;
    bool network = a->network[0] && !strcmp(a->network, b->network);
    bool name = !strcmp(a->name, b->name);
    return 1 + 2 * network + name;
}
#define MOST_ALIKE 4u

const struct card *cards_match(const struct card_set *first,
                               const struct card_set *set, unsigned *order,
                               const struct card_set **whose)
{
    uint32_t matched = 0, taken = 0;
    for (unsigned least = MOST_ALIKE; least; least--)
        for (unsigned r = 0; r < first->nrails; r++)
            for (unsigned o = 0; o < set->nrails; o++) {
                if (matched & RAIL_BIT(r) || taken & RAIL_BIT(o) ||
                    likeness(&first->cards[r], &set->cards[o]) < least)
                    continue;
                order[r] = o;
                matched |= RAIL_BIT(r);
                taken |= RAIL_BIT(o);
            }
    *whose = first;
    for (unsigned r = 0; r < first->nrails; r++)
        if (!(matched & RAIL_BIT(r)))
            return &first->cards[r];
    *whose = set;
    for (unsigned r = 0; r < set->nrails; r++)
        if (!(taken & RAIL_BIT(r)))
            return &set->cards[r];
    return NULL;
}
