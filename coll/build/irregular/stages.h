/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all in stages (Liu, Wang and Prasanna): in each stage,
 * elements are dealt to buckets, and buckets are exchanged within groups of
 * ranks.
 */
#ifndef DCOLL_STAGES_H
#define DCOLL_STAGES_H

#include "coll/build/irregular/mesh.h"
#include "coll/schedule.h"

/** How buckets are filled. */
enum dealing {
    DEALT_EVENLY,    /**< DISTRIBUTE; R- or C-Distribute */
    DEALT_BY_COLUMN, /**< COLLECT by the destination's column: C-Collect */
    DEALT_BY_ROW,    /**< COLLECT by the destination's row: R-Collect */
    DEALT_BY_RANK    /**< COLLECT by the destination itself */
};

struct stage {
    const struct exchange *exchange;
    enum dealing dealing;
};

/** Blocking (one step after the other), or non-blocking with a single send
 *  buffer (-n1), or with two, used in turn (-n2): sections 2.2 and 3.4. */
enum stages_form { STAGES_B, STAGES_N1, STAGES_N2 };

#define STAGES_MAX 4

struct stages {
    unsigned count;
    struct stage stage[STAGES_MAX];
};

extern const struct stages stages_a1, stages_a2, stages_a3, stages_a4;

void stages_generate(const struct stages *stages, enum stages_form form,
                     const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s);

/** dcoll_algorithm_t.refuses for any number of ranks, … */
const char *stages_refuse(const dcoll_shape_t *shape, const dcoll_args_t *args);
/** … and for perfect squares only. */
const char *stages_refuse_unsquare(const dcoll_shape_t *shape,
                                   const dcoll_args_t *args);

/** Bounds of a stage, if no rank sends or receives more than the traffic
 * allows: elements and runs of the longest message; and most elements for one
 * destination that a rank of a complete column, or of an incomplete one, deals.
 */
struct stage_bound {
    double elements, runs;
    uint64_t most[2];
};

/** The bytes of the longest message of a stage, for a job of @p nranks. 0: it
 * would be too long. */
size_t stages_room(const struct stage_bound *bound,
                   const dcoll_traffic_t *traffic, unsigned nranks);

void stages_bounds(const struct stages *stages, const struct mesh *mesh,
                   const dcoll_traffic_t *traffic,
                   struct stage_bound bound[STAGES_MAX]);

#endif
