/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of trials. A process keeps them for later communicators with as many
 * ranks on as many nodes, which then need no trials. The ranks of such a
 * communicator may have seen different trials: only results that all of them
 * have, with the same winner, are used.
 */
#include <pthread.h>
#include <stdlib.h>

#include "mpi/choose/choose.h"

#define KINDS_KEPT 64   /* kinds of communicators */
#define TIE        1e-9 /* seconds, so that the sign is the winner's */

struct comm_results {
    int ranks, nodes;
    float saves[LAYER_COLLECTIVES][LAYER_CLASSES]; /* of a call; 0: not known */
};

static struct {
    pthread_mutex_t lock; /* communicators may be used by several threads */
    struct comm_results *of[KINDS_KEPT];
    unsigned made;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* @nodes: 0 for any number. */
static struct comm_results *find(int ranks, int nodes)
{
    for (unsigned i = 0; i < KINDS_KEPT && i < kept.made; i++) {
        struct comm_results *results = kept.of[i];
        if (results->ranks == ranks && (!nodes || results->nodes == nodes))
            return results;
    }
    return NULL;
}

/* Replaces the oldest, if there are too many. NULL: no memory. */
static struct comm_results *add(int ranks, int nodes)
{
    struct comm_results *results = calloc(1, sizeof *results);
    if (!results)
        return NULL;
    results->ranks = ranks;
    results->nodes = nodes;
    free(kept.of[kept.made % KINDS_KEPT]);
    kept.of[kept.made++ % KINDS_KEPT] = results;
    return results;
}

double trial_result_of(int ranks, int collective, unsigned class)
{
    pthread_mutex_lock(&kept.lock);
    const struct comm_results *results = find(ranks, 0);
    double saves = results ? (double)results->saves[collective][class] : 0;
    pthread_mutex_unlock(&kept.lock);
    return saves;
}

void trial_result_store(const struct layer_comm *c, int collective,
                        unsigned class, const struct trials *trials)
{
    int nodes = (int)drail_job_nodes(c->job);
    double saves = trials->saves;
    if (trials->by_dcoll ? saves < TIE : saves > -TIE)
        saves = trials->by_dcoll ? TIE : -TIE;
    pthread_mutex_lock(&kept.lock);
    struct comm_results *results = find(c->size, nodes);
    if (!results)
        results = add(c->size, nodes);
    if (results)
        results->saves[collective][class] = (float)saves;
    pthread_mutex_unlock(&kept.lock);
}

/* Winners: for each collective one bit for each class. */
struct winners {
    uint32_t dcoll[LAYER_COLLECTIVES], below[LAYER_COLLECTIVES];
};

static void tell(const struct comm_results *results, struct winners *winners)
{
    for (int i = 0; i < LAYER_COLLECTIVES; i++)
        for (unsigned k = 0; k < LAYER_CLASSES; k++) {
            winners->dcoll[i] |= (uint32_t)(results->saves[i][k] > 0) << k;
            winners->below[i] |= (uint32_t)(results->saves[i][k] < 0) << k;
        }
}

/* Another thread may replace the results of this kind meanwhile. */
static struct comm_results copy_of(const struct layer_comm *c)
{
    pthread_mutex_lock(&kept.lock);
    const struct comm_results *found =
        find(c->size, (int)drail_job_nodes(c->job));
    const struct comm_results copy = found ? *found : (struct comm_results){0};
    pthread_mutex_unlock(&kept.lock);
    return copy;
}

void trial_results_agree(struct layer_comm *c)
{
    const struct comm_results results = copy_of(c);
    struct winners mine = {0}, all = {0};
    tell(&results, &mine);
    if (pmpi.Allreduce(&mine, &all, sizeof mine / sizeof(uint32_t),
                       MPI_UINT32_T, MPI_BAND, c->inner))
        all = (struct winners){0};
    for (int i = 0; i < LAYER_COLLECTIVES; i++)
        for (unsigned k = 0; k < LAYER_CLASSES; k++) {
            bool known = (all.dcoll[i] | all.below[i]) >> k & 1;
            trials_open(&c->trials[i][k],
                        known ? (double)results.saves[i][k] : 0, layer.eager);
        }
}
