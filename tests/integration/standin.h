/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that stand in for the provider, or a library, at its own calls. */
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <dlfcn.h>

#include <dat2/udat.h>

#include "ranks.h"

/* Of a definition that takes the place of a library's. */
#define STAND_IN __attribute__((visibility("default")))

static inline void *real_call(const char *name)
{
    void *call = dlsym(RTLD_NEXT, name);
    check(call != NULL);
    return call;
}

/* The library's function of this name: real(dat_ep_free)(ep). */
#define real(name) ((__typeof__(&name))real_call(#name))

#endif
