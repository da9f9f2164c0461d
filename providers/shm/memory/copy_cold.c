/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long copies whose data are in no cache of this core, or in another core's:
 * the first piece then takes several times as long. There non-temporal stores
 * often win, because they need not fetch the lines that they overwrite; whether
 * they do is learnt in these copies themselves.
 *
 * Non-temporal copies leave the target in no cache, so the next copy to the
 * same place is cold again. So each kind is tried several times in a row: plain
 * copies of data that fit into a cache bring them back there, and are then no
 * longer cold.
 */
#include <string.h>

#include "providers/shm/memory/copy.h"
#include "providers/shm/shm.h"

#define PIECE (16u << 10)
#define SLOW  2     /* cold: a piece takes as many times as one in caches */
#define ROW   16u   /* copies of each kind in a trial */
#define AGAIN 1024u /* copies between two trials */
/* Plain copies must be faster by this much: the best of a row flatters them,
 * and a reader of so long a range is not slower after non-temporal ones. */
#define GAIN 0.9f

/* The kind of the next copy: 0 plain, 1 non-temporal. */
static int choose(struct shm_cold *cold, bool *learn)
{
    uint32_t phase = cold->copies++ % AGAIN;
    int way =
        phase < 2 * ROW ? phase >= ROW : GAIN * cold->cost[1] < cold->cost[0];
    *learn = phase < 2 * ROW;
    if (*learn && phase % ROW == 0)
        cold->cost[way] = 0;
    return way;
}

/* Keeps the best of a row: the thread may lose its core in a copy. */
static void learnt(float *cost, float now)
{
    if (*cost == 0 || now < *cost)
        *cost = now;
}

void shm_copy_cold(void *to, const void *from, size_t n,
                   const struct shm_manner *manner)
{
    uint64_t start = busywait_now_ns(), middle;
    bool learn;
    if (n < 2 * (size_t)PIECE) {
        memcpy(to, from, n);
        return;
    }
    n -= PIECE;
    size_t piece = manner->backward ? n : 0;
    memcpy((char *)to + piece, (const char *)from + piece, PIECE);
    middle = busywait_now_ns();
    if (!manner->backward)
        to = (char *)to + PIECE, from = (const char *)from + PIECE;
    if ((float)(middle - start) < SLOW * PIECE * manner->warm) {
        shm_copy_plain(to, from, n, manner);
        return;
    }
    int way = choose(manner->cold, &learn);
    if (way)
        stream_copy(to, from, n);
    else
        plain_copy(to, from, n);
    if (learn)
        learnt(&manner->cold->cost[way],
               (float)(busywait_now_ns() - middle) / (float)n);
}
