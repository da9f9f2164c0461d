/* SPDX-License-Identifier: BSD-3-Clause */
/* For functions that the linker puts in place of others. */
#ifndef OMP_WRAPPER_WRAPPED_H
#define OMP_WRAPPER_WRAPPED_H

#include <stddef.h>

/* the linker's names */
#define WRAPPED(type, name, ...)                                               \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

void __chk_fail(void) __attribute__((noreturn));

/* With -D_FORTIFY_SOURCE: ends the program if a call is to fill more than there
 * is room for. */
static inline void check_room(size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
}

#endif
