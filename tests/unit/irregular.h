/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of an irregular all-to-all, for tests to verify and to change. */
#ifndef TESTS_IRREGULAR_H
#define TESTS_IRREGULAR_H

#include "coll/algorithms/algorithms.h"
#include "traffic.h"

enum { IRREGULAR_RANKS = 10 }; /* at most */

struct irregular {
    const dcoll_algorithm_t *algorithm;
    unsigned node[IRREGULAR_RANKS + 1];
    dcoll_shape_t shape;
    struct traffic counts;
    dcoll_traffic_t bounds; /* may be changed before irregular_make */
    dcoll_args_t args;
    dcoll_program_t program;
    char why[512];
};

/** Takes the traffic, and bounds that just suffice for it. */
void irregular_open(struct irregular *i, unsigned n, unsigned ppn,
                    struct traffic counts, size_t element);
/** False: the algorithm is not for that. */
bool irregular_make(struct irregular *i, const dcoll_algorithm_t *a);
void irregular_close(struct irregular *i);

#endif
