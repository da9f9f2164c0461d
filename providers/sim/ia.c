/* SPDX-License-Identifier: BSD-3-Clause */
/* The open IAs and their addresses: 10.RAIL.RANK.RANK. IAs that one rank has
 * opened on one rail share the address; connection qualifiers tell them apart.
 */
#include <arpa/inet.h>

#include "sim.h"

#define NETWORK 10u
#define LISTS   4096u /* by rank, of which there are thousands */

static struct sim_ia *open_ias[LISTS];

static in_addr_t number_of(const struct sockaddr_storage *address)
{
    return ((const struct sockaddr_in *)address)->sin_addr.s_addr;
}

static struct sim_ia **list_of(const struct sockaddr_storage *address)
{
    return &open_ias[ntohl(number_of(address)) % LISTS];
}

void sim_ia_add(struct sim_ia *ia)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&ia->ia->address;
    in->sin_family = AF_INET;
    in->sin_addr.s_addr =
        htonl(NETWORK << 24 | ia->place.rail << 16 | (ia->rank & 0xffff));
    struct sim_ia **list = list_of(&ia->ia->address);
    ia->next = *list;
    *list = ia;
}

void sim_ia_remove(struct sim_ia *ia)
{
    struct sim_ia **at = list_of(&ia->ia->address);
    while (*at != ia)
        at = &(*at)->next;
    *at = ia->next;
}

struct core_sp *sim_listener(const struct sockaddr_storage *address,
                             DAT_CONN_QUAL qual)
{
    if (address->ss_family != AF_INET)
        return NULL;
    for (struct sim_ia *ia = *list_of(address); ia; ia = ia->next)
        for (struct core_sp *sp = ia->listeners; sp; sp = sp->tp)
            if (sp->qual == qual &&
                number_of(&ia->ia->address) == number_of(address))
                return sp;
    return NULL;
}

void sim_ia_notify(struct sim_ia *ia)
{
    ia->notices++;
    sim_notify(ia->rank);
}
