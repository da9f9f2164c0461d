/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/clock.h"
#include "progress.h"

#define INTERVAL_NS UINT64_C(100000000)
#define LINE_NS     UINT64_C(3000000000) /* between lines of a log */
#define CLEAR       "\r\033[K"

/* Real time, also if the ranks run in virtual time. */
static uint64_t now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

static uint64_t began_ns; /* this process, or the one that forked it */

__attribute__((constructor)) static void begin(void)
{
    began_ns = now_ns();
}

/* Lines of a log are LINE_NS apart since the start of the process, though each
 * part of a run calls progress_init() again. */
static uint64_t next_line_ns(void)
{
    uint64_t lines = (now_ns() - began_ns) / LINE_NS;
    return began_ns + (lines + 1) * LINE_NS;
}

void progress_init(progress_t *progress)
{
    bool terminal = isatty(STDERR_FILENO);
    *progress = (progress_t){.on = true,
                             .terminal = terminal,
                             .next_ns = terminal ? 0 : next_line_ns()};
}

void progress_show(progress_t *progress, const char *format, ...)
{
    if (!progress->on || now_ns() < progress->next_ns)
        return;
    va_list args;
    va_start(args, format);
    if (progress->terminal)
        fputs(CLEAR, stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    if (clock_elsewhere)
        fprintf(stderr, "; %.3f ms of virtual time", (double)clock_ns() / 1e6);
    if (!progress->terminal)
        fputc('\n', stderr);
    fflush(stderr);
    progress->next_ns =
        progress->terminal ? now_ns() + INTERVAL_NS : next_line_ns();
}

void progress_clear(const progress_t *progress)
{
    if (progress->on && progress->terminal)
        fputs(CLEAR, stderr);
}
