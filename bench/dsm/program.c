/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include "bench/clock.h"

int program_prefetch(program_run_t *r, const void *start, size_t bytes,
                     bool writable)
{
    if (!r->prefetches || !bytes)
        return 0;
    uint64_t from = clock_ns();
    int rc = ddsm_prefetch(r->bed->space, start, bytes, writable);
    r->fault_ns += clock_ns() - from;
    return rc;
}

int program_barrier(program_run_t *r)
{
    uint64_t from = clock_ns();
    /* The distance to the caller, as addresses differ from launch to launch:
     * simulated times must not. */
    if (r->remembers)
        ddsm_interval(r->bed->space, (uintptr_t)__builtin_return_address(0) -
                                         (uintptr_t)program_barrier);
    int rc = ddsm_barrier(r->bed->space);
    r->barrier_ns += clock_ns() - from;
    return rc;
}

int program_lock(program_run_t *r, unsigned id)
{
    uint64_t from = clock_ns();
    int rc = ddsm_lock(r->bed->space, id);
    r->lock_ns += clock_ns() - from;
    return rc;
}

int program_unlock(program_run_t *r, unsigned id)
{
    uint64_t from = clock_ns();
    int rc = ddsm_unlock(r->bed->space, id);
    r->lock_ns += clock_ns() - from;
    return rc;
}

/* Simulated: computing takes no virtual time, so the time that passes is that
 * of faults. Otherwise the library's statistics tell. */
static uint64_t faults_until_now(const program_run_t *r)
{
    ddsm_stats_t stats;
    if (r->bed->opts->simulated)
        return clock_ns() - r->began_ns;
    ddsm_stats(r->bed->space, &stats);
    return stats.fault_ns;
}

void program_enter(program_run_t *r)
{
    r->began_ns = clock_ns();
    r->faults_before = faults_until_now(r);
}

void program_leave(program_run_t *r, double operations)
{
    r->fault_ns += faults_until_now(r) - r->faults_before;
    drail_job_compute(r->bed->job,
                      (uint64_t)(operations / r->bed->opts->dsm.rate * 1e9));
}

static void count_foreseen(dsm_bed_t *bed, ddsm_stats_t *sum,
                           const ddsm_stats_t *before)
{
    ddsm_stats_t now;
    ddsm_stats(bed->space, &now);
    sum->predicted += now.predicted - before->predicted;
    sum->predicted_used += now.predicted_used - before->predicted_used;
    sum->unpredicted += now.unpredicted - before->unpredicted;
}

int program_repeat(dsm_bed_t *bed, const dsm_part_t *part,
                   const dsm_case_t *what, uint64_t bytes, double *f,
                   bool *wrong)
{
    const dsm_program_t *p = part->program;
    program_run_t r = {.bed = bed,
                       .data = bed->programs[part->kind],
                       .prefetches = what->amount == PROGRAM_PREFETCH,
                       .remembers = what->amount == PROGRAM_HISTORY,
                       .seed = (unsigned)(++bed->stamp % DSM_SEEDS)};
    ddsm_stats_t before;
    (void)bytes;
    ddsm_stats(bed->space, &before);
    p->begin(&r);
    int rc = ddsm_barrier(bed->space);
    uint64_t start = clock_ns();
    if (!rc)
        rc = p->run(&r);
    if (rc)
        return rc;
    f[FIGURE_TIME] = (double)(clock_ns() - start) / 1e3;
    ddsm_interval(bed->space, 0);
    f[FIGURE_FAULTS] = (double)r.fault_ns / 1e3;
    f[FIGURE_BARRIERS] = (double)r.barrier_ns / 1e3;
    f[FIGURE_LOCKS] = (double)r.lock_ns / 1e3;
    f[FIGURE_COMMUNICATION] =
        f[FIGURE_FAULTS] + f[FIGURE_BARRIERS] + f[FIGURE_LOCKS];
    if (r.remembers)
        count_foreseen(bed, &bed->foreseen[part->kind], &before);
    *wrong = !p->is_right(&r, bed->solutions[part->kind][r.seed]);
    return ddsm_barrier(bed->space);
}
