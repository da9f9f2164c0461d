/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA and atomics. Every access is announced (access.h), so that the owner can
 * free the memory safely, and checked against the peer's published range: key,
 * bounds, privilege, PZ and EP.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "providers/core/atomic.h"
#include "providers/core/last_word.h"
#include "providers/core/segments.h"
#include "providers/shm/memory/access.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/memory/remote.h"
#include "providers/shm/shm.h"

#define ATOMIC_NS 2000000000u

/* ------------------------------------- memory that can't be mapped here --- */

static DAT_DTO_COMPLETION_STATUS vm_status(int err)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    int state = core_cancel_off();
    if (err == EPERM && !atomic_flag_test_and_set(&told))
        fprintf(stderr,
                "dapl shm: process_vm_writev is not permitted "
                "(kernel.yama.ptrace_scope?): only shared file mappings "
                "can be accessed remotely\n");
    core_cancel_as(state);
    return err == EFAULT ? DAT_DTO_ERR_REMOTE_ACCESS : DAT_DTO_ERR_TRANSPORT;
}

__attribute__((noinline)) static DAT_DTO_COMPLETION_STATUS
vm_copy(struct shm_conn *c, bool write, uint32_t nseg,
        const DAT_LMR_TRIPLET *seg, uint64_t total, uint64_t address)
{
    uint64_t done = 0;
    if (!shm_peer_has_pid(c->peer))
        return DAT_DTO_ERR_TRANSPORT;
    while (done < total) {
        struct iovec local[CORE_MAX_IOV];
        DAT_LMR_TRIPLET rest[CORE_MAX_IOV];
        size_t word = core_last_word(address + done, total - done);
        struct iovec remote[2] = {
            {(void *)(uintptr_t)(address + done), total - done - word},
            {(void *)(uintptr_t)(address + total - word), word},
        };
        uint32_t n = core_slice(nseg, seg, done, total - done, rest);
        for (uint32_t i = 0; i < n; i++)
            local[i] =
                (struct iovec){(void *)(uintptr_t)rest[i].virtual_address,
                               rest[i].segment_length};
        ssize_t r =
            write ? process_vm_writev(c->peer->pid, local, n, remote, 2, 0)
                  : process_vm_readv(c->peer->pid, local, n, remote, 2, 0);
        if (r <= 0)
            return vm_status(r ? errno : EFAULT);
        done += (uint64_t)r;
    }
    return DAT_DTO_SUCCESS;
}

bool shm_remote_write_unmapped(struct shm_conn *c, const void *from,
                               size_t bytes, uint64_t address)
{
    DAT_LMR_TRIPLET whole = {.virtual_address = (uintptr_t)from,
                             .segment_length = bytes};
    return vm_copy(c, true, 1, &whole, bytes, address) == DAT_DTO_SUCCESS;
}

/* -------------------------------------------------------------- copies --- */

__attribute__((noinline)) static void map_copy(bool write, uint32_t nseg,
                                               const DAT_LMR_TRIPLET *seg,
                                               uint64_t total, char *remote,
                                               const struct shm_manner *manner)
{
    for (uint32_t i = 0; i < nseg && total; i++) {
        void *local = (void *)(uintptr_t)seg[i].virtual_address;
        uint64_t len = seg[i].segment_length;
        if (len > total)
            len = total;
        if (write)
            shm_copy_ordered(remote, local, len, manner);
        else
            shm_copy(local, remote, len, manner);
        remote += len;
        total -= len;
    }
}

/* Before the access is left: so the peer, once it has closed the connection,
 * knows of all writes. */
static inline void count_write(struct shm_conn *c, const struct core_dto *dto)
{
    if (!(dto->flags & DAPL_WRITE_COUNTED_FLAG))
        return;
    uint64_t n = atomic_load_explicit(&c->tx->counted, memory_order_relaxed);
    atomic_store_explicit(&c->tx->counted, n + 1, memory_order_release);
}

