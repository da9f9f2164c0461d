/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: the IAs of other processes (or of this one) that EPs here are
 * connected to, and where their memory is mapped. */
#ifndef DAPL_SHM_PEER_H
#define DAPL_SHM_PEER_H

#include <pthread.h>
#include <sys/types.h>

#include "dapl_rail/platform/prefetch.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/wakeup/control.h"

/* What is known here of a peer's range, in one line: a copy of the peer's
 * entry, which the peer could change, and where the range is mapped. Valid
 * while the peer's entry has this name; changed under the peer's lock. */
struct shm_map {
    _Alignas(CORE_CACHELINE) _Atomic uint64_t name; /* 0: none; written last */
    int32_t priv;
    uint32_t pz_id, ep_id;
    uint64_t address, length; /* in the peer's memory */
    uintptr_t base; /* where the range would begin here, were all of it mapped;
                       0: none of it is */
    void *map;      /* the pages that are mapped; NULL: none */
    size_t size;
};
_Static_assert(sizeof(struct shm_map) == CORE_CACHELINE, "one line a map");

/* Shared by all connections to the same IA. */
struct shm_peer {
    struct shm_peer *next;
    unsigned users; /* connections */
    pid_t pid;
    uint64_t inode; /* of its control segment: its identity */
    int pidfd;
    _Atomic uint64_t lived; /* ns: when it was last found alive */
    bool stuck;             /* the last wait for the end of its accesses was in
                               vain (access.c); ia->lock */
    struct shm_control control;
    struct shm_clock *clocks; /* NULL: no model */
    struct shm_way way;
    pthread_mutex_t lock;         /* for changing maps */
    struct shm_map *maps;         /* CORE_MAX_MRS, by index of the range */
    atomic_uint maps_end;         /* behind the last that was ever used */
    _Atomic uint32_t withdrawals; /* the peer's count when stale maps were last
                                     dropped */
    pthread_mutex_t atomic_lock;  /* remote.c: excludes our threads, … */
    int atomic_fd;                /* … a lock of this file other processes */
};

/* The peer with this pid and control segment, with one user more; NULL if its
 * segment is not valid, or without memory. ia->lock is held. */
struct shm_peer *shm_peer_get(struct shm_ia *sia, pid_t pid, int control_fd);
void shm_peer_put(struct shm_ia *sia, struct shm_peer *peer);
/* In a forked child: lets go of what it shares with its parent. */
void shm_peer_forked(struct shm_peer *peer);
bool shm_peer_dead(const struct shm_peer *peer);
/* May its pid be used? The kernel gives the pid of a dead process to a new one.
 * Looks every tenth of a second: a pid that is used again sooner is missed. */
bool shm_peer_has_pid(struct shm_peer *peer);

/* Unmaps all ranges: nobody uses the peer any more. */
void shm_peer_unmap(struct shm_peer *peer);
/* Unmaps the ranges that the peer has withdrawn, if there are new ones. */
void shm_peer_drop_stale(struct shm_peer *peer);
/* The peer's range of this key, whose access has been announced; NULL: the peer
 * does not (or no longer) offer it. */
const struct shm_map *shm_peer_map_new(struct shm_peer *peer, uint32_t key);
/* Where these bytes of the range are mapped here; NULL: not all of them are. */
static inline char *shm_map_at(const struct shm_map *m, uint64_t address,
                               uint64_t length)
{
    uintptr_t at = m->base + (address - m->address);
    uint64_t in_map = at - (uintptr_t)m->map;
    return in_map < m->size && length <= m->size - in_map ? (char *)at : NULL;
}
static inline const struct shm_map *shm_peer_map(struct shm_peer *peer,
                                                 uint32_t key)
{
    const struct shm_map *m = &peer->maps[key % CORE_MAX_MRS];
    uint64_t name = shm_mr_name(&peer->control.table[key % CORE_MAX_MRS], key);
    bool known = atomic_load_explicit(&m->name, memory_order_acquire) == name;
    return known ? m : shm_peer_map_new(peer, key);
}
/* A hint before a write: fetches its last line, so that a peer that polls this
 * line gives it up while the access is checked and the other lines are copied.
 */
__attribute__((no_sanitize("thread"))) static inline void
shm_peer_prefetch(const struct shm_peer *peer, uint32_t key, uint64_t address)
{
    /* not announced, so it may read a map that another thread is changing:
     * wherever that leads, a prefetch does no harm */
    const struct shm_map *m = &peer->maps[key % CORE_MAX_MRS];
    prefetch_for_write((const void *)(m->base + address - m->address));
}

#endif
