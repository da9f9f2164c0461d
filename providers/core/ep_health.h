/* SPDX-License-Identifier: BSD-3-Clause */
/* What the provider of an EP reports of the wire below it, if it does. Inline:
 * a provider above other providers asks the same. */
#ifndef DAPL_CORE_EP_HEALTH_H
#define DAPL_CORE_EP_HEALTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "providers/core/extensions.h"

/* The peer's system acknowledges also while the peer is stopped. */
struct health {
    bool reported;      /* else the rest is 0 */
    uint64_t silent_ms; /* the system owes an acknowledgement and has been
                           silent for so long; 0: it owes none */
    uint64_t answer_ms; /* an acknowledgement takes so long */
    uint64_t bytes;     /* that have passed, in both directions */
};

static inline const char *ep_attribute(const DAT_EP_ATTR *attr,
                                       const char *name)
{
    return dapl_attribute(attr->ep_provider_specific,
                          attr->ep_provider_specific_count, name);
}

static inline uint64_t ep_number(const DAT_EP_ATTR *attr, const char *name)
{
    const char *text = ep_attribute(attr, name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static inline struct health ep_health(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM param = {0};
    const DAT_EP_ATTR *attr = &param.ep_attr;
    DAT_RETURN status =
        dat_ep_query(ep,
                     DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR |
                         DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR,
                     &param);
    if (status != DAT_SUCCESS || !ep_attribute(attr, "wire_silent_ms"))
        return (struct health){0};
    return (struct health){.reported = true,
                           .silent_ms = ep_number(attr, "wire_silent_ms"),
                           .answer_ms = ep_number(attr, "wire_answer_ms"),
                           .bytes = ep_number(attr, "wire_bytes")};
}

#endif
