/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read-ahead: a fault that continues a sequence of faults takes pages along,
 * the more the longer the sequence is. Copies of arrays may go upwards or
 * downwards.
 */
#ifndef DSM_PAGES_READAHEAD_H
#define DSM_PAGES_READAHEAD_H

#include "dsm/base/space.h"

/* The sequence that a fault on @page continues, or a new one. Pages from @low
 * on, below @end, are the page and those that are likely to be used next. */
struct ahead *readahead_begin(const ddsm_t *d, struct streams *streams,
                              size_t page, size_t *low, size_t *end);
/* These have been taken. */
void readahead_end(struct ahead *ahead, size_t low, size_t end);
/* An interval begins: sequences do not go on across barriers. */
void readahead_forget(ddsm_t *d);

#endif
