/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"
#include "stopping.h"

#define LEAST 6 /* fewer give no 95 % interval of the median */

bool stopping_enough(const stopping_t *rule, unsigned repeats, unsigned figures,
                     summary_t (*figure)(const void *measured, unsigned i),
                     const void *measured)
{
    if (rule->repeat)
        return repeats >= rule->repeat;
    if (repeats < LEAST)
        return false;
    if (repeats >= STOPPING_MOST || clock_ns() >= rule->until_ns)
        return true;
    for (unsigned i = 0; i < figures; i++) {
        summary_t summary = figure(measured, i);
        if (!(stats_precision(&summary) <= rule->precision))
            return false;
    }
    return true;
}
