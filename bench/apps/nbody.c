/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N-BODY on many ranks.
 *
 * All-gathers of each step, all of less than 64 bytes: the box of all bodies,
 * the number of bodies of each rank, the boxes of these, energies. Every few
 * steps an all-gather of 512-byte samples, by which the bodies are dealt anew.
 * (Qian and Afsahi 2008, 7.4.1: 91 % of the payloads are below 64 bytes, the
 * others below 1 KB.)
 *
 * Messages between two ranks: bodies that have crossed a border, and the part
 * of a tree that the other rank needs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nbody.h"
#include "split.h"
#include "tree.h"

typedef struct part {
    const nbody_t *problem;
    unsigned rank, ranks;
    size_t n;        /* bodies here, of room for all */
    body_t *bodies;  /* sorted, but while they move */
    body_t *arrived; /* in their place after an exchange */
    uint64_t *split; /* keys: ranks + 1 */
    cube_t cube;
    box_t *boxes; /* of all ranks' bodies */
    tree_t own, whole;
    cell_t *items, *out, *in; /* of room for all, each */
    size_t *first;            /* index in `in` of what a rank has sent ... */
    size_t *count;            /* ... and how much that is */
    bool incomplete;          /* a rank lacked what it needed */
    double kinetic;           /* of all */
} part_t;

/* -------------------------------------------------------- begin and end --- */

static void end(void *arg)
{
    part_t *p = arg;
    if (!p)
        return;
    free(p->bodies);
    free(p->arrived);
    free(p->split);
    free(p->boxes);
    free(p->own.cells);
    free(p->whole.cells);
    free(p->items);
    free(p->out);
    free(p->in);
    free(p->first);
    free(p->count);
    free(p);
}

static void *begin(const void *problem, unsigned rank, unsigned ranks)
{
    const nbody_t *all = problem;
    size_t n = all->n, from = n * rank / ranks, to = n * (rank + 1) / ranks;
    part_t *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (part_t){.problem = all,
                  .rank = rank,
                  .ranks = ranks,
                  .n = to - from,
                  .bodies = malloc(n * sizeof *p->bodies),
                  .arrived = malloc(n * sizeof *p->arrived),
                  .split = malloc((ranks + 1) * sizeof *p->split),
                  .boxes = malloc(ranks * sizeof *p->boxes),
                  .own.cells = malloc(TREE_CELLS(n) * sizeof(cell_t)),
                  .whole.cells = malloc(TREE_CELLS(n) * sizeof(cell_t)),
                  .items = malloc(n * sizeof *p->items),
                  .out = malloc(n * sizeof *p->out),
                  .in = malloc(n * sizeof *p->in),
                  .first = malloc(ranks * sizeof *p->first),
                  .count = malloc(ranks * sizeof *p->count)};
    if (!p->bodies || !p->arrived || !p->split || !p->boxes || !p->own.cells ||
        !p->whole.cells || !p->items || !p->out || !p->in || !p->first ||
        !p->count) {
        end(p);
        return NULL;
    }
    p->own.theta2 = p->whole.theta2 = all->theta2;
    p->own.soft2 = p->whole.soft2 = NBODY_SOFT * NBODY_SOFT;
    memcpy(p->bodies, all->start + from, p->n * sizeof *p->bodies);
    return p;
}

/* ------------------------------------------------ division of bodies --- */

static int find_cube(part_t *p, app_comm_t *comm)
{
    const void *all;
    box_t box = bodies_box(p->bodies, p->n);
    int rc = app_allgather(comm, &box, sizeof box, &all);
    for (unsigned r = 0; !rc && r < p->ranks; r++)
        box_add(&box, (const box_t *)all + r);
    p->cube = box_cube(&box);
    bodies_sort(p->bodies, p->n, &p->cube);
    app_compute(comm, nbody_sort_operations(p->n));
    return rc;
}

static int deal(part_t *p, app_comm_t *comm)
{
    const void *all;
    samples_t mine;
    split_sample(p->bodies, p->n, &mine);
    int rc = app_allgather(comm, &mine, sizeof mine, &all);
    app_compute(comm, nbody_sort_operations((size_t)p->ranks * SPLIT_KEYS));
    return rc ? rc : split_keys(all, p->ranks, p->split);
}

