/* SPDX-License-Identifier: BSD-3-Clause */
/* railinfo's output. */
#ifndef INFO_SHOW_H
#define INFO_SHOW_H

#include <stdbool.h>

#include "probe.h"

/** A line per rail that can be opened; with @p all, also one per other. */
void show_rails(const probe_t *probes, unsigned count, bool all);
/** Everything about one rail. */
void show_rail(const probe_t *probe);
void show_rails_json(const probe_t *probes, unsigned count);
/** Every setting: meaning, default and present value. */
void show_settings(void);
void show_settings_json(void);

#endif
