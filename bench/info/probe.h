/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks IAs for their attributes, each in a child process of its own: a
 * provider that hangs or crashes then harms nobody, and what it writes becomes
 * the reason why the IA does not open.
 */
#ifndef INFO_PROBE_H
#define INFO_PROBE_H

#include "dapl_rail/dapl_rail.h"

typedef struct probe {
    char name[DRAIL_NAME_MAX];
    int rc; /**< 0: info is valid */
    drail_rail_info_t info;
    drail_error_t error; /**< why not */
} probe_t;

/** Makes probes of all IAs that the registry lists; NULL: see @p rc. Free
 *  with probe_free. */
probe_t *probe_list(unsigned *count, int *rc);
/** Makes probes of a bond's members; NULL: @p probe is of no bond, or there is
 *  no memory. Free with probe_free. */
probe_t *probe_members(const probe_t *probe, unsigned *count);
void probe_free(probe_t *probes, unsigned count);

/** Fills in @p count probes, several at a time, each in a bounded time. */
void probe_run(probe_t *probes, unsigned count);

#endif
