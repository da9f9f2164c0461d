/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs on shared memory, each a part of the test: how long they take beside
 * one rank alone, and how much of that is faults and synchronisation. */
#ifndef BENCH_DSM_PROGRAM_H
#define BENCH_DSM_PROGRAM_H

#include "part.h"

/** One rank's part of a run. */
typedef struct program_run {
    dsm_bed_t *bed;
    void *data; /**< what the program's open has made */
    bool prefetches, remembers;
    unsigned seed; /**< of what it begins with */
    uint64_t fault_ns, barrier_ns, lock_ns;
    uint64_t began_ns, faults_before; /**< of what is being computed */
} program_run_t;

struct dsm_program {
    /** What is computed, for people. */
    void (*describe)(const options_t *opts, char *text, size_t size);
    /** Of the shared memory that open allocates. */
    uint64_t (*bytes)(const options_t *opts, unsigned ranks, uint64_t page);
    /** Collective: a rank's data. NULL: out of memory, also of the shared one.
     */
    void *(*open)(dsm_bed_t *bed);
    void (*close)(void *data);
    /** Writes what the rank begins with, as one that is at its home. */
    void (*begin)(const program_run_t *run);
    /** The same seed leads to the same results. */
    int (*run)(program_run_t *run);
    /** Is the rank's part of the result that of one rank alone? */
    bool (*is_right)(const program_run_t *run, const void *solution);
    /** The result of one rank alone in memory of its own, to be freed, in so
     *  many nanoseconds. NULL: out of memory. */
    void *(*alone)(const options_t *opts, unsigned seed, uint64_t *ns);
    /** The same by the ranks' own way, which the speed-up is over; NULL: that
     *  of alone. */
    void *(*timed)(const options_t *opts, unsigned seed, uint64_t *ns);
    /** The operations that this takes. */
    double (*operations)(const options_t *opts);
};

/** That is to be measured; NULL: no program, or not to be. */
static inline const dsm_program_t *program_at(const options_t *opts,
                                              unsigned kind)
{
    return dsm_chosen(opts, (dsm_kind_t)kind) ? dsm_parts[kind]->program : NULL;
}

/** How a program gets the pages that it uses. */
enum {
    PROGRAM_FAULTS,   /**< each access to a missing page faults */
    PROGRAM_PREFETCH, /**< program_prefetch() fetches ranges before they are
                           used, and makes those writable that it will write */
    PROGRAM_HISTORY,  /**< ddsm_interval(): each interval begins with fetching
                           the pages that earlier ones of its name used */
};

/** As dsm_part_t has it, for these cases. */
int program_repeat(dsm_bed_t *bed, const dsm_part_t *part,
                   const dsm_case_t *what, uint64_t bytes, double *figures,
                   bool *wrong);

/** Measures of a dsm_part_t that is a program; @p count: 4, or 3 for
 * programs without locks. */
#define PROGRAM_MEASURES(count)                                                \
    .figures = {FIGURE_COMMUNICATION, FIGURE_FAULTS, FIGURE_BARRIERS,          \
                FIGURE_LOCKS},                                                 \
    .nfigures = (count), .gains = FIGURE_COMMUNICATION,                        \
    .cases = {{"faults", PROGRAM_FAULTS},                                      \
              {"prefetch", PROGRAM_PREFETCH},                                  \
              {"history", PROGRAM_HISTORY}},                                   \
    .ncases = 3, .repeat = program_repeat

/* The parts of a run; each is timed. */

/** Nothing, unless the run prefetches. */
int program_prefetch(program_run_t *run, const void *start, size_t bytes,
                     bool writable);
/** With PROGRAM_HISTORY the caller's place in the program names the interval
 * that begins. */
int program_barrier(program_run_t *run);
int program_lock(program_run_t *run, unsigned id);
int program_unlock(program_run_t *run, unsigned id);
/** Around what the rank computes with shared memory: faults in it are timed;
 *  so many operations take time where it is simulated. */
void program_enter(program_run_t *run);
void program_leave(program_run_t *run, double operations);

/** Whole pages. */
static inline uint64_t program_pages(uint64_t bytes, uint64_t page)
{
    return (bytes + page - 1) / page * page;
}

/** Numbers below 1 that differ from one to the next and from seed to seed, and
 *  are the same on all ranks. */
static inline double program_uniform(unsigned seed, uint64_t i)
{
    uint64_t z = ((uint64_t)seed << 56) + i + 1;
    z *= 0x9e3779b97f4a7c15u; /* splitmix64, S. Vigna */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

#endif
