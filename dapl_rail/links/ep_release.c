/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/ep_release.h"

#include <stdlib.h>

#include "dapl_rail/rails/rail.h"

struct parting {
    DAT_EP_HANDLE ep;
    struct parting *next;
};

static bool is_pending(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN idle;
    return dat_ep_get_status(ep, &state, &idle, &idle) == DAT_SUCCESS &&
           state == DAT_EP_STATE_DISCONNECT_PENDING;
}

void parting(struct rail *rail, DAT_EP_HANDLE ep)
{
    struct parting *p = is_pending(ep) ? malloc(sizeof *p) : NULL;
    if (!p) {
        dat_ep_free(ep);
        return;
    }
    *p = (struct parting){.ep = ep, .next = rail->partings};
    rail->partings = p;
}

static void end(struct parting **at)
{
    struct parting *p = *at;
    *at = p->next;
    dat_ep_free(p->ep);
    free(p);
}

bool parting_over(struct rail *rail, DAT_EP_HANDLE ep)
{
    struct parting **at = &rail->partings;
    while (*at && (*at)->ep != ep)
        at = &(*at)->next;
    if (!*at)
        return false;
    end(at);
    return true;
}

void partings_end(struct rail *rail)
{
    while (rail->partings)
        end(&rail->partings);
}
