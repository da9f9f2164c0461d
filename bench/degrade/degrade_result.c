/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "degrade_result.h"

damage_t degrade_damage(const degrade_run_t *run)
{
    const tally_t *from = &run->rank[0], *to = &run->rank[1];
    uint64_t seen = to->messages + to->losses;
    uint64_t sure = from->messages;
    return (damage_t){
        .duplicates = from->duplicates + to->duplicates,
        .losses = to->losses + (sure > seen ? sure - seen : 0),
        .wrong = to->wrong,
    };
}

double degrade_rate(const degrade_run_t *run)
{
    const tally_t *to = &run->rank[1];
    return run->rank[0].ns ? (double)to->messages * (double)run->bytes * 1e3 /
                                 (double)run->rank[0].ns
                           : NAN;
}

uint64_t degrade_retries(const degrade_run_t *run, unsigned nrails)
{
    uint64_t retries = 0;
    for (unsigned r = 0; r < nrails; r++)
        retries +=
            run->rank[0].rails[r].retries + run->rank[1].rails[r].retries;
    return retries;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

drail_rail_stats_t degrade_rail(const degrade_run_t *run, unsigned rail)
{
    drail_rail_stats_t stats = run->rank[0].rails[rail];
    const drail_rail_stats_t *other = &run->rank[1].rails[rail];
    stats.failures = longer(stats.failures, other->failures);
    stats.retries += other->retries;
    stats.carried += other->carried;
    stats.carried_bytes += other->carried_bytes;
    stats.lost_ns = longer(stats.lost_ns, other->lost_ns);
    stats.down_ns = longer(stats.down_ns, other->down_ns);
    return stats;
}

bool degrade_shows_nothing(const degrade_run_t *run)
{
    double best = 0;
    for (unsigned r = 0; r < run->capacity.nrails; r++)
        best = fmax(best, run->capacity.rail[r]);
    return run->capacity.nrails > 1 && best > RECOVERED * run->capacity.all;
}
