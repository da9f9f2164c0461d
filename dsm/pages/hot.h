/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hot pages. A program that has a lock for each element of an array writes a
 * page, releases, and writes it again, thousands of times between two barriers.
 * If each release protected the page, each write would be a fault. So a page
 * that is written again after a release of the same interval is hot: further
 * releases leave it writable and send what differs from its twin. All other
 * flushes protect hot pages as they do any dirty page. An acquire protects
 * those that it is about to invalidate.
 *
 * The twin takes a change before it is sent. So what other threads write
 * meanwhile differs from the twin, and the next release sends it.
 *
 * At its home a page has no twin, and each release announces a hot one, whether
 * it has been written or not. After a few releases it is protected again. A
 * twin could not tell: the home writes 1, another rank fetches the page, and
 * the home writes 0 again.
 */
#ifndef DSM_PAGES_HOT_H
#define DSM_PAGES_HOT_H

#include "dsm/base/space.h"

/* A page is about to become writable: decides whether it is hot. */
void hot_begin(ddsm_t *d, size_t page);
/* Takes pages that stay writable out of ddsm.dirty, to ddsm.hot … */
void hot_take_out(ddsm_t *d);
/* … and back. */
void hot_put_back(ddsm_t *d);
/* A release has found so many pieces of the page changed; at its home: 0. It
 * stays writable for a few releases without a change; and not after one with
 * many pieces, as these had better be packed (pack.h). */
void hot_count(ddsm_t *d, size_t page, unsigned pieces);

#endif
