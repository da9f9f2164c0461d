/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/health.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/links/link.h"

/* NULL: it has none of this name. */
static const char *attribute(const DAT_EP_ATTR *attr, const char *name)
{
    const DAT_NAMED_ATTR *all = attr->ep_provider_specific;
    for (DAT_COUNT i = 0; all && i < attr->ep_provider_specific_count; i++)
        if (all[i].name && !strcmp(all[i].name, name))
            return all[i].value;
    return NULL;
}

static uint64_t number(const DAT_EP_ATTR *attr, const char *name)
{
    const char *text = attribute(attr, name);
    return text ? strtoull(text, NULL, 10) : 0;
}

struct health link_health(const struct link *link)
{
    DAT_EP_PARAM param = {0};
    const DAT_EP_ATTR *attr = &param.ep_attr;
    DAT_RETURN status =
        dat_ep_query(link->ep.handle,
                     DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR |
                         DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR,
                     &param);
    if (status != DAT_SUCCESS || !attribute(attr, "wire_silent_ms"))
        return (struct health){0};
    return (struct health){.reported = true,
                           .silent_ms = number(attr, "wire_silent_ms"),
                           .answer_ms = number(attr, "wire_answer_ms"),
                           .bytes = number(attr, "wire_bytes")};
}
