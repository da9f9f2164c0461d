/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/ep_table.h"

#include <stdint.h>
#include <stdlib.h>

#include "dapl_rail/links/link.h"

#define LISTS_MIN 16u /* a power of 2 */

static struct link **list_of(const struct ep_table *table, DAT_EP_HANDLE ep)
{
    uint64_t n = (uintptr_t)ep * 0x9e3779b97f4a7c15ull;
    return &table->lists[n >> 32 & (table->nlists - 1)];
}

static void put(struct ep_table *table, struct link *link)
{
    struct link **list = list_of(table, link->ep.handle);
    link->next_in_table = *list;
    *list = link;
}

/* There are about as many lists as links. */
static int grow(struct ep_table *table)
{
    struct ep_table larger = {.nlists =
                                  table->lists ? 2 * table->nlists : LISTS_MIN,
                              .count = table->count};
    larger.lists = calloc(larger.nlists, sizeof *larger.lists);
    if (!larger.lists)
        return DRAIL_ENOMEM;
    for (unsigned i = 0; table->lists && i < table->nlists; i++)
        for (struct link *link = table->lists[i], *next; link; link = next) {
            next = link->next_in_table;
            put(&larger, link);
        }
    free(table->lists);
    *table = larger;
    return 0;
}

int ep_table_add(struct link *link)
{
    struct ep_table *table = &link->rail->ep_table;
    if (!table->lists || table->count >= table->nlists)
        if (grow(table) && !table->lists)
            return DRAIL_ENOMEM;
    put(table, link);
    table->count++;
    return 0;
}

void ep_table_remove(struct link *link)
{
    struct ep_table *table = &link->rail->ep_table;
    struct link **at = list_of(table, link->ep.handle);
    while (*at != link)
        at = &(*at)->next_in_table;
    *at = link->next_in_table;
    table->count--;
}

struct link *ep_table_find(const struct rail *rail, DAT_EP_HANDLE ep)
{
    const struct ep_table *table = &rail->ep_table;
    struct link *link = table->lists && ep ? *list_of(table, ep) : NULL;
    while (link && link->ep.handle != ep)
        link = link->next_in_table;
    return link;
}

void ep_table_free(struct rail *rail)
{
    free(rail->ep_table.lists);
    rail->ep_table.lists = NULL;
}
