/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that stand in for the provider at its own calls. */
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <dlfcn.h>

#include <dat2/udat.h>

#include "ranks.h"

/* That of libdat2 with the name of the test's. */
static inline void *real_call(const char *name)
{
    void *call = dlsym(RTLD_NEXT, name);
    check(call != NULL);
    return call;
}

#endif
