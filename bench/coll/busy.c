/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"
#include "busy.h"

#define ROUNDS_FIRST 1000
#define TIMED_NS     UINT64_C(200000) /* is long beside a look at the clock */
#define TRIALS       10

/* Each round depends on the one before, so the processor can neither overlap
 * rounds nor omit them. */
static void __attribute__((noinline)) compute(busy_t *busy, uint64_t rounds)
{
    double last = busy->values[0];
    for (uint64_t i = 0; i < rounds; i++) {
        double *value = &busy->values[i % BUSY_VALUES];
        last = 0.5 * last + 0.5 * *value;
        *value = last;
    }
}

static uint64_t timed(busy_t *busy, uint64_t rounds)
{
    uint64_t from = clock_ns();
    compute(busy, rounds);
    return clock_ns() - from;
}

/* Takes the fastest of several trials: nothing has interrupted it. */
void busy_calibrate(busy_t *busy, drail_job_t *job)
{
    uint64_t rounds = ROUNDS_FIRST, best = UINT64_MAX;
    *busy = (busy_t){.job = job};
    if (clock_elsewhere)
        return;
    for (unsigned i = 0; i < BUSY_VALUES; i++)
        busy->values[i] = 1 + i;
    while (timed(busy, rounds) < TIMED_NS)
        rounds *= 2;
    for (unsigned i = 0; i < TRIALS; i++) {
        uint64_t ns = timed(busy, rounds);
        best = ns < best ? ns : best;
    }
    busy->rounds_per_ns = (double)rounds / (double)(best ? best : 1);
}

void busy_for(busy_t *busy, uint64_t ns)
{
    if (clock_elsewhere)
        drail_job_compute(busy->job, ns);
    else
        compute(busy, (uint64_t)(busy->rounds_per_ns * (double)ns));
}
