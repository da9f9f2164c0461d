/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of Fortran, which libgfortran has in the rank that opens them, also by
 * the first use of a unit that no one has opened. In another rank the same
 * number would be another file, fort.10 for example. So what uses it there is
 * refused.
 */
#include <stdbool.h>
#include <stdint.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

enum { UNITS = sizeof shared_words->units.of / sizeof *shared_words->units.of };

/* The unit's place if that rank has opened it; NULL: it has not. */
static struct shared_unit *find(int32_t unit, bool is_mine)
{
    struct shared_units *all = &shared_words->units;
    for (unsigned i = 0; i < UNITS && i < all->count; i++)
        if (all->of[i].unit == unit && all->of[i].is_open &&
            (all->of[i].rank == memory_rank()) == is_mine)
            return &all->of[i];
    return NULL;
}

static struct shared_unit *free_place(struct shared_units *all)
{
    for (unsigned i = 0; i < all->count; i++)
        if (!all->of[i].is_open)
            return &all->of[i];
    return all->count < UNITS ? &all->of[all->count++] : NULL;
}

/* Units beyond the places there are may be used anywhere. */
void railomp_unit_opened(int32_t unit)
{
    struct shared_units *all = &shared_words->units;
    if (memory_ranks() == 1)
        return;
    memory_lock(&all->lock);
    struct shared_unit *place = find(unit, true) ? NULL : free_place(all);
    if (place)
        *place = (struct shared_unit){unit, memory_rank(), true};
    memory_unlock(&all->lock);
}

void railomp_unit_closed(int32_t unit)
{
    struct shared_units *all = &shared_words->units;
    if (memory_ranks() == 1)
        return;
    memory_lock(&all->lock);
    struct shared_unit *place = find(unit, true);
    if (place)
        place->is_open = false;
    memory_unlock(&all->lock);
}

/* Each rank has standard input, output and error; negative ones are of
 * newunit=, or of libgfortran itself. */
static bool opens_at_use(int32_t unit)
{
    return unit > 0 && unit != 5 && unit != 6;
}

void railomp_unit_used(int32_t unit)
{
    if (memory_ranks() == 1 || find(unit, true))
        return;
    const struct shared_unit *other = find(unit, false);
    if (other)
        fail(NOT_SERVED,
             "unit %d is not served in this rank: rank %u has opened it, and "
             "only its threads can use it",
             unit, other->rank);
    if (opens_at_use(unit))
        railomp_unit_opened(unit);
}
