/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open IAs and fork. The child gets a copy of each IA, without its threads, and
 * shares sockets and memory with its parent. So the child's copy is cut off:
 * its connections are over, and it can free and close everything without
 * affecting the parent.
 */
#include <link.h>

#include "internal.h"

static struct {
    pthread_mutex_t lock;
    struct core_ia *first;
} open_ias = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Locks of the library itself. A thread that holds one takes no other. */
static struct {
    pthread_mutex_t *lock[8];
    unsigned n;
} held;

void core_fork_hold(pthread_mutex_t *lock)
{
    held.lock[held.n++] = lock;
}

/* The handlers are registered several times in the library of a transport that
 * calls other IAs: of these calls, the first takes the locks, and the last
 * releases them. */
static _Thread_local unsigned calls;

/* No thread changes an IA while the process is copied. */
static void before(void)
{
    if (calls++)
        return;
    pthread_mutex_lock(&open_ias.lock);
    for (struct core_ia *ia = open_ias.first; ia; ia = ia->next_open) {
        pthread_mutex_lock(&ia->lock);
        pthread_mutex_lock(&ia->bell_lock);
    }
    for (unsigned i = 0; i < held.n; i++)
        pthread_mutex_lock(held.lock[i]);
}

static void in_parent(void)
{
    if (--calls)
        return;
    for (unsigned i = held.n; i--;)
        pthread_mutex_unlock(held.lock[i]);
    for (struct core_ia *ia = open_ias.first; ia; ia = ia->next_open) {
        pthread_mutex_unlock(&ia->bell_lock);
        pthread_mutex_unlock(&ia->lock);
    }
    pthread_mutex_unlock(&open_ias.lock);
}

static void cut_off(struct core_ia *ia)
{
    pthread_mutex_unlock(&ia->bell_lock);
    pthread_mutex_unlock(&ia->lock);
    atomic_store(&ia->bells, 0);
    ia->forked = true;
    core_collectives_forked(ia);
    if (ia->transport->forked)
        ia->transport->forked(ia);
    for (struct core_object *o = ia->objects; o; o = o->next)
        if (o->kind->forked)
            o->kind->forked(o);
}

static void in_child(void)
{
    if (--calls)
        return;
    for (unsigned i = 0; i < held.n; i++)
        pthread_mutex_unlock(held.lock[i]);
    for (struct core_ia *ia = open_ias.first; ia; ia = ia->next_open)
        cut_off(ia);
    pthread_mutex_unlock(&open_ias.lock);
}

void core_fork_watch(void)
{
    pthread_atfork(before, in_parent, in_child);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* A thread takes this library's locks before those of the IAs that it calls.
 * fork must do so, too. It first calls the handlers that were registered last:
 * so they are registered anew if a library has been loaded since. */
static void watch_above(void)
{
    static unsigned long long seen;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    pthread_mutex_lock(&open_ias.lock);
    bool loaded = loads != seen;
    seen = loads;
    pthread_mutex_unlock(&open_ias.lock);
    if (loaded)
        core_fork_watch();
}

void core_fork_add(struct core_ia *ia)
{
    if (ia->transport->calls_ias)
        watch_above();
    pthread_mutex_lock(&open_ias.lock);
    ia->open_at = &open_ias.first;
    ia->next_open = open_ias.first;
    if (ia->next_open)
        ia->next_open->open_at = &ia->next_open;
    open_ias.first = ia;
    pthread_mutex_unlock(&open_ias.lock);
}

void core_fork_remove(struct core_ia *ia)
{
    pthread_mutex_lock(&open_ias.lock);
    *ia->open_at = ia->next_open;
    if (ia->next_open)
        ia->next_open->open_at = ia->open_at;
    pthread_mutex_unlock(&open_ias.lock);
}
