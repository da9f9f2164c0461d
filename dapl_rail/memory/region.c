/* SPDX-License-Identifier: BSD-3-Clause */
/* One LMR per rail for the same region (Cai et al. 2009, fig. 3). */
#include "dapl_rail/memory/region.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"
#include "providers/core/extensions.h"

static DAT_MEM_PRIV_FLAGS privileges(const struct rail *rail, unsigned access)
{
    unsigned priv = DAT_MEM_PRIV_LOCAL_READ_FLAG;
    if (access & ACCESS_LOCAL_WRITE)
        priv |= DAT_MEM_PRIV_LOCAL_WRITE_FLAG | rail->read_sink_priv;
    if (access & DRAIL_ACCESS_REMOTE_READ)
        priv |= DAT_MEM_PRIV_REMOTE_READ_FLAG;
    if (access & DRAIL_ACCESS_REMOTE_WRITE)
        priv |= DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    /* the extension's privilege exists only where the extension does */
    if (access & DRAIL_ACCESS_REMOTE_ATOMIC && rail->info.has_atomics)
        priv |= DAT_IB_MEM_PRIV_REMOTE_ATOMIC;
    return (DAT_MEM_PRIV_FLAGS)priv;
}

int region_register(struct region *region)
{
    drail_t *t = region->owner;
    for (unsigned r = 0; r < t->nrails; r++) {
        struct rail *rail = &t->rails[r];
        DAT_REGION_DESCRIPTION where = {.for_va = region->address};
        DAT_VLEN size;
        DAT_VADDR start;
        DAT_RETURN status = dat_lmr_create(
            rail->ia, DAT_MEM_TYPE_VIRTUAL, where, region->bytes, rail->pz,
            privileges(rail, region->access), DAT_VA_TYPE_VA, &region->lmr[r],
            &region->lmr_context[r], &region->rmr_context[r], &size, &start);
        if (status != DAT_SUCCESS)
            return dat_fail(rail, "dat_lmr_create", status);
        region->nrails = r + 1;
    }
    return 0;
}

static int lmr_free(struct rail *rail, DAT_LMR_HANDLE *lmr, bool waits)
{
    bool tries = !waits && rail->tries_free;
    DAT_RETURN status = tries ? dapl_lmr_try_free(*lmr) : dat_lmr_free(*lmr);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, tries ? "dapl_lmr_try_free" : "dat_lmr_free",
                        status);
    *lmr = DAT_HANDLE_NULL;
    return 0;
}

int region_deregister(struct region *region, bool waits)
{
    int rc = 0;
    for (unsigned r = 0; r < region->nrails; r++) {
        int failed = 0;
        if (region->lmr[r] != DAT_HANDLE_NULL)
            failed = lmr_free(&region->owner->rails[r], &region->lmr[r], waits);
        rc = failed ? failed : rc;
    }
    return rc;
}

void region_forget(struct region *region)
{
    struct drail_mem *view;
    while ((view = region->views)) {
        region->views = view->next;
        free(view);
    }
    if (region->fd >= 0)
        close(region->fd);
    free(region);
}

void region_free(struct region *region)
{
    if (region->ours)
        munmap(region->address, region->bytes);
    region_forget(region);
}
