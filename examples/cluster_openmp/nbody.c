/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N-BODY: each body attracts each other one. A rank moves its block of bodies,
 * and reads the positions of all. The forces on a body are summed in the same
 * order on any rank, so the result of many ranks has the same bits as that of
 * one.
 *
 * cc -fopenmp nbody.c cluster.c options.c $(pkg-config --cflags --libs ddsm) \
 *     -lm
 */
#include <math.h>
#include <stdlib.h>

#include "cluster.h"

static const double STEP = 1e-3, SOFTENING = 1e-4;

typedef struct vector {
    double x, y, z;
} vector_t;

/* The shared part of a body. One rank writes it, so it is one element. */
typedef struct body {
    vector_t at;
    double mass;
} body_t;

typedef struct nbody {
    cluster_t *c;
    size_t n;
    body_t *from, *to;  /* before and after a step */
    vector_t *velocity; /* private: no other rank needs it */
} nbody_t;

static body_t make_body(uint64_t seed, size_t i, size_t n)
{
    return (body_t){.at = {cluster_uniform(seed, 3 * i),
                           cluster_uniform(seed, 3 * i + 1),
                           cluster_uniform(seed, 3 * i + 2)},
                    .mass = (1 + cluster_uniform(~seed, i)) / (double)n};
}

static vector_t pull(const body_t *bodies, size_t n, const vector_t *at)
{
    vector_t sum = {0};
    for (size_t k = 0; k < n; k++) {
        const body_t *b = &bodies[k];
        const double x = b->at.x - at->x, y = b->at.y - at->y,
                     z = b->at.z - at->z;
        const double square = x * x + y * y + z * z + SOFTENING;
        const double factor = b->mass / (square * sqrt(square));
        sum.x += factor * x;
        sum.y += factor * y;
        sum.z += factor * z;
    }
    return sum;
}

static void move(const nbody_t *b, size_t i)
{
    const body_t *from = &b->from[i];
    const vector_t sum = pull(b->from, b->n, &from->at);
    vector_t *v = &b->velocity[i];
    v->x += STEP * sum.x;
    v->y += STEP * sum.y;
    v->z += STEP * sum.z;
    b->to[i] =
        (body_t){.at = {from->at.x + STEP * v->x, from->at.y + STEP * v->y,
                        from->at.z + STEP * v->z},
                 .mass = from->mass};
}

static void fill(size_t first, size_t last, void *context)
{
    const nbody_t *b = context;
    for (size_t i = first; i < last; i++)
        b->from[i] = make_body(b->c->ask.seed, i, b->n);
}

static void step(size_t first, size_t last, void *context)
{
    const nbody_t *b = context;
    cluster_t *c = b->c;
    /* fetch all bodies at once, not fault by fault */
    cluster_prefetch(c, b->from, b->n * sizeof(body_t), false);
    cluster_prefetch(c, b->to + first, (last - first) * sizeof(body_t), true);
#pragma omp parallel for
    for (size_t i = first; i < last; i++) {
        cluster_pause(c);
        move(b, i);
    }
}

static void swap(nbody_t *b)
{
    body_t *from = b->from;
    b->from = b->to;
    b->to = from;
}

/* The same by one thread, in private memory. */
static bool check(const nbody_t *b)
{
    cluster_t *c = b->c;
    const size_t n = b->n;
    nbody_t own = {.c = c,
                   .n = n,
                   .from = cluster_private(c, n, sizeof(body_t)),
                   .to = cluster_private(c, n, sizeof(body_t)),
                   .velocity = cluster_private(c, n, sizeof(vector_t))};
    fill(0, n, &own);
    const double start = cluster_seconds();
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        for (size_t i = 0; i < n; i++)
            move(&own, i);
        swap(&own);
    }
    c->alone = cluster_seconds() - start;
    const bool same =
        cluster_same(c, "body", b->from, own.from, n, sizeof(body_t));
    free(own.from);
    free(own.to);
    free(own.velocity);
    return same;
}

static bool run(cluster_t *c)
{
    const size_t n = c->ask.size, bytes = n * sizeof(body_t);
    const ddsm_place_t place = {.element = sizeof(body_t)};
    ddsm_t *d = cluster_open(c, 2 * bytes, 2);
    nbody_t b = {.c = c, .n = n};
    b.from = cluster_alloc(c, bytes, &place);
    b.to = cluster_alloc(c, bytes, &place);
    b.velocity = cluster_private(c, n, sizeof(vector_t));
    must(c, ddsm_for(d, 0, n, fill, &b));
    cluster_start(c);
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        must(c, ddsm_for(d, 0, n, step, &b)); /* ends with a barrier */
        swap(&b);
    }
    cluster_stop(c);
    const bool same = c->rank || check(&b);
    free(b.velocity);
    return same;
}

int main(int argc, char **argv)
{
    static const program_t nbody = {
        .name = "nbody",
        .about = "Bodies that attract one another, in shared memory.",
        .size_is = "bodies",
        .size = 2048,
        .least = 1,
        .most = 1 << 24,
        .iterations = 20,
        .run = run,
    };
    return cluster_main(&nbody, argc, argv);
}
