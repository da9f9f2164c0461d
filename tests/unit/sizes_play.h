/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays the schedules of irregular all-to-alls in stages by sizes only: how
 * many elements for which rank are in which bundle.
 */
#ifndef TESTS_SIZES_PLAY_H
#define TESTS_SIZES_PLAY_H

#include "coll/build/irregular/mesh.h"
#include "coll/build/irregular/stages.h"
#include "coll/schedule.h"

enum { SIZES_STEPS = 300 };

/** Of the receiver's, or holder's, column. */
enum { COMPLETE, INCOMPLETE, KINDS };

/** In elements. */
struct sizes {
    struct mesh mesh;
    uint64_t message[STAGES_MAX][KINDS];  /**< longest, by its receiver */
    unsigned count[STAGES_MAX][KINDS];    /**< most that one receives */
    uint64_t send[STAGES_MAX][KINDS];     /**< most in all buckets of a rank */
    uint64_t received[STAGES_MAX][KINDS]; /**< most in all that it receives */
    uint64_t step[SIZES_STEPS];           /**< longest message of each step */
    unsigned stage[SIZES_STEPS];          /**< of the step, from 0 */
    unsigned spread; /**< the stage (from 0) that has spread the elements, … */
    uint64_t uneven; /**< … after which P times what a rank holds for another
                          differs by so much from all that is for that one */
};

/**
 * A start of the program, with its counts; @p sizes has spread set, and 0 else.
 * NULL, or why it is wrong: a bundle exceeds its room,
 * something comes to the wrong rank or not at all (constant text).
 */
const char *sizes_play(const dcoll_program_t *program, struct sizes *sizes);

#endif
