/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate that the links of several rails carry together. */
#ifndef BENCH_LINK_RATE_H
#define BENCH_LINK_RATE_H

#include "dapl_rail/dapl_rail.h"

/**
 * Highest rate in MB/s, per direction, of rails that work side by side: ports
 * and, where their rates are known, adapters and host buses count once (
 * Cai et al. 2009, eqs. 1 to 3). @return 0 if the rate of a port is not known.
 */
double link_rate(const drail_rail_info_t *rails, unsigned count);

#endif
