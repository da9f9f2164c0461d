/* SPDX-License-Identifier: BSD-3-Clause */
#include "units.h"

const char *unit_name(unit_t unit)
{
    return (const char *const[]){UNIT_NAMES}[unit];
}

double unit_Gbps(double MBps)
{
    return MBps * 8 / 1000;
}

/* Messages per microsecond: 10^6 per second. */
static summary_t rate(summary_t us, double directions)
{
    summary_t r = us;
    r.median = directions / us.median;
    r.lo = directions / us.hi;
    r.hi = directions / us.lo;
    return r;
}

summary_t unit_figure(unit_t unit, const result_t *r, const figures_t *f)
{
    summary_t s = f->bandwidth;
    if (unit == UNIT_MMSGS)
        return rate(f->latency[0].us, r->test->loops[0]->directions);
    if (unit == UNIT_GBPS) {
        s.median = unit_Gbps(s.median);
        s.lo = unit_Gbps(s.lo);
        s.hi = unit_Gbps(s.hi);
    }
    return s;
}
