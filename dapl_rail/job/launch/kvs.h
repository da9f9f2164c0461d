/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launcher offers its processes: a place in the job, and a board on
 * which rank 0 pins a line that all can read. What ranks say to one another
 * later does not go over it.
 */
#ifndef DRAIL_JOB_BOARD_H
#define DRAIL_JOB_BOARD_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define BOARD_LINE 1024u /* with its zero: PMI-2 takes no more */

struct board {
    unsigned rank, size;
    /* All ranks, which may take so long to come. Rank 0's line is what the
     * others get. */
    int (*share)(struct board *b, char line[BOARD_LINE], int timeout_ms,
                 drail_error_t *err);
    /* Ends the launcher's services; frees. failed: others may be gone. */
    void (*close)(struct board *b, bool failed);
};

/* The launcher that the environment tells of; *board NULL: there is none. */
int pmix_open(struct board **board, drail_error_t *err);
int pmi2_open(struct board **board, drail_error_t *err);

#endif
