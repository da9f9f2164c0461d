/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: the shared memory needs the handler of SIGSEGV. */
#include <signal.h>

#include "omp/wrapper/program.h"

/* the linker's names */
sighandler_t __real_signal(int number, sighandler_t handler);
sighandler_t __wrap_signal(int number, sighandler_t handler);
int __real_sigaction(int number, const struct sigaction *action,
                     struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *action,
                     struct sigaction *before);

sighandler_t __wrap_signal(int number, sighandler_t handler)
{
    railomp_handles_signal(number);
    return __real_signal(number, handler);
}

int __wrap_sigaction(int number, const struct sigaction *action,
                     struct sigaction *before)
{
    if (action)
        railomp_handles_signal(number);
    return __real_sigaction(number, action, before);
}
