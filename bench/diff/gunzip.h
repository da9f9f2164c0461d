/* SPDX-License-Identifier: BSD-3-Clause */
/* Results are kept compressed: the text of one, by the program gzip. */
#ifndef BENCH_GUNZIP_H
#define BENCH_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Do these bytes begin as a file of gzip does? */
bool gunzip_is_needed(const char *bytes, size_t size);

typedef struct gunzip {
    FILE *text; /**< what was compressed: to read to its end */
    int process;
} gunzip_t;

/** Starts to unpack. @return 0 or -1 with errno. */
int gunzip_open(gunzip_t *gunzip, const char *bytes, size_t size);
/** @return 0, or -1 if the bytes were damaged. */
int gunzip_close(gunzip_t *gunzip);

#endif
