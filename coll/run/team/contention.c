/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/team/contention.h"

/* Of the time; interrupts and short visitors take the rest. */
#define WHOLE_CORE 0.75

bool contention_found(const struct drail_platform *p)
{
    const uint64_t begin = p->now_ns(p), used = p->cpu_ns(p);
    uint64_t now;
    do {
        p->yield(p);
        now = p->now_ns(p);
    } while (now - begin < CONTENTION_NS);
    return (double)(p->cpu_ns(p) - used) < WHOLE_CORE * (double)(now - begin);
}
