/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hot pages. A program that has a lock for each element of an array writes a
 * page, releases, and writes it again, thousands of times between two barriers.
 * If each release protected the page, each write would be a fault. So a page
 * that is written again after a release of the same interval is hot: further
 * releases leave it writable and send what differs from its twin. Each other
 * flush protects it, too: a page that is to be invalidated is never writable.
 *
 * The twin takes a change before it is sent. So what other threads write
 * meanwhile differs from the twin, and the next release sends it.
 *
 * At its home a hot page is announced by each release: another rank may have
 * fetched what the home has taken back since, which no twin shows.
 */
#ifndef DSM_PAGES_HOT_H
#define DSM_PAGES_HOT_H

#include "dsm/base/space.h"

/* A page is about to become writable: is it hot? */
void hot_begin(ddsm_t *d, size_t page);
/* Takes pages that stay writable out of ddsm.dirty, to ddsm.hot … */
void hot_take_out(ddsm_t *d);
/* … and back. */
void hot_put_back(ddsm_t *d);
/* A release has found so many pieces of the page changed. It stays writable for
 * a few releases without a change; and not after one with many, as these had
 * better be packed (pack.h). */
void hot_count(ddsm_t *d, size_t page, unsigned pieces);

#endif
