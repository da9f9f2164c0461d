/* SPDX-License-Identifier: BSD-3-Clause */
/* EPs that are disconnecting. To free such an EP, libdaplofa waits for the
 * peer, 240 ms if it does not answer; and a thread of libdaplofa may use it. */
#include <stdlib.h>

#include "providers/bond/members/members.h"

struct bond_release {
    DAT_EP_HANDLE ep;
    struct bond_release *next;
};

static bool is_disconnecting(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN idle;
    return dat_ep_get_status(ep, &state, &idle, &idle) == DAT_SUCCESS &&
           state == DAT_EP_STATE_DISCONNECT_PENDING;
}

void bond_release(struct bond_member *m, DAT_EP_HANDLE ep)
{
    struct bond_release *r = is_disconnecting(ep) ? malloc(sizeof *r) : NULL;
    if (!r) {
        dat_ep_free(ep);
        return;
    }
    *r = (struct bond_release){.ep = ep, .next = m->releases};
    m->releases = r;
}

static void end(struct bond_release **at)
{
    struct bond_release *r = *at;
    *at = r->next;
    dat_ep_free(r->ep);
    free(r);
}

void bond_release_ended(struct bond_member *m, DAT_EP_HANDLE ep)
{
    struct bond_release **at = &m->releases;
    while (*at && (*at)->ep != ep)
        at = &(*at)->next;
    if (*at)
        end(at);
}

void bond_release_all(struct bond_member *m)
{
    while (m->releases)
        end(&m->releases);
}
