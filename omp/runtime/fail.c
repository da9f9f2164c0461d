/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/fail.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dsm/ddsm.h"

/* Longer than such a process gives ranks to end by themselves (start.c). */
enum { CAUSE_MS = 3000 };

static char name[24]; /* of the rank, if there are several */
/* The status of the thread that fails first; negative while it speaks. */
static _Atomic int own, *first = &own;

void fail_once(_Atomic int *shared)
{
    first = shared;
}

void fail_as(unsigned rank)
{
    snprintf(name, sizeof name, "rank %u: ", rank);
}

/* A thread or a rank that ends while another one speaks would end that, too. */
static void await_sentence(void)
{
    for (unsigned ms = 0; *first < 0 && ms < CAUSE_MS; ms++)
        usleep(1000);
}

__attribute__((noreturn)) static void end(int status, const char *text)
{
    int none = 0;
    if (atomic_compare_exchange_strong(first, &none, -status)) {
        fprintf(stderr, "railomp: %s%s\n", name, text);
        *first = status;
    } else {
        await_sentence();
    }
    fflush(NULL);
    const int ended = *first;
    /* not exit: it would wait for the other ranks */
    _exit(abs(ended));
}

__attribute__((noreturn, format(printf, 2, 0))) static void
end_saying(int status, const char *format, va_list arguments)
{
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    end(status, text);
}

void fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_saying(status, format, arguments);
}

/* A process that has forked the ranks ends them meanwhile, if one was killed,
 * and then says so. */
static void let_others_speak(int code)
{
    for (unsigned ms = 0; code == DRAIL_EPEER && !*first && ms < CAUSE_MS; ms++)
        usleep(1000);
}

void fail_of(int code, const char *format, ...)
{
    va_list arguments;
    let_others_speak(code);
    va_start(arguments, format);
    end_saying(FAILED, format, arguments);
}

void fail_open(int code, const char *why)
{
    let_others_speak(code);
    end(code == DRAIL_EINVAL || code == DRAIL_ENORAIL ? NOT_SERVED : FAILED,
        why);
}
