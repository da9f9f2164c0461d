/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection zones. For each PZ of the bond, the bond creates a PZ on each
 * member when the zone is first used. So the members check which EP may access
 * which range. b->lock is held. */
#include "providers/bond/members/members.h"

/* Frees what it can: peers may still read some of the tables. */
static void release(struct bond_ia *b, struct bond_zone *z)
{
    z->leaving = false;
    for (unsigned i = 0; i < b->params.count; i++) {
        if (z->table[i] && !bond_lmr_free(&b->member[i], z->table[i])) {
            z->leaving = true;
            continue;
        }
        z->table[i] = DAT_HANDLE_NULL;
        if (z->pz[i])
            dat_pz_free(z->pz[i]);
        z->pz[i] = DAT_HANDLE_NULL;
    }
}

static int fill(struct bond_ia *b, struct bond_zone *z, uint32_t id)
{
    DAT_REGION_DESCRIPTION table = {.for_va = b->table};
    z->id = id;
    for (unsigned i = 0; i < b->params.count; i++) {
        DAT_LMR_CONTEXT own;
        if (dat_pz_create(b->member[i].ia, &z->pz[i]))
            return -1;
        bond_keep_loaded(z->pz[i]);
        if (dat_lmr_create(b->member[i].ia, DAT_MEM_TYPE_VIRTUAL, table,
                           CORE_MAX_MRS * sizeof *b->table, z->pz[i],
                           DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
                           &z->table[i], &own, &z->table_context[i], NULL,
                           NULL))
            return -1;
    }
    return 0;
}

struct bond_zone *bond_zone_get(struct bond_ia *b, uint32_t id)
{
    struct bond_zone *unused = NULL;
    for (unsigned i = 0; i < BOND_ZONES; i++) {
        struct bond_zone *z = &b->zone[i];
        if (z->uses && z->id == id) {
            z->uses++;
            return z;
        }
        if (!z->uses && !z->leaving && !unused)
            unused = z;
    }
    if (!unused)
        return NULL;
    if (fill(b, unused, id)) {
        release(b, unused);
        return NULL;
    }
    unused->uses = 1;
    return unused;
}

void bond_zone_put(struct bond_ia *b, struct bond_zone *z)
{
    if (z && !--z->uses)
        release(b, z);
}

void bond_zones_look(struct bond_ia *b)
{
    for (unsigned i = 0; i < BOND_ZONES; i++)
        if (b->zone[i].leaving)
            release(b, &b->zone[i]);
}