/* Moves each body to the rank that its key belongs to. */
static int move(part_t *p, app_comm_t *comm)
{
    size_t n = 0, bytes;
    int rc = 0;
    for (unsigned round = 0; !rc && round < p->ranks; round++) {
        unsigned to = app_partner(comm, round);
        size_t from = bodies_find(p->bodies, p->n, p->split[to]);
        size_t until = bodies_find(p->bodies, p->n, p->split[to + 1]);
        rc = app_exchange(comm, to, p->bodies + from,
                          (until - from) * sizeof *p->bodies, p->arrived + n,
                          (p->problem->n - n) * sizeof *p->bodies, &bytes);
        n += rc ? 0 : bytes / sizeof *p->bodies;
    }
    if (rc)
        return rc;
    body_t *left = p->bodies;
    p->bodies = p->arrived;
    p->arrived = left;
    p->n = n;
    bodies_sort(p->bodies, p->n, &p->cube);
    app_compute(comm, nbody_sort_operations(p->n));
    return 0;
}

/* None may be lost on the way. */
static int count_all(part_t *p, app_comm_t *comm)
{
    const void *all;
    uint64_t mine = p->n, sum = 0;
    int rc = app_allgather(comm, &mine, sizeof mine, &all);
    for (unsigned r = 0; !rc && r < p->ranks; r++)
        sum += ((const uint64_t *)all)[r];
    p->incomplete |= sum != p->problem->n;
    return rc;
}

/* -------------------------------------------------------------- forces --- */

static int tell_boxes(part_t *p, app_comm_t *comm)
{
    const void *all;
    box_t box = bodies_box(p->bodies, p->n);
    int rc = app_allgather(comm, &box, sizeof box, &all);
    if (!rc)
        memcpy(p->boxes, all, p->ranks * sizeof *p->boxes);
    return rc;
}

static void grow_own(part_t *p, app_comm_t *comm)
{
    for (size_t i = 0; i < p->n; i++)
        p->items[i] = tree_item(&p->bodies[i]);
    tree_build(&p->own, p->items, p->n, &p->cube);
    app_compute(comm, nbody_tree_operations(p->n));
}

/* Sends each other rank the part of the own tree that it needs, and receives
 * the parts that this rank needs. */
static int trade(part_t *p, app_comm_t *comm)
{
    size_t n = 0, bytes, looks;
    int rc = 0;
    for (unsigned round = 0; !rc && round < p->ranks; round++) {
        unsigned to = app_partner(comm, round);
        size_t items = p->n;
        const cell_t *out = p->items;
        if (to != p->rank) {
            items = tree_essential(&p->own, &p->boxes[to], p->split[p->rank],
                                   p->split[p->rank + 1], p->out, &looks);
            out = p->out;
            app_compute(comm, nbody_force_operations(looks));
        }
        rc = app_exchange(comm, to, out, items * sizeof *out, p->in + n,
                          (p->problem->n - n) * sizeof *out, &bytes);
        p->first[to] = n;
        p->count[to] = rc ? 0 : bytes / sizeof *out;
        n += p->count[to];
    }
    return rc;
}

/* Ranks have their keys in order. */
static void grow_whole(part_t *p, app_comm_t *comm)
{
    size_t n = 0;
    for (unsigned r = 0; r < p->ranks; n += p->count[r++])
        memcpy(p->items + n, p->in + p->first[r],
               p->count[r] * sizeof *p->items);
    tree_build(&p->whole, p->items, n, &p->cube);
    app_compute(comm, nbody_tree_operations(n));
}

static int find_forces(part_t *p, app_comm_t *comm)
{
    int rc = tell_boxes(p, comm);
    if (rc)
        return rc;
    grow_own(p, comm);
    rc = trade(p, comm);
    if (rc)
        return rc;
    grow_whole(p, comm);
    for (size_t i = 0; i < p->n; i++)
        p->incomplete |= !tree_force(&p->whole, &p->bodies[i]);
    app_compute(comm, nbody_force_operations(split_cost(p->bodies, p->n)));
    return 0;
}

