/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/fail.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "omp/runtime/memory.h"

static _Atomic bool *has_said;

void fail_once(_Atomic bool *said)
{
    has_said = said;
}

void fail(int status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (has_said && atomic_exchange(has_said, true))
        ;
    else if (memory_ranks() > 1)
        fprintf(stderr, "railomp: rank %u: %s\n", memory_rank(), text);
    else
        fprintf(stderr, "railomp: %s\n", text);
    fflush(NULL);
    /* not exit: it would wait for the other ranks */
    _exit(status);
}
