/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/fail.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "dsm/ddsm.h"

static char name[24]; /* of the rank, if there are several */
static _Atomic int own, *first = &own;

void fail_once(_Atomic int *shared)
{
    first = shared;
}

void fail_as(unsigned rank)
{
    snprintf(name, sizeof name, "rank %u: ", rank);
}

void fail(int status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int none = 0;
    const bool is_first = atomic_compare_exchange_strong(first, &none, status);
    if (is_first)
        fprintf(stderr, "railomp: %s%s\n", name, text);
    fflush(NULL);
    /* not exit: it would wait for the other ranks */
    _exit(*first);
}

void fail_open(int code, const char *why)
{
    for (unsigned ms = 0; code == DRAIL_EPEER && !*first && ms < 500; ms++)
        usleep(1000);
    fail(code == DRAIL_EINVAL || code == DRAIL_ENORAIL ? NOT_SERVED : FAILED,
         "%s", why);
}
