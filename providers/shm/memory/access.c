/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner's side. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "providers/shm/memory/access.h"
#include "providers/shm/shm.h"

/* A peer that is not stopped ends its access by itself, but others may keep it
 * from its core meanwhile: it is waited for until it has left, in whatever time
 * (MOST_NS: but no call may last for ever). */
#define LOOK_NS 100000000u /* longer than most copies */
#define MOST_NS 10000000000u
#define NAP_US  1000u

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

/* Waits for the end of the access, unless the peer is stopped: is it still
 * inside? */
static bool stays_inside(struct shm_conn *c)
{
    const uint64_t begin = busywait_now_ns();
    uint64_t waited = 0;
    for (; shm_access_inside(c, 0); waited = busywait_now_ns() - begin)
        if (waited < LOOK_NS)
            sched_yield();
        else if (waited >= MOST_NS || is_stopped(c->peer->pid))
            return true;
        else
            usleep(NAP_US); /* the peer may need this core */
    return false;
}

void shm_access_close(struct shm_conn *c)
{
    if (!c->segment || !c->peer || atomic_exchange(&c->rx->closed, 1))
        return;
    core_fence_heavy(false);
    /* if it stays, its next connection does not wait again */
    c->peer->stuck = c->peer->stuck ? shm_access_inside(c, 0) : stays_inside(c);
}
