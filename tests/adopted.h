/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the shm provider has adopted (adopt=1). After <cmocka.h>. */
#ifndef TESTS_ADOPTED_H
#define TESTS_ADOPTED_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes from @p base on that this process has mapped from memfds of adopt=1. */
static inline size_t in_memfd(const void *base, size_t length)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    size_t bytes = 0;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        size_t start, end, from = (size_t)base, to = from + length;
        if (!strstr(line, "/memfd:dapl-shm-adopted") ||
            sscanf(line, "%zx-%zx", &start, &end) != 2)
            continue;
        start = start > from ? start : from;
        end = end < to ? end : to;
        bytes += start < end ? end - start : 0;
    }
    fclose(maps);
    return bytes;
}

#endif
