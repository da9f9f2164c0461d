/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetching along what was used under a lock before. What other holders of the
 * lock have written is invalid when this rank takes the lock, so it cannot be
 * fetched at the begin of the interval. Pages that faults fetch while this rank
 * holds a lock are therefore not recorded for the interval (history.h), but
 * for the lock: when this rank takes the lock again, it fetches those that are
 * invalid at once. If an interval begins while the lock is held, faults count
 * for the interval from then on.
 *
 * The first time that a lock has such pages, and then one time in
 * LEARN_PERIOD, is a test, as in history.h: the pages are held, so that
 * faults show which of them are used, and the others are forgotten. If most
 * were not used there is a pause, longer each time. When the lists of all locks
 * together are long, those of other locks are forgotten.
 */
#ifndef DSM_PAGES_LOCK_HISTORY_H
#define DSM_PAGES_LOCK_HISTORY_H

#include "dsm/base/space.h"

/* This rank has taken a lock that another one may have held since, and
 * invalidated what its holders have written.
 * Returns the pages to fetch before anything else; if ddsm.under_tests is set,
 * to hold. */
struct page_list lock_history_begin(ddsm_t *d, struct lock_past *past);
/* From now on faults do not count for the lock that they count for. */
void lock_history_leave(ddsm_t *d);
/* This rank is about to give the lock back. */
void lock_history_end(ddsm_t *d, struct lock_past *past);
/* A fault has fetched these pages, or has found that they were held.
 * ddsm.under is set. Does not allocate: a fault may interrupt the allocator. */
void lock_history_record(ddsm_t *d, size_t first, size_t count, bool held);
void lock_history_close(ddsm_t *d);

#endif
