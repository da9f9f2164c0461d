/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Shared by the programs of this folder: command line, job, shared memory,
 * report. Each program is Cluster OpenMP written by hand: a parallel loop over
 * ranks, whose body is an OpenMP region, on memory that all ranks share. Then
 * rank 0 computes the same alone, to compare.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <dsm/ddsm.h>

typedef struct cluster cluster_t;

/** A program. */
typedef struct program {
    const char *name, *about;
    const char *size_is; /**< what --size counts */
    size_t size, least, most;
    unsigned iterations; /**< the default */
    /** Called on each rank. @return false: the result differs from rank 0's
     *  alone. */
    bool (*run)(cluster_t *c);
} program_t;

/** The command line. */
typedef struct options {
    size_t size;
    unsigned iterations;
    unsigned threads; /**< of each rank; 0: default */
    unsigned ranks;   /**< DRAIL_RANKS_AUTO: default */
    unsigned delays;  /**< longest pause, in microseconds; 0: none */
    bool faults;      /**< no prefetches */
    bool shared;      /**< DDSM_PAGES_SHARED */
    uint64_t seed;
    char rails_text[1024]; /**< rails[] point here */
    const char *rails[DRAIL_MAX_RAILS];
    unsigned nrails; /**< 0: default */
} options_t;

/** One rank of a program. */
struct cluster {
    const program_t *program;
    options_t ask;    /**< with the present number of threads */
    drail_job_t *job; /**< of all ranks */
    ddsm_t *d;        /**< the shared memory, once it is open */
    unsigned rank, ranks;
    double seconds; /**< from cluster_start to cluster_stop */
    double alone;   /**< seconds of rank 0 alone; the program sets it */
    ddsm_stats_t stats;
};

/** Runs the program on all ranks. @return its exit status: 0; 1: a rank failed,
 *  or the results differ; 2: the command line is wrong. */
int cluster_main(const program_t *program, int argc, char **argv);

/** @return 0; 2 after one line on standard error; -1 after --help. */
int options_parse(const program_t *program, int argc, char **argv,
                  options_t *ask);

/** If @p rc, the result of a call of libddsm, is an error: prints its sentence
 *  and ends the rank, and so the job. Any thread. */
void must(const cluster_t *c, int rc);

/** Opens memory for @p pieces calls of ddsm_alloc, of @p bytes together. */
ddsm_t *cluster_open(cluster_t *c, size_t bytes, size_t pieces);
/** ddsm_alloc(), and private zeroed memory, for free(). Both end the rank if
 *  there is no memory. */
void *cluster_alloc(cluster_t *c, size_t bytes, const ddsm_place_t *place);
void *cluster_private(const cluster_t *c, size_t count, size_t bytes);

/** ddsm_prefetch(), unless --faults is given. */
void cluster_prefetch(const cluster_t *c, const void *start, size_t bytes,
                      bool writable);

/** Begin and end what is measured; barriers of all ranks. */
void cluster_start(cluster_t *c);
void cluster_stop(cluster_t *c);
double cluster_seconds(void);

/** With --delays: sometimes pauses for a random time, to vary the order in
 * which ranks and threads work. Any thread. */
void cluster_pause(const cluster_t *c);

/** A random number that depends only on its arguments, so that each rank can
 *  make any part of the input; and the same from 0 to 1. */
uint64_t cluster_random(uint64_t seed, uint64_t index);
double cluster_uniform(uint64_t seed, uint64_t index);

/** Compares @p count elements of @p bytes, bit by bit; prints the first
 *  difference. */
bool cluster_same(const cluster_t *c, const char *what, const void *shared,
                  const void *alone, size_t count, size_t bytes);

#endif
