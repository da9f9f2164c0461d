/* SPDX-License-Identifier: BSD-3-Clause */
/* A rail's description, and the parts that two rails share. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"

int drail_rail_query(const char *name, drail_rail_info_t *info,
                     drail_error_t *err)
{
    if (!name || !info)
        return error_set(err, DRAIL_EINVAL, "drail_rail_query: no name");
    struct rail *rail = alloc_lines(sizeof *rail);
    if (!rail)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    int rc = rail_open(rail, name, true, err);
    if (!rc) {
        struct locality *topology = locality_open();
        locality_of(topology, &rail->info);
        locality_close(topology);
        *info = rail->info;
        rail_close(rail);
    }
    free(rail);
    return rc;
}

const char *drail_rails_shared(const drail_t *t, unsigned a, unsigned b)
{
    if (!t || a >= t->nrails || b >= t->nrails || a == b)
        return NULL;
    const drail_rail_info_t *x = &t->rails[a].info, *y = &t->rails[b].info;
    if (x->address[0] && !strcmp(x->address, y->address))
        return "they share one port: their IA addresses are the same";
    if (x->adapter[0] && !strcmp(x->adapter, y->adapter))
        return "they share one adapter: their adapter names are the same";
    if (x->bus[0] && !strcmp(x->bus, y->bus))
        return "they share one host bus: their bus names are the same";
    return NULL;
}
