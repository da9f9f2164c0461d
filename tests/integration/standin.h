/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that stand in for the provider, or a library, at its own calls. */
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <dlfcn.h>

#include <dat2/udat.h>

#include "ranks.h"

/* The library's function of this name, which the test's takes the place of. */
static inline void *real_call(const char *name)
{
    void *call = dlsym(RTLD_NEXT, name);
    check(call != NULL);
    return call;
}

#endif
