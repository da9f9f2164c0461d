/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between nodes that only TCP rails ("wires") join, a message costs far more
 * than a flag or a copy within a node. There `auto` asks the cost model whether
 * another algorithm than that of the rules is faster. It asks for short blocks
 * only: the model does not know how the transport moves long ones.
 */
#ifndef DCOLL_PREDICT_H
#define DCOLL_PREDICT_H

#include "coll/schedule.h"

#define PREDICTED_BYTES 1024u /* longest blocks */
#define PREDICTED_SIZES 11u   /* their classes: powers of two */

struct prediction {
    dcoll_cost_model_t model; /* without wires: no predictions */
    /* for each class, predicted at its first call; NULL: not yet */
    const dcoll_algorithm_t *faster[DCOLL_COLLECTIVES][PREDICTED_SIZES];
};

/* What messages cost over so many TCP rails of this rate, in bytes per µs; 0:
 * not known. */
dcoll_cost_model_t predict_model(unsigned wires, double rate);

/* The algorithm of the rules, or one that is clearly faster. */
const dcoll_algorithm_t *predict_faster(struct prediction *p,
                                        const dcoll_shape_t *shape,
                                        const dcoll_args_t *args,
                                        const dcoll_algorithm_t *ruled);

#endif
