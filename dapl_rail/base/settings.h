/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from environment variables. */
#ifndef DRAIL_BASE_SETTINGS_H
#define DRAIL_BASE_SETTINGS_H

#include "dapl_rail/dapl_rail.h"

/* Settings that only the environment has: they are not in drail_config_t. */
struct env_settings {
    unsigned spin_us;
    unsigned cache_regions;
    unsigned silence_ms;
    bool extensions;
};

/* Sets both (may be NULL) to defaults and environment. A malformed variable
 * leaves its default; the first one is an error with a sentence in err. */
int settings_load(drail_config_t *cfg, struct env_settings *env,
                  drail_error_t *err);

#endif
