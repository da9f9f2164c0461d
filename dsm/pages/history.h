/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetching along what was used before. The program names the intervals between
 * barriers (ddsm_interval). Pages that faults fetch in an interval are fetched
 * at once when an interval of that name begins again; those that faults make
 * writable are made so, too.
 * An interval may have several names, from the most exact one to the least. If
 * it has one, that with its turn is more exact: how often the name has come in
 * the present loop. The most exact one that has been before tells what to
 * fetch. If it does not foretell well, more exact names of the program learn by
 * faults, as in a test, unless such names do not come back. Turns do not learn
 * so: once the name has been tested they take its pages for used, and are
 * tested in their second interval.
 *
 * Many programs swap two arrays in each step, so every second interval has a
 * history of its own.
 *
 * In the third interval of a name, where turns are told apart also in the
 * fourth, and then in one of LEARN_PERIOD, it is learnt which pages are used:
 * the pages that were fetched at its begin are held: they stay protected.
 * So the first access to each page faults, without a fetch, and shows that the
 * prediction was right. Pages that were not used are forgotten. So are pages
 * that were made writable and were not written. If most of them were not used,
 * intervals of that name differ: then there is a pause, longer each time.
 * When the lists of all names together are long, all of them are forgotten.
 */
#ifndef DSM_PAGES_HISTORY_H
#define DSM_PAGES_HISTORY_H

#include "dsm/base/space.h"

enum { LEARN_PERIOD = 16 };

/* A fault has fetched these pages, or has found that the page was held; or it
 * has made them writable. */
void history_record(ddsm_t *d, enum use use, size_t first, size_t count);
/* An interval ends, and one of these @names begins: DDSM_NAMES, of which some
 * are 0. Returns the pages to fetch now, and then to make writable; if
 * ddsm.learning is set, to hold, and not to make writable. NULL: none. */
const struct page_list *history_turn(ddsm_t *d, const uint64_t *names);
void history_close(ddsm_t *d);

#endif
