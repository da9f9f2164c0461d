/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: found, counted, and known to be alive. */
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

#include "providers/shm/shm.h"
#include "providers/shm/memory/memfd.h"
#include "providers/shm/memory/peer.h"

#define LOOK_NS    100000000u /* the kernel usually reuses a pid much later */
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

/* Both ends must have a model, or none. */
static bool map_model(struct shm_peer *p, const struct shm_ia *sia)
{
    if (!p->control.door->way.hops != !sia->clocks)
        return false;
    if (!sia->clocks)
        return true;
    p->clocks = shm_model_map(p->pid, p->control.door, &p->way);
    return p->clocks != NULL;
}

/* Opens the control segment anew: file locks belong to an open file. */
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
    /* with thousands of peers, most are not rung for a long time */
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

void shm_peer_put(struct shm_ia *sia, struct shm_peer *peer)
{
    if (--peer->users)
        return;
    struct shm_peer **at = &sia->peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    shm_peer_unmap(peer);
    peer_free(peer);
}

/* A lock of atomic_fd would otherwise outlive the parent. */
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
    if (peer->pidfd < 0) /* pidfd_open is missing or not permitted */
        return kill(peer->pid, 0) && errno == ESRCH;
    int state = core_cancel_off(); /* callers hold locks, or are in an access */
    bool dead = poll(&ended, 1, 0) > 0;
    core_cancel_as(state);
    return dead;
}

bool shm_peer_has_pid(struct shm_peer *peer)
{
    uint64_t now = busywait_now_ns();
    if (now - atomic_load_explicit(&peer->lived, memory_order_relaxed) <
        LOOK_NS)
        return true;
    if (shm_peer_dead(peer))
        return false;
    atomic_store_explicit(&peer->lived, now, memory_order_relaxed);
    return true;
}
