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

struct shm_peer *shm_peer_get(struct shm_ia *sia, pid_t pid, int control_fd)
{
    struct stat st;
    if (!shm_memfd_ok(control_fd, SHM_CONTROL_SIZE) || fstat(control_fd, &st))
        return NULL;
    for (struct shm_peer *p = sia->peers; p; p = p->next)
        if (p->pid == pid && p->inode == st.st_ino) {
            p->users++;
            return p;
        }

    struct shm_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->maps = calloc(CORE_MAX_MRS, sizeof *p->maps);
    p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (!p->maps || shm_control_map(control_fd, &p->control, false))
        goto fail;
    if (p->control.door->magic != SHM_MAGIC ||
        p->control.door->version != SHM_VERSION) {
        shm_control_unmap(&p->control);
        goto fail;
    }
    /* Either both ends are modelled or none. */
    if (!p->control.door->way.hops != !sia->clocks ||
        (sia->clocks && !(p->clocks = shm_model_map(pid, p->control.door)))) {
        shm_control_unmap(&p->control);
        goto fail;
    }
    pthread_mutex_init(&p->lock, NULL);
    p->users = 1;
    p->pid = pid;
    p->inode = st.st_ino;
    p->next = sia->peers;
    sia->peers = p;
    return p;
fail:
    if (p->pidfd >= 0)
        close(p->pidfd);
    free(p->maps);
    free(p);
    return NULL;
}

static void map_free(struct shm_map *m)
{
    if (!m)
        return;
    if (m->map)
        munmap(m->map, m->size);
    free(m);
}

void shm_peer_put(struct shm_ia *sia, struct shm_peer *peer)
{
    if (--peer->users)
        return;
    struct shm_peer **at = &sia->peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    for (unsigned i = 0; i < CORE_MAX_MRS; i++)
        map_free(atomic_load_explicit(&peer->maps[i], memory_order_relaxed));
    free(peer->maps);
    shm_model_unmap(peer->clocks);
    shm_control_unmap(&peer->control);
    pthread_mutex_destroy(&peer->lock);
    if (peer->pidfd >= 0)
        close(peer->pidfd);
    free(peer);
}

bool shm_peer_dead(const struct shm_peer *peer)
{
    struct pollfd ended = {.fd = peer->pidfd, .events = POLLIN};
    if (peer->pidfd < 0) /* no such system call, or not permitted */
        return kill(peer->pid, 0) && errno == ESRCH;
    return poll(&ended, 1, 0) > 0;
}

/* Maps a range; a map without an address says that it can't be done. */
static struct shm_map *map_new(const struct shm_peer *peer,
                               const struct shm_mr *mr, uint32_t key)
{
    struct shm_map *m = calloc(1, sizeof *m);
    char path[64];
    struct stat st;
    if (!m)
        return NULL;
    m->key = key;
    if (mr->fd < 0)
        return m;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)peer->pid, mr->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return m;
    uint64_t in_page = mr->offset % SHM_PAGE;
    /* The same file as registered, and long enough to be touched? */
    if (!fstat(fd, &st) && st.st_ino == mr->inode &&
        mr->offset + mr->length <= (uint64_t)st.st_size) {
        size_t size = mr->length + in_page;
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                       (off_t)(mr->offset - in_page));
        if (p != MAP_FAILED) {
            m->map = p;
            m->size = size;
            m->base = (char *)p + in_page;
        }
    }
    close(fd);
    return m;
}

/* @p key is that of an access which has been announced: mr's may be withdrawn
 * meanwhile. */
char *shm_peer_map(struct shm_peer *peer, const struct shm_mr *mr, uint32_t key)
{
    _Atomic(struct shm_map *) *place = &peer->maps[mr - peer->control.table];
    struct shm_map *m = atomic_load_explicit(place, memory_order_acquire);
    if (m && m->key == key)
        return m->base;

    pthread_mutex_lock(&peer->lock);
    struct shm_map *old = atomic_load_explicit(place, memory_order_relaxed);
    m = old;
    if (!old || old->key != key) {
        m = map_new(peer, mr, key);
        /* Nobody is inside the old range: its owner waited for that before
         * it used the place again. */
        atomic_store_explicit(place, m, memory_order_release);
        map_free(old);
    }
    pthread_mutex_unlock(&peer->lock);
    return m ? m->base : NULL;
}
