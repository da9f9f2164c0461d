/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: taken by one rank alone, and by all ranks at once. */
#include "bench/clock.h"
#include "part.h"

#define TIMES   32     /* of each rank in a repeat */
#define HOLD_NS 10000u /* meanwhile others ask for the lock */

enum { OWN_HOME, REMOTE_HOME, CONTENDED, COUNTED };

static void hold(const dsm_bed_t *bed, uint64_t ns)
{
    uint64_t from = clock_ns();
    drail_job_compute(bed->job, ns); /* lets virtual time pass */
    while (!bed->opts->simulated && clock_ns() - from < ns)
        ;
}

static int take_turns(dsm_bed_t *bed, unsigned id, uint64_t hold_ns,
                      bool counts, double *us)
{
    uint64_t from = clock_ns();
    int rc = 0;
    for (unsigned i = 0; !rc && i < TIMES; i++) {
        rc = ddsm_lock(bed->space, id);
        if (rc)
            break;
        if (counts)
            ++*bed->counter;
        hold(bed, hold_ns);
        rc = ddsm_unlock(bed->space, id);
    }
    *us = (double)(clock_ns() - from) / (1e3 * TIMES);
    return rc;
}

/* All ranks at once. A turn is a hand-over and the time that the lock is held.
 * The time runs until all ranks have reached the barrier: a rank that has all
 * its turns before others ask has made no hand-over. */
static int contend(dsm_bed_t *bed, bool counts, double *us, bool *wrong)
{
    uint64_t before = *bed->counter;
    double own;
    int rc = ddsm_barrier(bed->space);
    uint64_t from = clock_ns();
    if (!rc)
        rc = take_turns(bed, 0, HOLD_NS, counts, &own);
    if (!rc)
        rc = ddsm_barrier(bed->space);
    *us = (double)(clock_ns() - from) / (1e3 * TIMES * bed->ranks) -
          HOLD_NS / 1e3;
    *wrong = *bed->counter != before + (counts ? TIMES * bed->ranks : 0);
    return rc;
}

/* Rank r is the home of lock r: homes of locks are the ranks in turn. */
static int repeat(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *f,
                  bool *wrong)
{
    int rc = 0;
    (void)part, (void)bytes;
    if (what->amount >= CONTENDED)
        rc = contend(bed, what->amount == COUNTED, &f[FIGURE_TIME], wrong);
    else if (dsm_is_client(bed))
        rc = take_turns(bed, what->amount == OWN_HOME ? bed->rank : 0, 0, false,
                        &f[FIGURE_TIME]);
    return rc ? rc : ddsm_barrier(bed->space);
}

const dsm_part_t dsm_lock = {
    .name = "lock",
    .kind = DSM_LOCK,
    .what = "lock and unlock by the last rank, alone, at home there or at rank "
            "0; handed over among all ranks that ask for it, also with a "
            "counter that each adds to",
    .cases = {{"own-home", OWN_HOME},
              {"remote-home", REMOTE_HOME},
              {"contended", CONTENDED},
              {"counter", COUNTED}},
    .ncases = 4,
    .gains = FIGURE_TIME,
    .repeat = repeat,
};
