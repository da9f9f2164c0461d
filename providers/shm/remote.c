/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to a peer's registered memory. Every access is checked against the
 * peer's published ranges: key, bounds, privilege, PZ and EP. It is announced
 * first and the key looked at again, so that the owner, who clears the key and
 * then waits for announced accesses, can free the memory safely.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shm.h"

static void leave(struct shm_conn *c, int slot)
{
    atomic_store_explicit(&c->tx->access[slot], 0, memory_order_release);
}

/* The range behind a key if the access is allowed, else NULL. */
static const struct shm_mr *enter(struct shm_conn *c, int slot,
                                  uint64_t address, uint64_t length,
                                  uint32_t key, int priv)
{
    const struct shm_mr *mr = &c->peer->control.table[key % CORE_MAX_MRS];
    /* A full barrier between announcing and looking. */
    atomic_exchange(&c->tx->access[slot], key);
    if (key && atomic_load_explicit(&mr->key, memory_order_acquire) == key &&
        (mr->priv & priv) == priv && mr->pz_id == c->peer_pz_id &&
        (!mr->ep_id || mr->ep_id == c->peer_ep_id) && address >= mr->base &&
        length <= mr->length && address - mr->base <= mr->length - length)
        return mr;
    leave(c, slot);
    return NULL;
}

/* ------------------------------------- memory that can't be mapped here --- */

static DAT_DTO_COMPLETION_STATUS vm_status(int err)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (err == EPERM && !atomic_flag_test_and_set(&told))
        fprintf(stderr,
                "dapl shm: process_vm_writev is not permitted "
                "(kernel.yama.ptrace_scope?): only shared file mappings "
                "can be accessed remotely\n");
    return err == EFAULT ? DAT_DTO_ERR_REMOTE_ACCESS : DAT_DTO_ERR_TRANSPORT;
}

static DAT_DTO_COMPLETION_STATUS vm_copy(struct shm_conn *c, bool write,
                                         uint32_t nseg,
                                         const DAT_LMR_TRIPLET *seg,
                                         uint64_t total, uint64_t address)
{
    uint64_t done = 0;
    while (done < total) {
        struct iovec local[CORE_MAX_IOV];
        /* The last byte by itself: the kernel's string copy may store the
         * bytes of one piece in any order, but pieces in theirs. */
        uint64_t body = total - done - 1;
        struct iovec remote[2] = {
            {(void *)(uintptr_t)(address + done), body},
            {(void *)(uintptr_t)(address + total - 1), 1},
        };
        uint64_t skip = done, left = total - done;
        unsigned n = 0;
        for (uint32_t i = 0; i < nseg && left; i++) {
            uint64_t len = seg[i].segment_length;
            if (skip >= len) {
                skip -= len;
                continue;
            }
            len = len - skip < left ? len - skip : left;
            local[n].iov_base =
                (void *)(uintptr_t)(seg[i].virtual_address + skip);
            local[n++].iov_len = len;
            left -= len;
            skip = 0;
        }
        ssize_t r =
            write ? process_vm_writev(c->peer->pid, local, n, remote, 2, 0)
                  : process_vm_readv(c->peer->pid, local, n, remote, 2, 0);
        if (r <= 0)
            return vm_status(r ? errno : EFAULT);
        done += (uint64_t)r;
    }
    return DAT_DTO_SUCCESS;
}

/* -------------------------------------------------------------- copies --- */

static void map_copy(struct shm_conn *c, bool write, uint32_t nseg,
                     const DAT_LMR_TRIPLET *seg, uint64_t total, char *remote)
{
    size_t stream = c->sia->params.stream_bytes;
    for (uint32_t i = 0; i < nseg && total; i++) {
        void *local = (void *)(uintptr_t)seg[i].virtual_address;
        uint64_t len = seg[i].segment_length;
        if (len > total)
            len = total;
        if (write)
            shm_copy_ordered(remote, local, len, stream);
        else
            shm_copy(local, remote, len, stream);
        remote += len;
        total -= len;
    }
}

DAT_DTO_COMPLETION_STATUS shm_remote_copy(struct shm_conn *c, int slot,
                                          bool write, uint32_t nseg,
                                          const DAT_LMR_TRIPLET *seg,
                                          uint64_t total, uint64_t address,
                                          uint32_t key, int priv)
{
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    if (!total) /* no memory is touched, no key is looked at (as on IB) */
        return status;
    const struct shm_mr *mr = enter(c, slot, address, total, key, priv);
    if (!mr)
        return DAT_DTO_ERR_REMOTE_ACCESS;
    char *base = shm_peer_map(c->peer, mr, key);
    if (base)
        map_copy(c, write, nseg, seg, total, base + (address - mr->base));
    else
        status = vm_copy(c, write, nseg, seg, total, address);
    leave(c, slot);
    return status;
}

/* ------------------------------------------------------------- atomics --- */

static uint64_t apply(const struct core_dto *dto, uint64_t old)
{
    if (dto->op == CORE_FETCH_ADD)
        return old + dto->operand;
    return old == dto->compare ? dto->operand : old;
}

/* One process at a time per target IA; a dead owner's turn is taken over. */
static void atomic_lock(struct shm_doorbell *door)
{
    uint32_t me = (uint32_t)getpid(), owner = 0;
    for (unsigned spins = 0;
         !atomic_compare_exchange_strong(&door->atomic_owner, &owner, me);
         spins++) {
        if (spins % 1024 == 1023 && owner != me && kill((pid_t)owner, 0) &&
            errno == ESRCH &&
            atomic_compare_exchange_strong(&door->atomic_owner, &owner, me))
            return;
        owner = 0;
        sched_yield();
    }
}

static DAT_DTO_COMPLETION_STATUS
vm_atomic(struct shm_conn *c, const struct core_dto *dto, uint64_t *old)
{
    struct shm_doorbell *door = c->peer->control.door;
    uint64_t value;
    DAT_LMR_TRIPLET word = {.virtual_address = (uintptr_t)old,
                            .segment_length = sizeof *old};
    atomic_lock(door);
    DAT_DTO_COMPLETION_STATUS status =
        vm_copy(c, false, 1, &word, sizeof *old, dto->remote_address);
    if (status == DAT_DTO_SUCCESS) {
        value = apply(dto, *old);
        word.virtual_address = (uintptr_t)&value;
        status = vm_copy(c, true, 1, &word, sizeof value, dto->remote_address);
    }
    atomic_store_explicit(&door->atomic_owner, 0, memory_order_release);
    return status;
}

DAT_DTO_COMPLETION_STATUS shm_remote_atomic(struct shm_conn *c,
                                            const struct core_dto *dto)
{
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    uint64_t old = 0;
    const struct shm_mr *mr = enter(c, 0, dto->remote_address, 8,
                                    dto->remote_key, CORE_PRIV_REMOTE_ATOMIC);
    if (!mr)
        return DAT_DTO_ERR_REMOTE_ACCESS;
    char *base = shm_peer_map(c->peer, mr, dto->remote_key);
    uint64_t *word = (void *)(base + (dto->remote_address - mr->base));
    if (!base) {
        status = vm_atomic(c, dto, &old);
    } else if (dto->op == CORE_FETCH_ADD) {
        old = __atomic_fetch_add(word, dto->operand, __ATOMIC_SEQ_CST);
    } else {
        old = dto->compare; /* is set to what was there */
        __atomic_compare_exchange_n(word, &old, dto->operand, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    leave(c, 0);
    if (status == DAT_DTO_SUCCESS)
        memcpy((void *)(uintptr_t)dto->seg->virtual_address, &old, sizeof old);
    return status;
}
