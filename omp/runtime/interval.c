/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/interval.h"

#include <stdint.h>

#include "omp/runtime/memory.h"

enum { FEW = 2, MANY = 48 }; /* regions; a V cycle has some forty */

static struct {
    uintptr_t function[MANY]; /* a ring of the latest regions */
    unsigned regions;
    uint64_t few, many; /* hashes of that many of them */
    uint64_t barriers;  /* of the present one, until now */
} course;

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

/* Of the present region and those before it. */
static uint64_t hash_regions(unsigned count)
{
    uint64_t hash = count;
    for (unsigned i = 1; i <= count; i++)
        hash = mix(hash, course.function[(course.regions - i) % MANY]);
    return hash;
}

static void begin(uint64_t site)
{
    const uint64_t place = mix(course.barriers, site);
    const uint64_t names[DDSM_NAMES] = {mix(course.many, place) | 1,
                                        mix(course.few, place) | 1,
                                        mix(hash_regions(1), site) | 1};
    memory_interval(names);
}

void interval_begin_region(void (*function)(void *))
{
    if (!memory_is_copied())
        return;
    course.function[course.regions++ % MANY] = (uintptr_t)function;
    course.few = hash_regions(FEW);
    course.many = hash_regions(MANY);
    course.barriers = 0;
    begin(0);
}

void interval_begin(const void *site)
{
    if (!memory_is_copied())
        return;
    course.barriers++;
    begin((uintptr_t)site + 1);
}
