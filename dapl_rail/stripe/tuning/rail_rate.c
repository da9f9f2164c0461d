/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/stripe/tuning/rail_rate.h"

/* Weight of the latest measurement: 20 messages after a change of rate, 0.3 %
 * of the old one are left. */
#define SMOOTHING 0.25
#define FORGOTTEN 0.001 /* a smaller weight of the old rate is ignored */
/* In a stream, only the times of completions tell where one part ends and the
 * next begins. Shorter bursts than this are no measurement. */
#define MEASURE_NS 4e6

/* Is the part one more of the burst? Completions that are found together have
 * the same time: the first seems to have taken all of it, the others none. */
static bool goes_on(const struct rail_rate *rates, unsigned slot,
                    uint64_t bytes, uint64_t ns, bool idle)
{
    const struct burst *burst = &rates->burst;
    return burst->slot == slot && !idle &&
           (burst->ns < MEASURE_NS ||
            (double)ns * rates->rate[slot] <= (double)bytes / 4);
}

void rail_rate_measure(struct rail_rate *rates, unsigned slot,
                       unsigned messages, uint64_t bytes, uint64_t ns,
                       bool idle)
{
    double *rate = &rates->rate[slot];
    struct burst *burst = &rates->burst;
    if (!goes_on(rates, slot, bytes, ns, idle)) {
        /* the rate of another slot is better than none */
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

double rail_rate_backlog(const struct rail_rate *rates, double rate,
                         uint64_t now)
{
    double left = (double)(rates->given - rates->done);
    double served = now > rates->served_from
                        ? rate * (double)(now - rates->served_from)
                        : 0;
    return left > served ? left - served : 0;
}
