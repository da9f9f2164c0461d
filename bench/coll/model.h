/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of Hockney's model (Qian and Afsahi 2008, section 3.2) for this
 * machine: measured between two ranks before the collectives, never fitted to
 * them.
 */
#ifndef BENCH_COLL_MODEL_H
#define BENCH_COLL_MODEL_H

#include "step.h"

/**
 * All ranks, before there is a team; takes a few ms. Rank 0 gets the model in
 * microseconds: ts and tau from ping-pongs of a short and a long put on one
 * rail, between two nodes if there are several; copy from memcpy, combine
 * from the operation of a reduction, flag from a cache line between the ranks'
 * cores. One rank alone: copy only, the others
 * are 0.
 */
int coll_model_measure(coll_bed_t *bed, coll_run_t *run,
                       dcoll_cost_model_t *model);

/** Prediction for the arguments in microseconds, or NaN. @p counts: as in
 *  dcoll_program_t, or NULL. */
double coll_model_predict(const dcoll_cost_model_t *model,
                          const dcoll_algorithm_t *algorithm,
                          const dcoll_shape_t *shape, const dcoll_args_t *args,
                          const uint64_t *counts);

#endif
