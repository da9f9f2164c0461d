/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "bench/counts/counts.h"
#include "irregular.h"
#include "random.h"

/* Bytes of an element: the verifier wants a multiple of the first. */
static const size_t elements[] = {16, 48};

static uint64_t *counts_new(unsigned ranks)
{
    return malloc((size_t)ranks * ranks * sizeof(uint64_t));
}

dcoll_traffic_t verify_traffic_equal(unsigned ranks, size_t bytes)
{
    const size_t element = elements[0];
    const uint64_t pair = bytes ? (bytes + element - 1) / element : 1;
    return (dcoll_traffic_t){.element = element,
                             .max_pair = pair,
                             .max_rank = pair * ranks,
                             .labelled = true,
                             .pulled = DCOLL_PULLED_BYTES};
}

uint64_t *verify_counts_equal(unsigned ranks, const dcoll_traffic_t *traffic)
{
    uint64_t *counts = counts_new(ranks);
    for (size_t i = 0; counts && i < (size_t)ranks * ranks; i++)
        counts[i] = traffic->max_pair;
    return counts;
}

/* Also such as are wider than the counts. */
static dcoll_traffic_t draw_bounds(const counts_sums_t *sums, uint64_t *random)
{
    dcoll_traffic_t t = {.element = elements[prove_random(random, 2)]};
    uint64_t spare = 1 + prove_random(random, 2);
    t.max_pair = spare * sums->longest;
    t.max_rank = spare * sums->most;
    t.labelled = prove_random(random, 4);
    t.pulled = t.element * (1 + prove_random(random, 4));
    return t;
}

uint64_t *verify_counts_draw(unsigned ranks, uint64_t *random,
                             dcoll_traffic_t *traffic, char *text, size_t size)
{
    static const uint64_t most[] = {1, 3, 8, 0};
    const counts_t pattern = {.kind = prove_random(random, COUNTS_FILE),
                              .ranks = ranks,
                              .rest = prove_random(random, 2),
                              .exponent = 1,
                              .seed = prove_random(random, 1000)};
    const uint64_t m = most[prove_random(random, 4)];
    const counts_sums_t sums = counts_sum(&pattern, m);
    *traffic = draw_bounds(&sums, random);
    snprintf(text, size,
             "%s of %llu elements of %zu bytes, at most %llu, of a rank %llu, "
             "labelled %d, pulled %zu",
             counts_names[pattern.kind], (unsigned long long)m,
             traffic->element, (unsigned long long)traffic->max_pair,
             (unsigned long long)traffic->max_rank, traffic->labelled,
             traffic->pulled);
    uint64_t *counts = counts_new(ranks);
    for (unsigned from = 0; counts && from < ranks; from++)
        for (unsigned to = 0; to < ranks; to++)
            counts[(size_t)from * ranks + to] =
                counts_of(&pattern, m, from, to);
    return counts;
}
