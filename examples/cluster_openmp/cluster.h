/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What the programs of this folder do alike: the command line, the job, the
 * shared memory, the report. Each program is Cluster OpenMP written by hand: a
 * parallel loop over ranks whose body is an OpenMP region, on memory that all
 * ranks share, and the same computation by rank 0 alone to compare with.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <dsm/ddsm.h>

typedef struct cluster cluster_t;

/** What makes one program differ from another. */
typedef struct program {
    const char *name, *about;
    const char *size_is; /**< what --size counts */
    size_t size, least, most;
    unsigned iterations; /**< the default */
    /** Each rank. @return false: rank 0 alone has found something else. */
    bool (*run)(cluster_t *c);
} program_t;

/** What the command line has said. */
typedef struct options {
    size_t size;
    unsigned iterations;
    unsigned threads; /**< of each rank; 0: not said */
    unsigned ranks;   /**< DRAIL_RANKS_AUTO: not said */
    unsigned delays;  /**< longest pause, in microseconds; 0: none */
    bool faults;      /**< no prefetches */
    uint64_t seed;
    char rails_text[1024]; /**< rails[] point here */
    const char *rails[DRAIL_MAX_RAILS];
    unsigned nrails; /**< 0: not said */
} options_t;

/** One rank of a program. */
struct cluster {
    const program_t *program;
    options_t ask;    /**< threads: what there are */
    drail_job_t *job; /**< of all ranks */
    ddsm_t *d;        /**< the shared memory, once it is open */
    unsigned rank, ranks;
    double seconds; /**< from cluster_start to cluster_stop */
    double alone;   /**< what rank 0 took by itself: set by the program */
    ddsm_stats_t stats;
};

/** Runs the program on all ranks. @return its exit status: 0; 1: a rank failed,
 *  or the results differ; 2: the command line is wrong. */
int cluster_main(const program_t *program, int argc, char **argv);

/** @return 0; 2 after one line on standard error; -1 after --help. */
int options_parse(const program_t *program, int argc, char **argv,
                  options_t *ask);

/** Ends the rank with a sentence, and so the job, unless @p rc, which a call of
 *  the shared memory returned, is 0. Any thread. */
void must(const cluster_t *c, int rc);

/** Opens memory for @p pieces of ddsm_alloc, which are @p bytes together. */
ddsm_t *cluster_open(cluster_t *c, size_t bytes, size_t pieces);
/** ddsm_alloc, and memory of the rank's own, zeroed, for free(); both end the
 *  rank where there is none. */
void *cluster_alloc(cluster_t *c, size_t bytes, const ddsm_place_t *place);
void *cluster_private(const cluster_t *c, size_t count, size_t bytes);

/** ddsm_prefetch, unless --faults wants to see what it saves. */
void cluster_prefetch(const cluster_t *c, const void *start, size_t bytes,
                      bool writable);

/** Around what is measured: barriers of all ranks. */
void cluster_start(cluster_t *c);
void cluster_stop(cluster_t *c);
double cluster_seconds(void);

/** Now and then, with --delays, a pause of random length: it shakes the order
 *  in which ranks and threads do what they do. Any thread. */
void cluster_pause(const cluster_t *c);

/** A random number that depends on its arguments only, so that each rank can
 *  make any part of the input; and one from 0 to 1. */
uint64_t cluster_random(uint64_t seed, uint64_t index);
double cluster_uniform(uint64_t seed, uint64_t index);

/** Are so many elements of some bytes the same, bit by bit? If not, says where.
 */
bool cluster_same(const cluster_t *c, const char *what, const void *shared,
                  const void *alone, size_t count, size_t bytes);

#endif
