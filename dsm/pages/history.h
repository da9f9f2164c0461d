/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetching along what was used before. The program names the intervals between
 * barriers (ddsm_interval). Pages that faults fetch in an interval are fetched
 * at once when an interval of that name begins again.
 * Many programs swap two arrays in each step, so every second interval has a
 * history of its own.
 *
 * Every LEARN_PERIOD-th time the interval learns: pages that were fetched at
 * its begin are held, that is, they stay protected. So the first access of each
 * faults, without a fetch, and tells that the prediction was right. Pages that
 * were not used are forgotten.
 */
#ifndef DSM_PAGES_HISTORY_H
#define DSM_PAGES_HISTORY_H

#include "dsm/base/space.h"

enum { LEARN_PERIOD = 16 };

/* Faults have fetched these, or found one held. */
void history_record(ddsm_t *d, size_t first, size_t count);
/* An interval ends, and that of ddsm.next_name begins: what to fetch for it,
 * and only to hold if ddsm.learning says so; or NULL. */
const struct page_list *history_turn(ddsm_t *d);
void history_close(ddsm_t *d);

#endif
