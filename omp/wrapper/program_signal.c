/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: the shared memory needs the handler of SIGSEGV. */
#include <signal.h>

#include "omp/wrapper/program.h"

/* the linker's names */
int __real_sigaction(int number, const struct sigaction *action,
                     struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *action,
                     struct sigaction *before);

#define SETS(name)                                                             \
    sighandler_t __real_##name(int number, sighandler_t handler);              \
    sighandler_t __wrap_##name(int number, sighandler_t handler);              \
    sighandler_t __wrap_##name(int number, sighandler_t handler)               \
    {                                                                          \
        railomp_handles_signal(number);                                        \
        return __real_##name(number, handler);                                 \
    }
SETS(signal)
SETS(__sysv_signal) /* signal() with -std=c99 and its like */

int __wrap_sigaction(int number, const struct sigaction *action,
                     struct sigaction *before)
{
    if (action)
        railomp_handles_signal(number);
    return __real_sigaction(number, action, before);
}
