/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered ranges. libfabric holds what peers ask for against the range, its
 * key and its privileges. cq_lock: tcp looks ranges up while the CQ is read,
 * without a lock of its own.
 */
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

DAT_RETURN ofi_mr_publish(struct core_ia *ia, struct core_mr *mr)
{
    struct ofi_ia *oia = ofi_ia(ia);
    struct fid_mr *fid = NULL;
    uint64_t access = access_of(oia, mr);
    mr->tp = NULL;
    if (!access)
        return DAT_SUCCESS;
    pthread_mutex_lock(&oia->cq_lock);
    int err = fi_mr_reg(oia->domain, (void *)(uintptr_t)mr->base, mr->length,
                        access, 0, mr->key, 0, &fid, NULL);
    if (!err && fi_mr_key(fid) > UINT32_MAX) {
        fi_close(&fid->fid);
        err = -FI_ENOKEY;
    }
    pthread_mutex_unlock(&oia->cq_lock);
    if (err)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    mr->tp = fid;
    mr->rmr_context = (uint32_t)fi_mr_key(fid);
    return DAT_SUCCESS;
}

bool ofi_mr_withdraw(struct core_ia *ia, struct core_mr *mr)
{
    struct ofi_ia *oia = ofi_ia(ia);
    struct fid_mr *fid = mr->tp;
    mr->tp = NULL;
    if (!fid || ia->forked)
        return true;
    pthread_mutex_lock(&oia->cq_lock);
    fi_close(&fid->fid);
    pthread_mutex_unlock(&oia->cq_lock);
    return true;
}
