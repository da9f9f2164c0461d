/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapping a peer's ranges here, when they are first accessed. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "providers/shm/memory/memfd.h"
#include "providers/shm/memory/peer.h"

/* The range is withdrawn, and no access to it is going on. */
static void map_drop(struct shm_map *m)
{
    atomic_store_explicit(&m->name, 0, memory_order_relaxed);
    if (m->map)
        munmap(m->map, m->size);
    m->map = NULL;
    m->size = 0;
    m->base = 0;
}

void shm_peer_unmap(struct shm_peer *peer)
{
    for (unsigned i = 0; i < atomic_load(&peer->maps_end); i++)
        map_drop(&peer->maps[i]);
}

/* Bytes of the range that lie in its file. */
static uint64_t mapped_bytes(const struct shm_mr *mr)
{
    return mr->length - mr->head - mr->tail;
}

/* Opens the file of a range, or returns -1. It must be the file that was
 * registered, and long enough and unable to shrink: else touching its pages
 * might end this process. Its words must be aligned as in the peer's memory,
 * for atomics. */
static int open_file(const struct shm_peer *peer, const struct shm_mr *mr)
{
    char path[64];
    struct stat st;
    if (mr->fd < 0 || (mr->offset ^ (mr->base + mr->head)) % sizeof(uint64_t) ||
        mr->head >= mr->length || mr->tail >= mr->length - mr->head)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)peer->pid, mr->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (shm_cannot_shrink(fd) && !fstat(fd, &st) && st.st_ino == mr->inode &&
        mr->offset <= (uint64_t)st.st_size &&
        mapped_bytes(mr) <= (uint64_t)st.st_size - mr->offset)
        return fd;
    close(fd);
    return -1;
}

/* Maps the part of a range that lies in its file. m->map stays NULL if that is
 * not possible. */
static void map_file(struct shm_map *m, const struct shm_peer *peer,
                     const struct shm_mr *mr)
{
    int fd = open_file(peer, mr);
    if (fd < 0)
        return;
    uint64_t in_page = mr->offset % SHM_PAGE;
    size_t size = mapped_bytes(mr) + in_page;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   (off_t)(mr->offset - in_page));
    if (p != MAP_FAILED) {
        m->map = p;
        m->size = size;
        m->base = (uintptr_t)p + in_page - mr->head;
    }
    close(fd);
}

/* If the key has changed, the owner has waited for the end of all accesses to
 * the old range. While it is 0, an access may be going on. peer->lock is held.
 */
static void drop_stale(struct shm_peer *peer)
{
    for (unsigned i = 0; i < atomic_load(&peer->maps_end); i++) {
        const struct shm_mr *mr = &peer->control.table[i];
        struct shm_map *m = &peer->maps[i];
        uint64_t name = atomic_load_explicit(&m->name, memory_order_relaxed);
        uint32_t now = atomic_load_explicit(&mr->key, memory_order_acquire);
        if (name && now && shm_mr_name(mr, now) != name)
            map_drop(m);
    }
}

void shm_peer_drop_stale(struct shm_peer *peer)
{
    if (!atomic_load(
            &peer->maps_end)) /* and its doorbell page stays untouched */
        return;
    uint32_t now = atomic_load_explicit(&peer->control.door->withdrawals,
                                        memory_order_acquire);
    if (now == atomic_load_explicit(&peer->withdrawals, memory_order_relaxed))
        return;
    atomic_store_explicit(&peer->withdrawals, now, memory_order_relaxed);
    pthread_mutex_lock(&peer->lock);
    drop_stale(peer);
    pthread_mutex_unlock(&peer->lock);
}

/* Adds the range of this name; peer->lock is held. */
static bool map_add(struct shm_peer *peer, struct shm_map *m, uint64_t name)
{
    uint32_t key = (uint32_t)name;
    const struct shm_mr *mr = &peer->control.table[key % CORE_MAX_MRS];
    /* read once: the peer may change it */
    const struct shm_mr copy = *mr;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&mr->key, memory_order_relaxed) != key ||
        shm_mr_name(mr, key) != name)
        return false;
    drop_stale(peer);
    map_drop(m);
    m->priv = copy.priv;
    m->pz_id = copy.pz_id;
    m->ep_id = copy.ep_id;
    m->address = copy.base;
    m->length = copy.length;
    map_file(m, peer, &copy);
    if (atomic_load(&peer->maps_end) <= key % CORE_MAX_MRS)
        atomic_store(&peer->maps_end, key % CORE_MAX_MRS + 1);
    atomic_store_explicit(&m->name, name, memory_order_release);
    return true;
}

const struct shm_map *shm_peer_map_new(struct shm_peer *peer, uint32_t key)
{
    struct shm_map *m = &peer->maps[key % CORE_MAX_MRS];
    uint64_t name = shm_mr_name(&peer->control.table[key % CORE_MAX_MRS], key);
    int state = core_cancel_off();
    pthread_mutex_lock(&peer->lock);
    bool found = atomic_load(&m->name) == name || map_add(peer, m, name);
    pthread_mutex_unlock(&peer->lock);
    core_cancel_as(state);
    return found ? m : NULL;
}
