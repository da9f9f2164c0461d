/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"
#include "stopping.h"

#define LEAST 6 /* fewer give no 95 % interval of the median */

#define CERTAIN_LEAST 2 /* repeats, to be alike */
#define CERTAIN_MOST  5

typedef summary_t (*figure_t)(const void *measured, unsigned i);

static bool repeats_alike(unsigned figures, figure_t figure,
                          const void *measured)
{
    for (unsigned i = 0; i < figures; i++) {
        summary_t s = figure(measured, i);
        if (!stats_alike(&s))
            return false;
    }
    return true;
}

bool stopping_enough(const stopping_t *rule, unsigned repeats, unsigned figures,
                     figure_t figure, const void *measured)
{
    if (rule->repeat)
        return repeats >= rule->repeat;
    if (rule->certain)
        return repeats >= CERTAIN_MOST ||
               (repeats >= CERTAIN_LEAST &&
                repeats_alike(figures, figure, measured));
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
