/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the library that a line of dat.conf names, and says by attributes what
 * it offers. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "providers/core/collectives/collectives.h"

#define INTERFACE "DAT_EXTENSION_INTERFACE" /* Intel MPI asks for it */

/* It stays loaded, as this provider does. */
static const struct dapl_collectives *load(const struct core_ia *ia,
                                           const char *path)
{
    const char *why = "not a library of this version";
    if (ia->transport->one_thread) {
        fprintf(stderr, "dapl: rail %s: collectives in dat.conf: not here\n",
                ia->name);
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const struct dapl_collectives *library =
        handle ? dlsym(handle, "dapl_collectives") : NULL;
    if (library && library->version == DAPL_COLLECTIVES_VERSION)
        return library;
    if (!library)
        why = dlerror();
    fprintf(stderr, "dapl: rail %s: collectives in dat.conf: %s\n", ia->name,
            why);
    if (handle)
        dlclose(handle);
    return NULL;
}

static void add_attributes(struct core_ia *ia)
{
    core_attribute_add(ia, INTERFACE, "TRUE");
    for (int op = DAT_IB_COLLECTIVE_SET_CLOCK_OP;
         op <= DAT_IB_COLLECTIVE_BARRIER_OP; op++) {
        const struct core_collective *c = core_collective_of((DAT_IB_OP)op);
        if (c && core_collectives_has(ia, c->op))
            core_attribute_add(ia, c->attribute, "TRUE");
    }
}

DAT_RETURN core_collectives_open(struct core_ia *ia, const char *path)
{
    if (!path[0])
        return DAT_SUCCESS;
    const struct dapl_collectives *library = load(ia, path);
    if (!library)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    struct core_collectives *c = calloc(1, sizeof *c);
    if (!c)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    c->library = library;
    pthread_mutex_init(&c->lock, NULL);
    ia->collectives = c;
    add_attributes(ia);
    return DAT_SUCCESS;
}

void core_collectives_close(struct core_ia *ia)
{
    struct core_collectives *c = ia->collectives;
    if (!c)
        return;
    if (c->member && !ia->forked)
        c->library->free_member(c->member);
    pthread_mutex_destroy(&c->lock);
    free(c);
    ia->collectives = NULL;
}
