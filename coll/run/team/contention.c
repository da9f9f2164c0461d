/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/team/contention.h"

/* Of the time; interrupts and short visitors take the rest. */
#define WHOLE_CORE 0.75

static bool is_shared_for(const struct drail_platform *p, uint64_t ns)
{
    const uint64_t begin = p->now_ns(p), used = p->cpu_ns(p);
    uint64_t now;
    do {
        p->yield(p);
        now = p->now_ns(p);
    } while (now - begin < ns);
    return (double)(p->cpu_ns(p) - used) < WHOLE_CORE * (double)(now - begin);
}

bool contention_found(const struct drail_platform *p)
{
    unsigned shared = 0;
    for (unsigned i = 0; i < CONTENTION_LOOKS; i++)
        shared += is_shared_for(p, CONTENTION_LOOK_NS);
    return 2 * shared > CONTENTION_LOOKS;
}
