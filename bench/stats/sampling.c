/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bench/clock.h"
#include "sampling.h"

#define REPEAT_NS      1e7 /* time that a repeat should take */
#define MAX_ITERATIONS 100000

#define CERTAIN_LEAST 2 /* repeats, to be alike */
#define CERTAIN_MOST  5

/* Numbers of repeats at which it may end; 7 values or fewer have no interval
 * of SAMPLING_LOOK. */
static const unsigned looks[] = {8, 12, 18, 27, 40, 60, 90, 135, SAMPLING_MOST};

unsigned sampling_look(unsigned repeats)
{
    unsigned i = 0;
    while (looks[i] <= repeats && looks[i] < SAMPLING_MOST)
        i++;
    return looks[i];
}

static bool is_look(unsigned repeats)
{
    return sampling_look(repeats - 1) == repeats;
}

void sampling_begin(sampling_t *rule)
{
    rule->end_ns = clock_ns() + (uint64_t)(rule->seconds * 1e9);
    sampling_part(rule, 1);
}

void sampling_part(sampling_t *rule, unsigned left)
{
    uint64_t now = clock_ns();
    uint64_t rest = rule->end_ns > now ? rule->end_ns - now : 0;
    rule->from_ns = now;
    rule->until_ns = now + rest / left;
}

/* Would the next look come too late? */
static bool out_of_time(const sampling_t *rule, unsigned repeats)
{
    uint64_t now = clock_ns();
    double each = (double)(now - rule->from_ns) / repeats;
    double next = each * (sampling_look(repeats) - repeats);
    return now >= rule->until_ns || next > (double)(rule->until_ns - now);
}

/* Would the next repeat end too late? */
static bool out_of_strict_time(const sampling_t *rule, unsigned repeats)
{
    uint64_t now = clock_ns();
    return now + (now - rule->from_ns) / repeats > rule->until_ns;
}

static bool repeats_alike(const sampled_t *sampled)
{
    for (unsigned i = 0; i < sampled->figures; i++) {
        summary_t s = sampled->figure(sampled->of, i);
        if (!stats_alike(&s))
            return false;
    }
    return true;
}

static bool precise(const sampling_t *rule, const sampled_t *sampled)
{
    for (unsigned i = 0; i < sampled->figures; i++) {
        summary_t summary = sampled->figure(sampled->of, i);
        if (!(stats_precision(&summary) <= rule->precision))
            return false;
    }
    return true;
}

bool sampling_enough(const sampling_t *rule, unsigned repeats,
                     const sampled_t *sampled)
{
    if (rule->repeat)
        return repeats >= rule->repeat;
    if (rule->certain)
        return repeats >= CERTAIN_MOST ||
               (repeats >= CERTAIN_LEAST && repeats_alike(sampled));
    if (repeats >= SAMPLING_MOST ||
        (rule->strict && out_of_strict_time(rule, repeats)))
        return true;
    return is_look(repeats) &&
           (out_of_time(rule, repeats) || precise(rule, sampled));
}

int sampling_run(const sampling_t *rule, const sampled_t *sampled)
{
    bool enough = false;
    int rc = 0;
    for (unsigned round = 0; !rc && !enough; round++) {
        for (unsigned i = 0; !rc && i < sampled->count; i++)
            rc = sampled->repeat(sampled->of, (round + i) % sampled->count);
        if (rc)
            break;
        enough = !sampled->follows && sampling_enough(rule, round + 1, sampled);
        if (sampled->agree)
            rc = sampled->agree(sampled->of, &enough);
    }
    return rc;
}

summary_t sampling_summary(const sampling_t *rule, double *values, unsigned n)
{
    if (rule->repeat && !rule->certain)
        return stats_summary(values, n);
    if (rule->certain)
        return stats_certain(stats_summary(values, n));
    summary_t summary = stats_summary_within(values, n, SAMPLING_LOOK);
    summary.coverage = fmin(summary.coverage, SAMPLING_COVERAGE);
    return summary;
}

double sampling_p(const sampling_t *rule, double p)
{
    if (rule->repeat || rule->certain)
        return p;
    return fmin(1, p * (sizeof looks / sizeof *looks));
}

uint64_t sampling_iterations(uint64_t iterations, uint64_t ns)
{
    return sampling_iterations_in(iterations, ns, REPEAT_NS);
}

uint64_t sampling_iterations_in(uint64_t iterations, uint64_t ns,
                                double repeat_ns)
{
    double count = repeat_ns * (double)iterations / (double)(ns ? ns : 1);
    return count < 1                ? 1
           : count > MAX_ITERATIONS ? MAX_ITERATIONS
                                    : (uint64_t)count;
}
