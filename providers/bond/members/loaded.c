/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bond holds the libraries of members that move data: a thread of
 * libdaplofa still runs in it when the last dat_ia_close unloads it. But a fork
 * copies a library without its thread, and the child could not open its IAs. So
 * a library that nobody else holds any more is unloaded before a fork.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "providers/bond/members/members.h"
#include "providers/core/keep_loaded.h"

#define LIBRARIES 16

static struct {
    pthread_mutex_t lock;
    unsigned count;
    struct {
        void *handle; /* NULL: it was unloaded before a fork */
        char *path;
    } library[LIBRARIES];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is not held over the fork: who holds an IA's lock may take it, and
 * core takes those. */
static void before_fork(void)
{
    pthread_mutex_lock(&kept.lock);
    for (unsigned i = 0; i < kept.count; i++) {
        if (kept.library[i].handle)
            dlclose(kept.library[i].handle);
        kept.library[i].handle = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
}

/* Holds again what others still hold. */
static void in_parent(void)
{
    pthread_mutex_lock(&kept.lock);
    for (unsigned i = 0; i < kept.count; i++)
        if (!kept.library[i].handle)
            kept.library[i].handle =
                dlopen(kept.library[i].path, RTLD_LAZY | RTLD_NOLOAD);
    pthread_mutex_unlock(&kept.lock);
}

static void in_child(void)
{
    pthread_mutex_init(&kept.lock, NULL);
    in_parent();
}

static void handle_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

/* Takes over @handle. */
static void keep(void *handle, const char *path)
{
    unsigned i = 0;
    while (i < kept.count && strcmp(kept.library[i].path, path))
        i++;
    if (i == kept.count && i < LIBRARIES)
        kept.count += (kept.library[i].path = strdup(path)) != NULL;
    if (i < kept.count && !kept.library[i].handle)
        kept.library[i].handle = handle;
    else
        dlclose(handle);
}

void bond_keep_loaded(DAT_PZ_HANDLE pz)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct link_map *map;
    void *handle = provider_library(pz, 0);
    pthread_once(&once, handle_forks);
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
        return;
    pthread_mutex_lock(&kept.lock);
    keep(handle, map->l_name);
    pthread_mutex_unlock(&kept.lock);
}
