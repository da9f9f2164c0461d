/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on stderr that says how far a run is, if stderr is a terminal. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool on;
    uint64_t next_ns; /**< not before then, to spare the terminal */
} progress_t;

void progress_init(progress_t *progress);
/** Shows a line in place of the last one; cheap when it is too early. */
void progress_show(progress_t *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Removes the line. */
void progress_clear(const progress_t *progress);

#endif
