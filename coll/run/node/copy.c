/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/node/copy.h"
#include "dapl_rail/platform/long_copy.h"

#define LINE   64u
#define TRIALS 4u   /* of each way at first; the best one counts */
#define AGAIN  128u /* later each way is timed once in so many copies */
/* bytes for which a loop is faster than the processor's own copy, see
 * fetch_copy() */
#define CROSSING_LEAST (16u << 10)
#define CROSSING_MOST  (128u << 10)
#define GROWTH                                                                 \
    4 /* limit of a growing cost: the core may be lost while timing */

struct copy_class *copy_class_of(struct node_copier *copier, size_t bytes)
{
    unsigned class = 0;
    while (class + 1 < COPY_CLASSES && bytes >> (class + 1) >= COPY_LEAST)
        class ++;
    return &copier->classes[class];
}

int copy_choose(struct copy_class *c, bool *learn)
{
    uint64_t call = c->calls++;
    *learn = call < COPY_WAYS * TRIALS || call % (AGAIN / COPY_WAYS) == 0;
    if (call < COPY_WAYS * TRIALS)
        return (int)(call % COPY_WAYS);
    if (*learn)
        return (int)(call / (AGAIN / COPY_WAYS) % COPY_WAYS);
    return c->cost[COPY_STREAMED] < c->cost[COPY_CACHED] ? COPY_STREAMED
                                                         : COPY_CACHED;
}

void copy_learn(struct copy_class *c, int way, double cost)
{
    double *known = &c->cost[way], most = GROWTH * *known;
    bool first = c->calls <= COPY_WAYS * TRIALS;
    if (!first)
        *known = (*known + (cost < most ? cost : most)) / 2;
    else if (*known == 0 || cost < *known)
        *known = cost;
}

/* Stands for the reader's cost: little for lines in a cache, much for others.
 */
static void read_back(const void *data, size_t bytes)
{
    const volatile unsigned char *line = data;
    for (size_t at = 0; at < bytes; at += LINE)
        (void)line[at];
}

static void copy(const struct drail_platform *p, int way, void *to,
                 const void *from, size_t bytes)
{
    if (way == COPY_STREAMED)
        stream_copy(to, from, bytes);
    else
        p->copy(p, to, from, bytes);
}

void node_copy(struct node_copier *copier, const struct drail_platform *p,
               void *to, const void *from, size_t bytes)
{
    bool learn;
    if (bytes < COPY_LEAST || !STREAM_EXISTS || platform_is_simulated(p)) {
        p->copy(p, to, from, bytes);
        return;
    }
    struct copy_class *c = copy_class_of(copier, bytes);
    int way = copy_choose(c, &learn);
    uint64_t start = learn ? platform_now(p) : 0;
    copy(p, way, to, from, bytes);
    if (!learn)
        return;
    read_back(to, bytes);
    copy_learn(c, way, (double)(platform_now(p) - start) / (double)bytes);
}

void node_copy_crossing(const struct drail_platform *p, void *to,
                        const void *from, size_t bytes)
{
    if (bytes < CROSSING_LEAST || bytes > CROSSING_MOST ||
        platform_is_simulated(p))
        p->copy(p, to, from, bytes);
    else
        fetch_copy(to, from, bytes);
}