DAT_DTO_COMPLETION_STATUS shm_remote_copy(struct shm_conn *c,
                                          const struct core_dto *dto, int slot,
                                          int priv)
{
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    uint64_t address = dto->remote_address, total = dto->total;
    bool write = dto->op != CORE_READ;
    if (!total) /* as on InfiniBand, the key is not checked */
        return status;
    struct shm_manner manner = {0};
    if (total >= c->sia->stream_least) {
        if (!slot) /* a post holds no lock, and posts take turns */
            shm_choice_measure(c->sia, write, total);
        manner =
            shm_choose(c->sia, write, total, slot ? NULL : &c->cold[write]);
    }
    const struct shm_map *m = shm_access_range(c, slot, address, total,
                                               dto->remote_key, priv, &status);
    if (!m)
        return status;
    char *at = shm_map_at(m, address, total);
    if (write && dto->nseg == 1)
        manner.backward = shm_swings(
            &c->swing, (void *)(uintptr_t)dto->seg->virtual_address, total);
    if (!at)
        status = vm_copy(c, write, dto->nseg, dto->seg, total, address);
    else if (write && dto->nseg == 1)
        shm_copy_ordered(at, (void *)(uintptr_t)dto->seg->virtual_address,
                         total, &manner);
    else
        map_copy(write, dto->nseg, dto->seg, total, at, &manner);
    if (status == DAT_DTO_SUCCESS)
        count_write(c, dto);
    shm_access_leave(c, slot);
    return status;
}

/* ------------------------------------------------------------- atomics --- */

static uint64_t apply(const struct core_dto *dto, uint64_t old)
{
    if (dto->op == CORE_FETCH_ADD)
        return old + dto->operand;
    return old == dto->compare ? dto->operand : old;
}

/* Atomics on memory that can't be mapped exclude each other per target IA:
 * those of other processes by a file lock of the peer's control segment, which
 * the kernel releases when a process dies; those of this process by a mutex. */
static bool atomic_trylock(struct shm_peer *peer)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (pthread_mutex_trylock(&peer->atomic_lock))
        return false;
    if (!fcntl(peer->atomic_fd, F_OFD_SETLK, &whole))
        return true;
    pthread_mutex_unlock(&peer->atomic_lock);
    return false;
}

/* The holder of the lock may be stopped: the wait is bounded. */
static bool atomic_lock(struct shm_peer *peer)
{
    uint64_t end = busywait_now_ns() + ATOMIC_NS;
    while (!atomic_trylock(peer)) {
        if (busywait_now_ns() > end)
            return false;
        sched_yield();
    }
    return true;
}

static void atomic_unlock(struct shm_peer *peer)
{
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(peer->atomic_fd, F_OFD_SETLK, &whole);
    pthread_mutex_unlock(&peer->atomic_lock);
}

static DAT_DTO_COMPLETION_STATUS
vm_atomic(struct shm_conn *c, const struct core_dto *dto, uint64_t *old)
{
    uint64_t value;
    DAT_LMR_TRIPLET word = {.virtual_address = (uintptr_t)old,
                            .segment_length = sizeof *old};
    if (!atomic_lock(c->peer))
        return DAT_DTO_ERR_TRANSPORT;
    DAT_DTO_COMPLETION_STATUS status =
        vm_copy(c, false, 1, &word, sizeof *old, dto->remote_address);
    if (status == DAT_DTO_SUCCESS) {
        value = apply(dto, *old);
        word.virtual_address = (uintptr_t)&value;
        status = vm_copy(c, true, 1, &word, sizeof value, dto->remote_address);
    }
    atomic_unlock(c->peer);
    return status;
}

DAT_DTO_COMPLETION_STATUS shm_remote_atomic(struct shm_conn *c,
                                            const struct core_dto *dto)
{
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    uint64_t old = 0;
    const struct shm_map *m =
        shm_access_range(c, 0, dto->remote_address, 8, dto->remote_key,
                         CORE_PRIV_REMOTE_ATOMIC, &status);
    if (!m)
        return status;
    uint64_t *word = (void *)shm_map_at(m, dto->remote_address, sizeof *word);
    if (word)
        old = core_atomic(word, dto->op == CORE_CMP_SWAP, dto->operand,
                          dto->compare);
    else
        status = vm_atomic(c, dto, &old);
    shm_access_leave(c, 0);
    if (status == DAT_DTO_SUCCESS)
        memcpy((void *)(uintptr_t)dto->seg->virtual_address, &old, sizeof old);
    return status;
}
