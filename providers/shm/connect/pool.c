/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of connections. A poller of an EVD reads the connections of its
 * EPs without a lock, perhaps when one of them is just ending. So their memory,
 * and the addresses of their segments, are never given back but serve later
 * connections. What a poller sees there is a hint; what counts is the EP's
 * connection under the EP's lock.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/shm/connect/pool.h"

static struct {
    pthread_mutex_t lock;
    struct shm_conn *free[2]; /* by side, linked by next */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void hold_over_fork(void)
{
    core_fork_hold(&pool.lock);
}

static struct shm_conn *conn_new(int side)
{
    void *memory;
    if (posix_memalign(&memory, CORE_CACHELINE, sizeof(struct shm_conn)))
        return NULL;
    struct shm_conn *c = memset(memory, 0, sizeof *c);
    if (!shm_segment_place(c, side))
        return c;
    free(c);
    return NULL;
}

struct shm_conn *shm_conn_take(int side)
{
    pthread_mutex_lock(&pool.lock);
    struct shm_conn *c = pool.free[side];
    if (c)
        pool.free[side] = c->next;
    pthread_mutex_unlock(&pool.lock);
    if (!c)
        c = conn_new(side);
    if (!c)
        return NULL;
    memset(c, 0, offsetof(struct shm_conn, place));
    atomic_store(&c->rx_head, 0);
    atomic_store(&c->rx_backlogged, 0);
    c->side = side;
    return c;
}

void shm_conn_give(struct shm_conn *c)
{
    pthread_mutex_lock(&pool.lock);
    c->next = pool.free[c->side];
    pool.free[c->side] = c;
    pthread_mutex_unlock(&pool.lock);
}
