/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates, smoothed exponentially. */
#include "dapl_rail/stripe/rates.h"

/* Weight of the latest measurement: 20 messages after a change of rate, 0.3 %
 * of the old one are left. */
#define SMOOTHING 0.25

/* Completions that are found together have one time for all of them, which
 * the first of them seems to have taken. */
void rates_measure(struct rates *rates, unsigned slot, uint64_t bytes,
                   uint64_t ns)
{
    double *rate = &rates->rate[slot];
    struct burst *burst = &rates->burst;
    if (burst->slot != slot || (double)ns * *rate > (double)bytes / 4)
        *burst = (struct burst){
            .slot = slot, .before = *rate, .keep = *rate > 0 ? 1 : 0};
    burst->bytes += (double)bytes;
    burst->ns += (double)ns;
    burst->keep *= 1 - SMOOTHING;
    if (burst->ns <= 0)
        return;
    double now = burst->bytes / burst->ns;
    *rate = now + burst->keep * (burst->before - now);
}
