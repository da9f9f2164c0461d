/* SPDX-License-Identifier: BSD-3-Clause */
/* What the provider of a link's EP reports of the wire below it. */
#ifndef DRAIL_LINKS_FAILOVER_HEALTH_H
#define DRAIL_LINKS_FAILOVER_HEALTH_H

#include "providers/core/ep_health.h"

struct link;

struct health link_health(const struct link *link);

#endif
