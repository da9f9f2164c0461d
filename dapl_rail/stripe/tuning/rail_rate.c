/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates, smoothed exponentially, and what is under way. */
#include "dapl_rail/stripe/tuning/rail_rate.h"

/* Weight of the latest measurement: 20 messages after a change of rate, 0.3 %
 * of the old one are left. */
#define SMOOTHING 0.25
#define FORGOTTEN 0.001 /* so little of the old one is nothing */
/* In a stream it is known only by when completions were found where one part
 * ends and the next begins: it takes so long to be a measurement. */
#define MEASURE_NS 4e6

/* Completions that are found together have one time for all of them, which
 * the first of them seems to have taken. */
static bool goes_on(const struct rates *rates, unsigned slot, uint64_t bytes,
                    uint64_t ns, bool idle)
{
    const struct burst *burst = &rates->burst;
    return burst->slot == slot && !idle &&
           (burst->ns < MEASURE_NS ||
            (double)ns * rates->rate[slot] <= (double)bytes / 4);
}

void rates_measure(struct rates *rates, unsigned slot, unsigned messages,
                   uint64_t bytes, uint64_t ns, bool idle)
{
    double *rate = &rates->rate[slot];
    struct burst *burst = &rates->burst;
    if (!goes_on(rates, slot, bytes, ns, idle)) {
        /* the rate of what went before is better than none */
        double known = *rate > 0 || idle ? *rate : rates->rate[burst->slot];
        *burst = (struct burst){.slot = slot,
                                .idle = idle,
                                .before = known,
                                .keep = known > 0 ? 1 : 0};
    }
    burst->bytes += (double)bytes;
    burst->ns += (double)ns;
    while (messages-- && burst->keep > FORGOTTEN)
        burst->keep *= 1 - SMOOTHING;
    if (burst->ns <= 0)
        return;
    double now = burst->bytes / burst->ns, keep = burst->keep;
    if (!burst->idle && burst->before > 0 && keep < 1 - burst->ns / MEASURE_NS)
        keep = 1 - burst->ns / MEASURE_NS;
    *rate = now + keep * (burst->before - now);
}

double rates_backlog(const struct rates *rates, double rate, uint64_t now)
{
    double left = (double)(rates->given - rates->done);
    double served = now > rates->served_from
                        ? rate * (double)(now - rates->served_from)
                        : 0;
    return left > served ? left - served : 0;
}
