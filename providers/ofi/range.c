/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered ranges. libfabric holds what peers ask for against the range, its
 * key and its privileges. cq_lock: tcp looks ranges up while the CQ is read,
 * without a lock of its own.
 */
#include <stdlib.h>

#include "ofi.h"

static uint64_t access_of(const struct ofi_ia *oia, const struct core_mr *mr)
{
    uint64_t access = 0;
    if (oia->local_keys)
        access |= FI_SEND | FI_RECV | FI_READ | FI_WRITE;
    if (mr->priv & DAT_MEM_PRIV_REMOTE_READ_FLAG)
        access |= FI_REMOTE_READ;
    if (mr->priv & DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
        access |= FI_REMOTE_WRITE;
    return access;
}

/* For the access of peers, or, with an adapter, of our own requests; if there
 * is none, libfabric need not know of it. */
static int range_register(struct ofi_ia *oia, struct core_mr *mr,
                          struct ofi_range *range)
{
    uint64_t access = access_of(oia, mr);
    if (!access)
        return 0;
    pthread_mutex_lock(&oia->cq_lock);
    int err = fi_mr_reg(oia->domain, (void *)(uintptr_t)mr->base, mr->length,
                        access, 0, mr->key, 0, &range->fid, NULL);
    if (!err && fi_mr_key(range->fid) > UINT32_MAX) {
        fi_close(&range->fid->fid);
        err = -FI_ENOKEY;
    }
    pthread_mutex_unlock(&oia->cq_lock);
    if (!err)
        mr->rmr_context = (uint32_t)fi_mr_key(range->fid);
    return err;
}

DAT_RETURN ofi_mr_publish(struct core_ia *ia, struct core_mr *mr)
{
    struct ofi_range *range = calloc(1, sizeof *range);
    if (!range || range_register(ofi_ia(ia), mr, range)) {
        free(range);
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    }
    mr->tp = range;
    return DAT_SUCCESS;
}

/* An adapter's accesses are over then. */
static void range_close(struct ofi_ia *oia, struct ofi_range *range)
{
    pthread_mutex_lock(&oia->cq_lock);
    fi_close(&range->fid->fid);
    range->fid = NULL;
    range->withdrawal = ++oia->withdrawals;
    pthread_mutex_unlock(&oia->cq_lock);
}

static bool peers_inside(struct ofi_ia *oia, uint64_t withdrawal)
{
    if (!withdrawal || !ofi_access_inside(oia, withdrawal))
        return false;
    ofi_advance(oia, true);
    return ofi_access_inside(oia, withdrawal);
}

/* libfabric's tcp stops neither requests of ours nor peers. */
static bool is_used(struct ofi_ia *oia, const struct core_mr *mr)
{
    const struct ofi_range *range = mr->tp;
    return oia->talks && (ofi_access_own(oia, mr->key) ||
                          peers_inside(oia, range->withdrawal));
}

bool ofi_mr_withdraw(struct core_ia *ia, struct core_mr *mr)
{
    struct ofi_ia *oia = ofi_ia(ia);
    struct ofi_range *range = mr->tp;
    if (range->fid && !ia->forked)
        range_close(oia, range);
    if (!ia->forked && is_used(oia, mr))
        return false;
    free(range);
    mr->tp = NULL;
    return true;
}
