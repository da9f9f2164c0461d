/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of counts for railbench alltoallv, of three ranks. */
#include "bench/counts/counts.h"
#include "fuzz.h"

#define RANKS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct content content;
    counts_t c = {.kind = COUNTS_FILE, .ranks = RANKS};
    char why[128] = "";
    content_open(&content);
    content_add(&content, data, size);
    if (counts_read(&c, content.path, why, sizeof why)) {
        must(*why && !strchr(why, '\n'));
    } else {
        counts_sums_t sums = counts_sum(&c, 1);
        must(sums.longest <= UINT32_MAX && sums.longest <= sums.most);
        must(sums.most <= sums.total && sums.moved <= sums.total);
    }
    free(c.file);
    content_close(&content);
    return 0;
}
