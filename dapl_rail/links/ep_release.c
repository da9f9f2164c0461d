/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/ep_release.h"

#include <stdlib.h>

#include "dapl_rail/rails/rail.h"

struct ep_release {
    DAT_EP_HANDLE ep;
    struct ep_release *next;
};

static bool is_pending(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN idle;
    return dat_ep_get_status(ep, &state, &idle, &idle) == DAT_SUCCESS &&
           state == DAT_EP_STATE_DISCONNECT_PENDING;
}

void ep_release(struct rail *rail, DAT_EP_HANDLE ep)
{
    struct ep_release *p = is_pending(ep) ? malloc(sizeof *p) : NULL;
    if (!p) {
        dat_ep_free(ep);
        return;
    }
    *p = (struct ep_release){.ep = ep, .next = rail->releases};
    rail->releases = p;
}

static void end(struct ep_release **at)
{
    struct ep_release *p = *at;
    *at = p->next;
    dat_ep_free(p->ep);
    free(p);
}

bool ep_release_ended(struct rail *rail, DAT_EP_HANDLE ep)
{
    struct ep_release **at = &rail->releases;
    while (*at && (*at)->ep != ep)
        at = &(*at)->next;
    if (!*at)
        return false;
    end(at);
    return true;
}

void ep_release_all(struct rail *rail)
{
    while (rail->releases)
        end(&rail->releases);
}
