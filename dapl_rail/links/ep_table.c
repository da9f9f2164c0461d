/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/ep_table.h"

#include <stdint.h>
#include <stdlib.h>

#include "dapl_rail/links/link.h"

#define LISTS_MIN 16u

static struct link **list_of(const struct rail *rail, DAT_EP_HANDLE ep)
{
    uint64_t n = (uintptr_t)ep * 0x9e3779b97f4a7c15ull;
    return &rail->ends[n >> 32 & (rail->ends_lists - 1)];
}

static void put(struct rail *rail, struct link *link)
{
    struct link **list = list_of(rail, link->ep);
    link->next_end = *list;
    *list = link;
}

/* As many lists as there are links, about. */
static int grow(struct rail *rail)
{
    struct rail larger = {.ends_lists =
                              rail->ends ? 2 * rail->ends_lists : LISTS_MIN};
    larger.ends = calloc(larger.ends_lists, sizeof(struct link *));
    if (!larger.ends)
        return DRAIL_ENOMEM;
    for (unsigned i = 0; rail->ends && i < rail->ends_lists; i++)
        for (struct link *link = rail->ends[i], *next; link; link = next) {
            next = link->next_end;
            put(&larger, link);
        }
    free(rail->ends);
    rail->ends = larger.ends;
    rail->ends_lists = larger.ends_lists;
    return 0;
}

int ends_enter(struct link *link)
{
    struct rail *rail = link->rail;
    if (!rail->ends || rail->ends_count >= rail->ends_lists)
        if (grow(rail) && !rail->ends)
            return DRAIL_ENOMEM;
    put(rail, link);
    rail->ends_count++;
    return 0;
}

void ends_leave(struct link *link)
{
    struct link **at = list_of(link->rail, link->ep);
    while (*at != link)
        at = &(*at)->next_end;
    *at = link->next_end;
    link->rail->ends_count--;
}

struct link *ends_find(const struct rail *rail, DAT_EP_HANDLE ep)
{
    struct link *link = rail->ends && ep ? *list_of(rail, ep) : NULL;
    while (link && link->ep != ep)
        link = link->next_end;
    return link;
}

void ends_free(struct rail *rail)
{
    free(rail->ends);
    rail->ends = NULL;
}
