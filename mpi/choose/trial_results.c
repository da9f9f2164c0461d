/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What contests have shown: each process keeps it for communicators of the same
 * number of ranks and nodes, which need no trials then. They may have other
 * ranks, which have seen other contests: what all of them have seen counts.
 */
#include <stdlib.h>

#include "mpi/layer.h"

#define SHAPES 64   /* that are kept */
#define TIE    1e-9 /* seconds: where ours was faster, but not worth it */

struct shape {
    int ranks, nodes;
    float saves[LAYER_COLLECTIVES][LAYER_CLASSES]; /* a call; 0: not known */
};

static struct {
    struct shape *of[SHAPES];
    unsigned made;
} shapes;

/* nodes: 0 for the latest of any. */
static struct shape *find(int ranks, int nodes)
{
    for (unsigned i = 0; i < SHAPES && i < shapes.made; i++) {
        struct shape *shape = shapes.of[i];
        if (shape->ranks == ranks && (!nodes || shape->nodes == nodes))
            return shape;
    }
    return NULL;
}

/* In place of the eldest, where there are many. NULL: no memory. */
static struct shape *add(int ranks, int nodes)
{
    struct shape *shape = calloc(1, sizeof *shape);
    if (!shape)
        return NULL;
    shape->ranks = ranks;
    shape->nodes = nodes;
    free(shapes.of[shapes.made % SHAPES]);
    shapes.of[shapes.made++ % SHAPES] = shape;
    return shape;
}

double verdict_of(int ranks, int collective, unsigned class)
{
    const struct shape *shape = find(ranks, 0);
    return shape ? (double)shape->saves[collective][class] : 0;
}

void verdict_keep(const struct layer_comm *c, int collective, unsigned class,
                  const struct contest *contest)
{
    int nodes = (int)drail_job_nodes(c->job);
    struct shape *shape = find(c->size, nodes);
    double saves = contest->saves;
    if (!shape)
        shape = add(c->size, nodes);
    if (contest->ours ? saves < TIE : saves > -TIE)
        saves = contest->ours ? TIE : -TIE;
    if (shape)
        shape->saves[collective][class] = (float)saves;
}

/* For each collective a bit for each class. */
struct known {
    uint32_t ours[LAYER_COLLECTIVES], below[LAYER_COLLECTIVES];
};

static void tell(const struct shape *shape, struct known *known)
{
    for (int i = 0; i < LAYER_COLLECTIVES; i++)
        for (unsigned k = 0; k < LAYER_CLASSES; k++) {
            known->ours[i] |= (uint32_t)(shape->saves[i][k] > 0) << k;
            known->below[i] |= (uint32_t)(shape->saves[i][k] < 0) << k;
        }
}

void verdicts_agree(struct layer_comm *c)
{
    const struct shape *shape = find(c->size, (int)drail_job_nodes(c->job));
    struct known mine = {0}, all = {0};
    if (shape)
        tell(shape, &mine);
    if (pmpi.Allreduce(&mine, &all, sizeof mine / sizeof(uint32_t),
                       MPI_UINT32_T, MPI_BAND, c->inner))
        all = (struct known){0};
    for (int i = 0; i < LAYER_COLLECTIVES; i++)
        for (unsigned k = 0; k < LAYER_CLASSES; k++) {
            bool known = (all.ours[i] | all.below[i]) >> k & 1;
            contest_open(&c->contests[i][k],
                         known ? (double)shape->saves[i][k] : 0, layer.eager);
        }
}
