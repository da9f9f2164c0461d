/* SPDX-License-Identifier: BSD-3-Clause */
/* The rails that the registry lists. */
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>

#include "dapl_rail/rails/rail.h"

/* All entries of the registry; the caller frees *list. */
static int registry_list(DAT_PROVIDER_INFO **list, unsigned *count)
{
    DAT_COUNT n = 0;
    DAT_PROVIDER_INFO **pointers = NULL;
    int rc = DRAIL_ENOMEM;

    *list = NULL;
    *count = 0;
    /* a call for 0 entries fails, and returns how many there are */
    dat_registry_list_providers(0, &n, NULL);
    if (n <= 0)
        return 0;
    *list = calloc((size_t)n, sizeof **list);
    pointers = calloc((size_t)n, sizeof *pointers);
    if (!*list || !pointers)
        goto out;
    for (DAT_COUNT i = 0; i < n; i++)
        pointers[i] = &(*list)[i];
    rc = DRAIL_EDAT;
    if (dat_registry_list_providers(n, &n, pointers) != DAT_SUCCESS)
        goto out;
    *count = (unsigned)n;
    rc = 0;
out:
    free(pointers);
    if (rc) {
        free(*list);
        *list = NULL;
    }
    return rc;
}

int drail_rails_list(char (*names)[DRAIL_NAME_MAX], unsigned max,
                     unsigned *count)
{
    DAT_PROVIDER_INFO *list;
    unsigned listed, n = 0;
    if (!count || (max && !names))
        return DRAIL_EINVAL;
    int rc = registry_list(&list, &listed);
    if (rc)
        return rc;
    for (unsigned i = 0; i < listed; i++) {
        if (list[i].dapl_version_major != DAT_VERSION_MAJOR ||
            strlen(list[i].ia_name) >= DRAIL_NAME_MAX)
            continue;
        if (n < max)
            strcpy(names[n], list[i].ia_name);
        n++;
    }
    *count = n;
    free(list);
    return 0;
}

int rails_find(const char *name, DAT_PROVIDER_INFO *info)
{
    DAT_PROVIDER_INFO *list;
    unsigned listed;
    int rc = registry_list(&list, &listed);
    if (rc)
        return rc;
    rc = DRAIL_ENORAIL;
    for (unsigned i = 0; i < listed && rc; i++) {
        if (strcmp(list[i].ia_name, name) ||
            list[i].dapl_version_major != DAT_VERSION_MAJOR)
            continue;
        *info = list[i];
        rc = 0;
    }
    free(list);
    return rc;
}
