/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/page_list.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void pages_sort(struct page_list *list)
{
    size_t i = 1;
    while (i < list->count && list->page[i - 1] < list->page[i])
        i++;
    if (i < list->count)
        qsort(list->page, list->count, sizeof *list->page, compare);
}

void pages_unique(struct page_list *list)
{
    size_t n = 0;
    pages_sort(list);
    for (size_t i = 0; i < list->count; i++)
        if (!n || list->page[n - 1] != list->page[i])
            list->page[n++] = list->page[i];
    list->count = n;
}

size_t pages_run(const struct page_list *list, size_t from)
{
    size_t n = 1;
    while (from + n < list->count &&
           list->page[from + n] == list->page[from] + n)
        n++;
    return n;
}
