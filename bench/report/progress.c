/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/clock.h"
#include "progress.h"

#define INTERVAL_NS UINT64_C(100000000)
#define CLEAR       "\r\033[K"

void progress_init(progress_t *progress)
{
    *progress = (progress_t){.on = isatty(STDERR_FILENO)};
}

void progress_show(progress_t *progress, const char *format, ...)
{
    if (!progress->on || clock_ns() < progress->next_ns)
        return;
    va_list args;
    va_start(args, format);
    fputs(CLEAR, stderr);
    vfprintf(stderr, format, args);
    fflush(stderr);
    va_end(args);
    progress->next_ns = clock_ns() + INTERVAL_NS;
}

void progress_clear(const progress_t *progress)
{
    if (progress->on)
        fputs(CLEAR, stderr);
}
