/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that the manager's thread waits for. ia->lock is held. */
#ifndef DAPL_SHM_WATCH_H
#define DAPL_SHM_WATCH_H

#include <stdint.h>

#include "providers/shm/shm.h"

struct shm_listener { /* sp->tp */
    struct core_sp *sp;
    int fd;
};

struct shm_watch { /* owner of a descriptor: one of them */
    struct shm_conn *conn;
    struct shm_listener *listener;
    struct shm_peer *peer; /* the descriptor is its pidfd */
};

/* Waits for input on this descriptor, too. 0, or -1: errno says why. */
int shm_watch_add(struct shm_ia *sia, int fd, struct shm_watch what);
/* Changes the events waited for; 0: only errors. */
void shm_watch_set(struct shm_ia *sia, int fd, uint32_t events);
/* No effect if the descriptor is not watched. */
void shm_watch_remove(struct shm_ia *sia, int fd);
/* Lets the thread look at all deadlines now. */
void shm_watch_wake(struct shm_ia *sia);

#endif
