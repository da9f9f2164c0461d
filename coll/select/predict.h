/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between nodes that only TCP rails ("wires") join, a message costs far more
 * than a flag or a copy within a node. There `auto` asks the cost model whether
 * another algorithm than that of the rules is faster. It asks for short blocks
 * only: the model does not know how the transport moves long ones. Rules from
 * measurements serve these, and ranks that share cores.
 */
#ifndef DCOLL_PREDICT_H
#define DCOLL_PREDICT_H

#include "coll/schedule.h"

#define PREDICTED_BYTES 1024u /* longest blocks */
#define PREDICTED_SIZES 11u   /* their classes: powers of two */
#define PREDICTED_RANKS 32u   /* with more, schedules of all take too long */

struct prediction {
    bool crowded; /* ranks share cores: the model knows nothing of that */
    /* without wires: no predictions. declared: for reductions, whose rounding
     * must not depend on times */
    dcoll_cost_model_t declared, model;
    /* for each class, and for operations that commute or not, predicted at the
     * first call; NULL: not yet */
    const dcoll_algorithm_t *faster[DCOLL_COLLECTIVES][2][PREDICTED_SIZES];
};

/* What messages cost over so many TCP rails of this rate, in bytes per µs; 0:
 * not known. */
dcoll_cost_model_t predict_model(unsigned wires, double rate);
/* Sets p->model from measured microseconds: one_way, of a short message; gap,
 * between two of several that a rank sends in a row. */
void predict_measured(struct prediction *p, double one_way, double gap);

/* The ports that `auto` uses; 0: those of the shape. Over wires, long messages
 * are spread over all rails anyway, and each short one costs a processor more
 * than a wire: so one port is faster than several. */
unsigned predict_ports(const struct prediction *p);
/* The algorithm of the rules, or one that is clearly faster; may clear
 * args->zero_copy. */
const dcoll_algorithm_t *predict_faster(struct prediction *p,
                                        const dcoll_shape_t *shape,
                                        dcoll_args_t *args,
                                        const dcoll_algorithm_t *ruled);

#endif
