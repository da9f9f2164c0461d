/* SPDX-License-Identifier: BSD-3-Clause */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

struct label {
    char name[WORD_MAX];
    uint32_t op;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->name,
                  ((const struct label *)b)->name);
}

int labels_add(labels_t *labels, const char *name, uint32_t op)
{
    struct label *l = malloc(sizeof *l);
    if (!l)
        return -1;
    strcpy(l->name, name);
    l->op = op;
    struct label *const *at = tsearch(l, &labels->tree, compare);
    if (at && *at == l)
        return 0;
    free(l);
    return at ? 1 : -1;
}

uint32_t labels_find(const labels_t *labels, const char *name)
{
    struct label wanted;
    strcpy(wanted.name, name);
    struct label *const *at = tfind(&wanted, &labels->tree, compare);
    return at ? (*at)->op : LABEL_NONE;
}

void labels_clear(labels_t *labels)
{
    tdestroy(labels->tree, free);
    labels->tree = NULL;
}
