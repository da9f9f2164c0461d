/* SPDX-License-Identifier: BSD-3-Clause */
/* Polling before a sleep. */
#include <sched.h>

#include "dapl_rail/base/clock.h"
#include "dapl_rail/engine/spin.h"

#define CHECK_TURNS 16u   /* turns between looks at the clock */
#define PAUSE_NS    3000u /* a cache line's way and a short handler */

bool spin_more(struct spin *s)
{
    cpu_relax();
    if (++s->turns % CHECK_TURNS)
        return true;
    uint64_t now = now_ns();
    if (!s->start_ns)
        s->start_ns = now;
    if (now - s->start_ns >= s->us * 1000ull)
        return false;
    if (now - s->start_ns >= PAUSE_NS) {
        sched_yield();
        s->turns = CHECK_TURNS - 1;
    }
    return true;
}

void spin_end(struct spin *s)
{
    if (!s->start_ns)
        return;
    if (now_ns() - s->start_ns < s->max_us * 2000ull)
        s->us = s->max_us;
    else
        s->us /= 2;
}
