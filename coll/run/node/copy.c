/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/node/copy.h"
#include "dapl_rail/platform/stream.h"

#define LINE   64u
#define TRIALS 4u   /* of each way at first: the best, as the first is cold */
#define AGAIN  128u /* then each way once in so many copies */
#define GROWTH 4    /* of a cost at once: who measures may lose his core */
/* Bytes: of less, a writer's store buffer hides the way; if there are more in
 * all of a start's NODE memory, lines leave the caches. */
#define GIVEN     8192u
#define GIVEN_ALL (512u << 10)

struct away_class *away_class_of(struct away *away, size_t bytes)
{
    unsigned class = 0;
    while (class + 1 < AWAY_CLASSES && bytes >> (class + 1) >= AWAY_LEAST)
        class ++;
    return &away->classes[class];
}

int away_choose(struct away_class *c, bool *learn)
{
    uint64_t call = c->calls++;
    *learn = call < AWAY_WAYS * TRIALS || call % (AGAIN / AWAY_WAYS) == 0;
    if (call < AWAY_WAYS * TRIALS)
        return (int)(call % AWAY_WAYS);
    if (*learn)
        return (int)(call / (AGAIN / AWAY_WAYS) % AWAY_WAYS);
    return c->cost[AWAY_PAST] < c->cost[AWAY_PLAIN] ? AWAY_PAST : AWAY_PLAIN;
}

void away_learn(struct away_class *c, int way, double cost)
{
    double *known = &c->cost[way], most = GROWTH * *known;
    bool first = c->calls <= AWAY_WAYS * TRIALS;
    if (!first)
        *known = (*known + (cost < most ? cost : most)) / 2;
    else if (*known == 0 || cost < *known)
        *known = cost;
}

/* Stands for the reader: what a plain copy has left in a cache takes him little
 * time, what is in no cache as much as here. */
static void read_back(const void *data, size_t bytes)
{
    const volatile unsigned char *line = data;
    for (size_t at = 0; at < bytes; at += LINE)
        (void)line[at];
}

static void copy(const struct drail_platform *p, int way, void *to,
                 const void *from, size_t bytes)
{
    if (way == AWAY_PAST)
        stream_copy(to, from, bytes);
    else
        p->copy(p, to, from, bytes);
}

void away_copy(struct away *away, const struct drail_platform *p, void *to,
               const void *from, size_t bytes)
{
    bool learn;
    if (bytes < AWAY_LEAST || !STREAM_EXISTS || platform_is_simulated(p)) {
        p->copy(p, to, from, bytes);
        return;
    }
    struct away_class *c = away_class_of(away, bytes);
    int way = away_choose(c, &learn);
    uint64_t start = learn ? platform_now(p) : 0;
    copy(p, way, to, from, bytes);
    if (!learn)
        return;
    read_back(to, bytes);
    away_learn(c, way, (double)(platform_now(p) - start) / (double)bytes);
}

void away_give_back(const struct drail_platform *p, void *data, size_t bytes,
                    size_t all)
{
    volatile unsigned char *line = data;
    if (bytes < GIVEN || all > GIVEN_ALL || platform_is_simulated(p))
        return;
    for (size_t at = 0; at < bytes; at += LINE)
        line[at] = 0;
}
