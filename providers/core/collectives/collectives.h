/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that a library above offers (hook.h). */
#ifndef DAPL_CORE_COLLECTIVES_H
#define DAPL_CORE_COLLECTIVES_H

#include "providers/core/internal.h"
#include "providers/core/collectives/hook.h"
#include "providers/core/thread.h"

struct core_group {
    struct core_object o;
    struct core_evd *evd;
    struct core_group *next; /* core_collectives.groups */
    void *tp;                /* the library's part; NULL: none yet */
    unsigned size, self;
    atomic_bool failed; /* the consumer has no handle of it */
};

/* Of an IA whose line of dat.conf names a library. */
struct core_collectives {
    const struct dapl_collectives *library;
    void *member; /* NULL: none; ia->lock */
    const void *info;
    pthread_mutex_t lock; /* groups; held while the library makes progress */
    atomic_uint wanted;   /* core_lock_wanted: by others than polls */
    struct core_group *groups;
    atomic_uint listed; /* their number: polls take no lock for none */
};

static inline bool core_collectives_has(const struct core_ia *ia, DAT_IB_OP op)
{
    return ia->collectives &&
           ia->collectives->library->operations & DAPL_COLLECTIVE_BIT(op);
}

/* The operation of this number; NULL: no collective that core knows. */
struct core_collective {
    DAT_IB_OP op;
    const char *attribute;
    DAT_IB_EXT_TYPE event;
    /* Reads and checks the arguments. */
    DAT_RETURN(*arguments)
    (const struct core_group *g, va_list *args,
     struct dapl_collective_call *call);
};
const struct core_collective *core_collective_of(DAT_IB_OP op);

#endif
