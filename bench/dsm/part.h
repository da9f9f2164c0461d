/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the test, a file each, and what they measure. */
#ifndef BENCH_DSM_PART_H
#define BENCH_DSM_PART_H

#include "bed.h"

/** In microseconds, but RATIO. */
typedef enum dsm_figure {
    FIGURE_TIME,
    FIGURE_PINGPONG, /**< of 8 bytes, one way */
    FIGURE_COPY,     /**< of a page */
    FIGURE_GET,      /**< drail_get of the same bytes */
    FIGURE_RATIO,    /**< fetch: of the time to a ping-pong and a copy; range:
                          of a get's time to it */
    FIGURE_TWIN,     /**< the fault of a write */
    FIGURE_COMPARE,  /**< flush of pages that are as they were */
    FIGURE_PIECES,   /**< what a flush takes longer if they are not */
    FIGURE_COMMUNICATION, /**< faults, barriers and locks */
    FIGURE_FAULTS,
    FIGURE_BARRIERS,
    FIGURE_LOCKS,
    DSM_FIGURES
} dsm_figure_t;

typedef struct dsm_case {
    const char *name;
    unsigned amount; /**< what the part takes it for */
} dsm_case_t;

#define DSM_CASES_MAX 4

typedef struct dsm_program dsm_program_t; /* program.h */

typedef struct dsm_part dsm_part_t;

struct dsm_part {
    const char *name;
    dsm_kind_t kind;
    const char *what; /**< a line for people */
    dsm_case_t cases[DSM_CASES_MAX];
    unsigned ncases;
    bool sized;                        /**< measured for each of --sizes */
    bool paged;                        /**< ... for a page */
    dsm_figure_t figures[DSM_FIGURES]; /**< beside the time */
    unsigned nfigures;
    dsm_figure_t gains;           /**< what other rails are compared by */
    const dsm_program_t *program; /**< NULL: it is none */
    /** One repeat on all ranks. Fills in the figures that this rank has; the
     *  others are NaN. @p bytes: of sized and paged ones.
     *  @param wrong set if something is not what was written. */
    int (*repeat)(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *figures,
                  bool *wrong);
};

/** By their kinds. */
extern const dsm_part_t *const dsm_parts[DSM_PARTS];

extern const dsm_part_t dsm_fetch, dsm_range, dsm_diff, dsm_lock, dsm_barrier,
    dsm_jacobi, dsm_lu, dsm_sort, dsm_nbody;

#endif
