/* SPDX-License-Identifier: BSD-3-Clause */
/* Are the settings of a transport valid, and do they fit its rails and peers?
 */
#ifndef DRAIL_TRANSPORT_LIMITS_H
#define DRAIL_TRANSPORT_LIMITS_H

#include "dapl_rail/dapl_rail.h"

struct rail;

/* Each returns 0, or DRAIL_EINVAL or DRAIL_ENOTSUP with a sentence in err. */
int config_check(const drail_config_t *cfg, drail_error_t *err);
int choices_check(const drail_t *t, drail_engine_t engine, drail_team_t team,
                  drail_policy_t policy, unsigned fixed_rail,
                  drail_error_t *err);
int notify_by_check(const drail_t *t, drail_notify_by_t by, drail_error_t *err);
/* Depth and eager_bytes must not exceed what the IA offers. */
int rail_limits_check(const drail_t *t, const struct rail *rail,
                      drail_error_t *err);

/* Peers that the job can have: at least 1. */
unsigned peers_of(const drail_t *t);
/* The largest depth up to depth_asked that fits the rail with all peers. With
 * too many peers even DEPTH_MIN does not fit: then links are made until the
 * rail's EVD is full. */
unsigned depth_that_fits(const drail_t *t, const struct rail *rail);
/* Lowers the depth to this, if it is higher, and sets what follows from it. */
void depth_lower(drail_t *t, unsigned depth);

#endif
