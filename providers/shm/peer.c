/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers and the maps of their memory. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm.h"

#define LOOK_NS    100000000u /* pids come again much later, as a rule */
#define MAPS_BYTES (CORE_MAX_MRS * sizeof(struct shm_map))

static void peer_free(struct shm_peer *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    if (p->atomic_fd >= 0)
        close(p->atomic_fd);
    if (p->maps != MAP_FAILED)
        munmap(p->maps, MAPS_BYTES);
    if (p->control.door)
        shm_control_unmap(&p->control);
    shm_model_unmap(p->clocks);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->atomic_lock);
    free(p);
}

/* Either both ends are modelled or none. */
static bool map_model(struct shm_peer *p, const struct shm_ia *sia)
{
    if (!p->control.door->way.hops != !sia->clocks)
        return false;
    if (!sia->clocks)
        return true;
    p->clocks = shm_model_map(p->pid, p->control.door, &p->way);
    return p->clocks != NULL;
}

/* A description of its own of the control segment, whose locks are ours. */
static int reopen(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static struct shm_peer *peer_new(struct shm_ia *sia, pid_t pid, int control_fd)
{
    struct shm_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->atomic_lock, NULL);
    p->pid = pid;
    p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    p->atomic_fd = reopen(control_fd);
    /* untouched until used */
    p->maps = mmap(NULL, MAPS_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->maps == MAP_FAILED || p->atomic_fd < 0 ||
        shm_control_map(control_fd, &p->control, false) ||
        p->control.door->magic != SHM_MAGIC ||
        p->control.door->version != SHM_VERSION || !map_model(p, sia)) {
        peer_free(p);
        return NULL;
    }
    /* of thousands of peers, most are not rung for long */
    madvise(p->control.door, SHM_PAGE, MADV_DONTNEED);
    return p;
}

struct shm_peer *shm_peer_get(struct shm_ia *sia, pid_t pid, int control_fd)
{
    struct stat st;
    if (!shm_memfd_ok(control_fd, SHM_CONTROL_SIZE) || fstat(control_fd, &st))
        return NULL;
    struct shm_peer *p = sia->peers;
    while (p && (p->pid != pid || p->inode != st.st_ino))
        p = p->next;
    if (!p) {
        p = peer_new(sia, pid, control_fd);
        if (!p)
            return NULL;
        p->inode = st.st_ino;
        p->next = sia->peers;
        sia->peers = p;
    }
    p->users++;
    return p;
}

/* A range is in the map's place no longer, and nobody in the range. */
static void map_drop(struct shm_map *m)
{
    atomic_store_explicit(&m->name, 0, memory_order_relaxed);
    if (m->map)
        munmap(m->map, m->size);
    m->map = NULL;
    m->base = NULL;
}

void shm_peer_put(struct shm_ia *sia, struct shm_peer *peer)
{
    if (--peer->users)
        return;
    struct shm_peer **at = &sia->peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    for (unsigned i = 0; i < atomic_load(&peer->maps_end); i++)
        map_drop(&peer->maps[i]);
    peer_free(peer);
}

/* A lock of atomic_fd would outlive the parent. */
void shm_peer_forked(struct shm_peer *peer)
{
    int *const own[] = {&peer->atomic_fd, &peer->pidfd};
    for (int i = 0; i < 2; i++) {
        if (*own[i] >= 0)
            close(*own[i]);
        *own[i] = -1;
    }
    pthread_mutex_init(&peer->lock, NULL);
    pthread_mutex_init(&peer->atomic_lock, NULL);
}

bool shm_peer_dead(const struct shm_peer *peer)
{
    struct pollfd ended = {.fd = peer->pidfd, .events = POLLIN};
    if (peer->pidfd < 0) /* no such system call, or not permitted */
        return kill(peer->pid, 0) && errno == ESRCH;
    int state = core_cancel_off(); /* callers have locks and are in accesses */
    bool dead = poll(&ended, 1, 0) > 0;
    core_cancel_as(state);
    return dead;
}

bool shm_peer_has_pid(struct shm_peer *peer)
{
    uint64_t now = shm_now_ns();
    if (now - atomic_load_explicit(&peer->lived, memory_order_relaxed) <
        LOOK_NS)
        return true;
    if (shm_peer_dead(peer))
        return false;
    atomic_store_explicit(&peer->lived, now, memory_order_relaxed);
    return true;
}

/* Opens the file behind a range, if it is the one that was registered, long
 * enough, and can't shrink: else touching its pages might end this process; and
 * if words lie there as in the peer's memory: atomics would not work askew. */
static int open_file(const struct shm_peer *peer, const struct shm_mr *mr)
{
    char path[64];
    struct stat st;
    if (mr->fd < 0 || (mr->offset ^ mr->base) % sizeof(uint64_t))
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)peer->pid, mr->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (shm_cannot_shrink(fd) && !fstat(fd, &st) && st.st_ino == mr->inode &&
        mr->offset <= (uint64_t)st.st_size &&
        mr->length <= (uint64_t)st.st_size - mr->offset)
        return fd;
    close(fd);
    return -1;
}

/* Maps a range if that can be done. */
static void map_file(struct shm_map *m, const struct shm_peer *peer,
                     const struct shm_mr *mr)
{
    int fd = open_file(peer, mr);
    if (fd < 0)
        return;
    uint64_t in_page = mr->offset % SHM_PAGE;
    size_t size = mr->length + in_page;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   (off_t)(mr->offset - in_page));
    if (p != MAP_FAILED) {
        m->map = p;
        m->size = size;
        m->base = (char *)p + in_page;
    }
    close(fd);
}

/* A key that changed means: the owner has waited until nobody was inside the
 * old range. While it is 0, somebody may be. peer->lock is held. */
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
    if (!atomic_load(&peer->maps_end)) /* nor is its doorbell touched */
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
    /* Read once: the peer may write there. */
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
