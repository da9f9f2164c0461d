/* SPDX-License-Identifier: BSD-3-Clause */
/* Bodies that attract one another, all by all: each rank moves its block of
 * them, and reads the places of all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "examples/cluster_openmp/kernels.h"
#include "program.h"

#define OPERATIONS 20 /* for a pair */

typedef struct bodies {
    size_t n, first, last; /* this rank's */
    body_t *bodies[2];     /* before and after a step, in turn */
    double (*velocity)[3]; /* of this rank's, from the first on */
} bodies_t;

static uint64_t body_bytes(const options_t *o)
{
    return o->dsm.bodies * sizeof(body_t);
}

static uint64_t shared_bytes(const options_t *o, unsigned ranks, uint64_t page)
{
    (void)ranks;
    return 2 * program_pages(body_bytes(o), page);
}

static void describe(const options_t *o, char *text, size_t size)
{
    snprintf(text, size, "%llu bodies, %llu steps",
             (unsigned long long)o->dsm.bodies,
             (unsigned long long)o->dsm.steps);
}

static void fill(const bodies_t *b, unsigned seed)
{
    for (size_t i = b->first; i < b->last; i++) {
        body_t *body = &b->bodies[0][i];
        for (size_t k = 0; k < 3; k++)
            body->at[k] = program_uniform(seed, 4 * i + k);
        body->mass = (1 + program_uniform(seed, 4 * i + 3)) / (double)b->n;
    }
    memset(b->velocity, 0, (b->last - b->first) * sizeof *b->velocity);
}

static void move(const bodies_t *b, const body_t *from, body_t *to)
{
    for (size_t i = b->first; i < b->last; i++)
        to[i] = body_move(from, b->n, i, b->velocity[i - b->first]);
}

/* ------------------------------------------------------------ one alone --- */

static double operations(const options_t *o)
{
    const double n = (double)o->dsm.bodies;
    return n * n * OPERATIONS * (double)o->dsm.steps;
}

static void *alone(const options_t *o, unsigned seed, uint64_t *ns)
{
    const size_t n = o->dsm.bodies;
    bodies_t b = {.n = n, .last = n};
    b.bodies[0] = malloc(body_bytes(o));
    b.bodies[1] = malloc(body_bytes(o));
    b.velocity = malloc(n * sizeof *b.velocity);
    body_t *solution = NULL;
    if (!b.bodies[0] || !b.bodies[1] || !b.velocity)
        goto out;
    fill(&b, seed);
    uint64_t from = clock_ns();
    for (uint64_t s = 0; s < o->dsm.steps; s++)
        move(&b, b.bodies[s % 2], b.bodies[(s + 1) % 2]);
    *ns = clock_ns() - from;
    solution = b.bodies[o->dsm.steps % 2];
    b.bodies[o->dsm.steps % 2] = NULL;
out:
    free(b.velocity);
    free(b.bodies[0]);
    free(b.bodies[1]);
    return solution;
}

/* ------------------------------------------------------------ all ranks --- */

static void close_bodies(void *data)
{
    bodies_t *b = data;
    if (!b)
        return;
    free(b->velocity);
    free(b);
}

static void *open_bodies(dsm_bed_t *bed)
{
    const ddsm_place_t place = {.element = sizeof(body_t)};
    bodies_t *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->n = bed->opts->dsm.bodies;
    ddsm_part(bed->space, 0, b->n, &b->first, &b->last);
    b->velocity = calloc(b->last - b->first + 1, sizeof *b->velocity);
    for (unsigned i = 0; i < 2; i++)
        b->bodies[i] = ddsm_alloc(bed->space, body_bytes(bed->opts), &place);
    if (b->velocity && b->bodies[0] && b->bodies[1])
        return b;
    close_bodies(b);
    return NULL;
}

static void begin(const program_run_t *r)
{
    fill(r->data, r->seed);
}

static int run(program_run_t *r)
{
    const bodies_t *b = r->data;
    const size_t mine = b->last - b->first;
    int rc = 0;
    for (uint64_t s = 0; !rc && s < r->bed->opts->dsm.steps; s++) {
        const body_t *from = b->bodies[s % 2];
        body_t *to = b->bodies[(s + 1) % 2];
        rc = program_prefetch(r, from, b->n * sizeof *from, false);
        if (!rc)
            rc = program_prefetch(r, to + b->first, mine * sizeof *to, true);
        if (rc)
            break;
        program_enter(r);
        move(b, from, to);
        program_leave(r, (double)mine * (double)b->n * OPERATIONS);
        rc = program_barrier(r);
    }
    return rc;
}

static bool is_right(const program_run_t *r, const void *solution)
{
    const bodies_t *b = r->data;
    const body_t *mine = b->bodies[r->bed->opts->dsm.steps % 2];
    return !memcmp(mine + b->first, (const body_t *)solution + b->first,
                   (b->last - b->first) * sizeof *mine);
}

static const dsm_program_t program = {.describe = describe,
                                      .bytes = shared_bytes,
                                      .open = open_bodies,
                                      .close = close_bodies,
                                      .begin = begin,
                                      .run = run,
                                      .is_right = is_right,
                                      .alone = alone,
                                      .operations = operations};

const dsm_part_t dsm_nbody = {
    .name = "nbody",
    .kind = DSM_NBODY,
    .what = "bodies that attract one another: the slowest rank; faults and "
            "barriers, means over the ranks; gain: of their sum",
    .program = &program,
    PROGRAM_MEASURES(3),
};
