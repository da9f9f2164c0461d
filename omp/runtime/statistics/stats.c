/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/statistics/stats.h"

#include <math.h>
#include <stdio.h>

#include "omp/runtime/memory.h"
#include "omp/runtime/statistics/regions.h"
#include "omp/runtime/team.h"

/* Of one rank; all members have 8 bytes. */
union line {
    struct {
        struct counts team;
        ddsm_stats_t memory;
    };
    uint64_t values[(sizeof(struct counts) + sizeof(ddsm_stats_t)) /
                    sizeof(uint64_t)];
};

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* In per cent. */
static void print_share(double share)
{
    if (isnan(share))
        fprintf(stderr, "%11s", "-");
    else
        fprintf(stderr, "%10.0f%%", share);
}

static void print_titles(void)
{
    fprintf(stderr,
            "railomp: rank  regions barriers barrier_ms read_faults "
            "write_faults  fault_ms  ahead_ms    locks  lock_ms     pages "
            "fetched_bytes  put_bytes efficiency   coverage memory\n");
}

static void print_line(unsigned rank, const union line *l)
{
    const ddsm_stats_t *m = &l->memory;
    fprintf(
        stderr,
        "railomp: %4u %8llu %8llu %10.3f %11llu %12llu %9.3f %9.3f %8llu %8.3f "
        "%9llu %13llu %10llu",
        rank, (unsigned long long)l->team.regions,
        (unsigned long long)l->team.barriers, ms(m->barrier_ns),
        (unsigned long long)m->read_faults, (unsigned long long)m->write_faults,
        ms(m->fault_ns), ms(m->ahead_ns), (unsigned long long)m->locks,
        ms(m->lock_ns), (unsigned long long)m->fetched_pages,
        (unsigned long long)(m->fetched_pages * memory_page_bytes()),
        (unsigned long long)(m->diff_bytes + m->packed_bytes));
    print_share(ddsm_efficiency(m));
    print_share(ddsm_coverage(m));
    fprintf(stderr, " %s\n", memory_kind());
}

void stats_print(void)
{
    union line mine = {.team = team_counts()};
    if (!settings.stats)
        return;
    memory_stats(&mine.memory);
    if (memory_rank() == 0)
        print_titles();
    /* one rank after the other: the others add zeros */
    for (unsigned r = 0; r < memory_ranks(); r++) {
        union line line = r == memory_rank() ? mine : (union line){0};
        memory_sum(line.values, sizeof line / sizeof *line.values);
        if (memory_rank() == 0)
            print_line(r, &line);
    }
    regions_print();
}
