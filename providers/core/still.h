/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that a connection may take does not count while this process, or all
 * of the machine, stands still: the peer could not answer, or what it said is
 * still to be read. Threads that mind such deadlines look again this soon; who
 * comes later than that by as much again has stood still.
 */
#ifndef PROVIDERS_CORE_STILL_H
#define PROVIDERS_CORE_STILL_H

#include <stdint.h>

#define CORE_LOOK_NS 100000000u

/* What does not count, of the time since they meant to look; 0: they have not
 * looked before. */
static inline uint64_t core_stood_still(uint64_t look_ns, uint64_t now_ns)
{
    uint64_t late = look_ns && now_ns > look_ns ? now_ns - look_ns : 0;
    return late > CORE_LOOK_NS ? late - CORE_LOOK_NS : 0;
}

#endif