/* --------------------------------------------------------------- steps --- */

/* The energy that the bodies have. */
static int conclude(part_t *p, app_comm_t *comm)
{
    const void *all;
    double mine = bodies_kinetic(p->bodies, p->n);
    int rc = app_allgather(comm, &mine, sizeof mine, &all);
    p->kinetic = 0;
    for (unsigned r = 0; !rc && r < p->ranks; r++)
        p->kinetic += ((const double *)all)[r];
    return rc;
}

static int step(part_t *p, app_comm_t *comm, unsigned number)
{
    const double half = NBODY_STEP / 2;
    if (number) {
        bodies_kick(p->bodies, p->n, half);
        bodies_drift(p->bodies, p->n, NBODY_STEP);
        app_compute(comm, nbody_motion_operations(p->n));
    }
    int rc = find_cube(p, comm);
    if (!rc && number % p->problem->rebalance == 0)
        rc = deal(p, comm);
    if (!rc)
        rc = move(p, comm);
    if (!rc)
        rc = count_all(p, comm);
    if (!rc)
        rc = find_forces(p, comm);
    if (!rc && number)
        bodies_kick(p->bodies, p->n, half);
    return rc ? rc : conclude(p, comm);
}

static int run(void *arg, app_comm_t *comm)
{
    part_t *p = arg;
    int rc = 0;
    for (unsigned s = 0; !rc && s <= p->problem->steps; s++)
        rc = step(p, comm, s);
    return rc;
}

/* -------------------------------------------------------------- checks --- */

static bool differs(const body_t *a, const body_t *b)
{
    return memcmp(a->pos, b->pos, sizeof a->pos) ||
           memcmp(a->vel, b->vel, sizeof a->vel);
}

static void check(const void *arg, app_check_t *c)
{
    const part_t *p = arg;
    *c = (app_check_t){.count = p->n, .wrong = p->incomplete};
    for (size_t i = 0; i < p->n; i++) {
        const body_t *b = &p->bodies[i];
        c->sum += b->id;
        c->wrong +=
            b->id >= p->problem->n || differs(b, &p->problem->solution[b->id]);
    }
    /* ranks add up in another order */
    double energy = p->problem->kinetic;
    c->wrong += !(fabs(p->kinetic - energy) <= 1e-9 * energy);
}

static void total(const void *problem, app_check_t *c)
{
    const nbody_t *p = problem;
    *c = (app_check_t){.count = p->n, .sum = (uint64_t)p->n * (p->n - 1) / 2};
}

/* ------------------------------------------------------------- problem --- */

static void discard(void *problem)
{
    if (problem)
        nbody_free(problem);
    free(problem);
}

static void *draw(const options_t *opts)
{
    const struct apps_options *o = &opts->apps;
    nbody_t *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->steps = (unsigned)o->steps;
    p->rebalance = (unsigned)o->rebalance;
    p->theta2 = o->theta * o->theta;
    if (nbody_make(p, o->bodies)) {
        discard(p);
        return NULL;
    }
    bodies_plummer(p->start, p->n, o->draw);
    return p;
}

static void reset(void *problem)
{
    nbody_reset(problem);
}

static double solve(void *problem)
{
    return nbody_solve(problem);
}

static unsigned blocks(const options_t *opts, uint64_t *sizes)
{
    (void)opts;
    sizes[0] = sizeof(uint64_t);
    sizes[1] = sizeof(box_t);
    sizes[2] = sizeof(samples_t);
    return 3;
}

static void describe(const options_t *opts, char *text, size_t size)
{
    const struct apps_options *o = &opts->apps;
    snprintf(text, size, "%llu bodies, %llu steps, theta %g",
             (unsigned long long)o->bodies, (unsigned long long)o->steps,
             o->theta);
}

const app_t nbody_app = {.blocks = blocks,
                         .draw = draw,
                         .reset = reset,
                         .solve = solve,
                         .discard = discard,
                         .begin = begin,
                         .run = run,
                         .check = check,
                         .total = total,
                         .end = end,
                         .describe = describe};
