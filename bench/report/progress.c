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
    /* the terminal's time, whatever that of the ranks is */
    if (!progress->on || clock_read_ns(CLOCK_MONOTONIC) < progress->next_ns)
        return;
    va_list args;
    va_start(args, format);
    fputs(CLEAR, stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    if (clock_elsewhere)
        fprintf(stderr, "; %.3f ms of virtual time", (double)clock_ns() / 1e6);
    fflush(stderr);
    progress->next_ns = clock_read_ns(CLOCK_MONOTONIC) + INTERVAL_NS;
}

void progress_clear(const progress_t *progress)
{
    if (progress->on)
        fputs(CLEAR, stderr);
}
