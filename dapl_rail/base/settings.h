/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings by environment variables. */
#ifndef DRAIL_BASE_SETTINGS_H
#define DRAIL_BASE_SETTINGS_H

#include "dapl_rail/dapl_rail.h"

/* Settings that are the library's own affair and not in drail_config_t. */
struct tuning {
    unsigned spin_us;
    unsigned cache_regions;
    unsigned silence_ms;
    bool extensions;
};

/* Defaults and environment into both; the first malformed variable is told in
 * err (may be NULL) and leaves its default. */
int settings_load(drail_config_t *cfg, struct tuning *tuning,
                  drail_error_t *err);

#endif
