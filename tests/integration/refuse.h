/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is refused: this program's calloc() fails when it is told to. The
 * sanitizers have theirs, so there it does not. */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include "ranks.h"
#include "tests/stand_in.h"

static _Thread_local unsigned refuse_at;
static _Thread_local const char *refuse_whose;

/* From now on the nth call fails, of this thread and of a library with this in
 * its name, NULL: of any; 0: none does. */
static inline void refuse(unsigned nth, const char *whose)
{
    refuse_whose = whose;
    refuse_at = nth;
}

#ifdef DRAIL_SANITIZE
enum { REFUSALS = 0 };
#else
enum { REFUSALS = 6 }; /* at least */
void *__libc_calloc(size_t count, size_t size);

static bool is_whose(const void *caller)
{
    Dl_info library;
    return !refuse_whose || (dladdr(caller, &library) &&
                             strstr(library.dli_fname, refuse_whose));
}

STAND_IN void *calloc(size_t count, size_t size)
{
    if (refuse_at && is_whose(__builtin_return_address(0)) && !--refuse_at)
        return NULL;
    return __libc_calloc(count, size);
}
#endif

#endif
