/* SPDX-License-Identifier: BSD-3-Clause */
/* N-BODY on one rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nbody.h"
#include "split.h"

double nbody_sort_operations(size_t n) /* keys, then comparisons */
{
    return (double)n * (30 + 4 * log2((double)n + 1));
}

double nbody_tree_operations(size_t items) /* as many cells, at most */
{
    return 25 * (double)items;
}

double nbody_force_operations(uint64_t looks)
{
    return 20 * (double)looks;
}

double nbody_motion_operations(size_t n)
{
    return 18 * (double)n;
}

static int by_id(const void *a, const void *b)
{
    const body_t *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Step 0 only finds the forces. */
static double step(const nbody_t *p, tree_t *tree, bool first)
{
    const double half = NBODY_STEP / 2;
    body_t *bodies = p->solution;
    double operations = 0;
    if (!first) {
        bodies_kick(bodies, p->n, half);
        bodies_drift(bodies, p->n, NBODY_STEP);
        operations = nbody_motion_operations(p->n);
    }
    box_t box = bodies_box(bodies, p->n);
    cube_t cube = box_cube(&box);
    bodies_sort(bodies, p->n, &cube);
    for (size_t i = 0; i < p->n; i++)
        p->items[i] = tree_item(&bodies[i]);
    tree_build(tree, p->items, p->n, &cube);
    for (size_t i = 0; i < p->n; i++)
        tree_force(tree, &bodies[i]);
    if (!first)
        bodies_kick(bodies, p->n, half);
    return operations + nbody_sort_operations(p->n) +
           nbody_tree_operations(p->n) +
           nbody_force_operations(split_cost(bodies, p->n));
}

int nbody_make(nbody_t *p, size_t n)
{
    p->n = n;
    p->start = malloc(n * sizeof *p->start);
    p->solution = malloc(n * sizeof *p->solution);
    p->items = malloc(n * sizeof *p->items);
    p->cells = malloc(TREE_CELLS(n) * sizeof *p->cells);
    return p->start && p->solution && p->items && p->cells ? 0 : DRAIL_ENOMEM;
}

void nbody_free(nbody_t *p)
{
    free(p->start);
    free(p->solution);
    free(p->items);
    free(p->cells);
}

void nbody_reset(nbody_t *p)
{
    memcpy(p->solution, p->start, p->n * sizeof *p->start);
}

double nbody_solve(nbody_t *p)
{
    tree_t tree = {.cells = p->cells,
                   .theta2 = p->theta2,
                   .soft2 = NBODY_SOFT * NBODY_SOFT};
    double operations = 0;
    for (unsigned s = 0; s <= p->steps; s++)
        operations += step(p, &tree, s == 0);
    p->kinetic = bodies_kinetic(p->solution, p->n);
    qsort(p->solution, p->n, sizeof *p->solution, by_id);
    return operations;
}
