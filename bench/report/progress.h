/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of a run on stderr: one line that changes on a terminal; elsewhere a
 * line every few seconds.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool on, terminal;
    uint64_t next_ns; /**< not before then, to spare the reader */
} progress_t;

void progress_init(progress_t *progress);
/** Shows a line; cheap when it is too early. */
void progress_show(progress_t *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Removes the line of a terminal. */
void progress_clear(const progress_t *progress);

#endif
