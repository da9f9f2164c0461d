/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner's side. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "providers/shm/memory/access.h"
#include "providers/shm/shm.h"

/* ia->lock is held so long: longer than most copies. */
#define GLANCE_NS 1000000u
/* The state of the peer is looked at from then on. */
#define LOOK_NS 100000000u
/* A peer that is not stopped ends its access by itself, but others may keep it
 * from its core meanwhile. */
#define MOST_NS 10000000000u

bool shm_access_inside(struct shm_conn *c, uint32_t key)
{
    if (!c->segment || !c->peer) /* never connected */
        return false;
    for (int slot = 0; slot < 2; slot++) {
        uint32_t now = atomic_load(&c->rx->access[slot]);
        if (now && (!key || now == key) && !shm_peer_dead(c->peer))
            return true;
    }
    return false;
}

/* Has a signal or a debugger stopped the process? Not known is no. */
static bool is_stopped(pid_t pid)
{
    char path[32], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    /* the state follows the name, which may have any characters */
    const char *state = strrchr(text, ')');
    return state && (!strncmp(state, ") T", 3) || !strncmp(state, ") t", 3));
}

bool shm_access_awaited(struct shm_conn *c)
{
    const bool inside = shm_access_inside(c, 0);
    if (!inside || c->peer->stuck) {
        if (c->peer)
            c->peer->stuck = inside;
        return false;
    }
    const uint64_t waited = busywait_now_ns() - c->ends_since;
    c->peer->stuck =
        waited >= MOST_NS || (waited >= LOOK_NS && is_stopped(c->peer->pid));
    return !c->peer->stuck;
}

void shm_access_close(struct shm_conn *c)
{
    if (!c->segment || !c->peer || atomic_exchange(&c->rx->closed, 1))
        return;
    core_fence_heavy(false);
    c->ends_since = busywait_now_ns();
    while (!c->peer->stuck && shm_access_inside(c, 0) &&
           busywait_now_ns() - c->ends_since < GLANCE_NS)
        sched_yield();
}
