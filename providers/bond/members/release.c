/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EPs of libdaplofa that are freed later. To free an EP that is disconnecting,
 * libdaplofa waits for the peer, 240 ms if it does not answer. And its thread
 * may be about to disconnect an EP that has ended for another reason: if the EP
 * is freed before that, the process crashes.
 */
#include <stdlib.h>
#include <time.h>

#include "dapl_rail/platform/busywait.h"

#include "providers/bond/members/members.h"

#define HOLD_NS (200 * BOND_MS)

struct bond_release {
    DAT_EP_HANDLE ep;
    struct bond_zone *zone; /* of the EP */
    uint64_t due;           /* ns */
    struct bond_release *next;
};

bool bond_is_disconnecting(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN idle;
    return dat_ep_get_status(ep, &state, &idle, &idle) == DAT_SUCCESS &&
           state == DAT_EP_STATE_DISCONNECT_PENDING;
}

void bond_release(struct bond_member *m, DAT_EP_HANDLE ep,
                  struct bond_zone *zone)
{
    struct bond_release *r = m->own ? NULL : malloc(sizeof *r);
    if (!r) {
        dat_ep_free(ep);
        return;
    }
    *r = (struct bond_release){.ep = ep,
                               .zone = zone,
                               .due = busywait_now_ns() + HOLD_NS,
                               .next = m->releases};
    m->releases = r;
    zone->uses++;
}

static void end(struct bond_member *m, struct bond_release **at)
{
    struct bond_release *r = *at;
    *at = r->next;
    dat_ep_free(r->ep);
    bond_zone_put(m->b, r->zone);
    free(r);
}

void bond_release_look(struct bond_member *m, uint64_t now)
{
    for (struct bond_release **at = &m->releases; *at;)
        if (now >= (*at)->due && !bond_is_disconnecting((*at)->ep))
            end(m, at);
        else
            at = &(*at)->next;
}

void bond_release_all(struct bond_member *m)
{
    static const struct timespec hold = {.tv_nsec = HOLD_NS};
    if (m->releases)
        nanosleep(&hold, NULL);
    while (m->releases)
        end(m, &m->releases);
}
