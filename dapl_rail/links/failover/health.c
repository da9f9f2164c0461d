/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/health.h"

#include "dapl_rail/links/link.h"

struct health link_health(const struct link *link)
{
    return ep_health(link->ep.handle);
}
