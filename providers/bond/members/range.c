/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LMRs and windows (RMRs). For each of them, the bond creates an LMR on each
 * member. (Not every DAT provider has RMRs.) The range's key is its index in a
 * table. Peers read the range and the members' contexts from the table by RDMA,
 * and keep them. Over shared memory, only the lead carries a range that is too
 * short to be cut: the range is registered there only. If a lead is lost, all
 * ranges get registered on all members. Core does not give the same key to
 * another range soon. So a peer's old contexts do no harm: the member refuses
 * them. A member over TCP does so by ending the link: then the peer reads the
 * table again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "providers/bond/members/members.h"

static struct bond_entry *entry_of(struct bond_ia *b, const struct core_mr *mr)
{
    return &b->table[mr->key % CORE_MAX_MRS];
}

static void withdraw(struct bond_entry *e)
{
    atomic_store(&e->again, 0);
    atomic_store(&e->key, 0);
}

/* A peer that reads the entry meanwhile sees two different keys. */
static void publish(struct bond_entry *e, const struct core_mr *mr,
                    const DAT_RMR_CONTEXT *context, unsigned count)
{
    withdraw(e);
    e->base = mr->base;
    e->bytes = mr->length;
    e->zone = mr->pz_id;
    e->priv = mr->priv;
    for (unsigned i = 0; i < count; i++)
        e->context[i] = context[i];
    atomic_store(&e->key, mr->key);
    atomic_store(&e->again, mr->key);
}

/* Frees the members' LMRs. False: a peer still accesses one of them. (The
 * others are withdrawn all the same.) */
static bool release(const struct bond_ia *b, struct bond_range *r)
{
    bool all = true;
    for (unsigned i = 0; i < b->params.count; i++)
        if (r->lmr[i] && !bond_lmr_free(&b->member[i], r->lmr[i]))
            all = false;
        else
            r->lmr[i] = DAT_HANDLE_NULL;
    return all;
}

static void range_delete(struct bond_ia *b, struct bond_range *r)
{
    bond_zone_put(b, r->zone);
    free(r);
}

/* Of a range that no peer knows. */
static void unregister_all(const struct bond_ia *b, const struct bond_range *r)
{
    for (unsigned i = 0; i < b->params.count; i++)
        if (r->lmr[i])
            dat_lmr_free(r->lmr[i]);
}

static int register_on(const struct bond_ia *b, struct bond_range *r,
                       unsigned member, DAT_RMR_CONTEXT *remote)
{
    const struct core_mr *mr = r->mr;
    DAT_REGION_DESCRIPTION at = {.for_va = (void *)(uintptr_t)mr->base};
    int priv = mr->priv & ~CORE_PRIV_REMOTE_ATOMIC;
    if (priv & (int)DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
        priv |= (int)DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
    return dat_lmr_create(b->member[member].ia, DAT_MEM_TYPE_VIRTUAL, at,
                          mr->length, r->zone->pz[member],
                          (DAT_MEM_PRIV_FLAGS)priv, DAT_VA_TYPE_VA,
                          &r->lmr[member], &r->context[member], remote, NULL,
                          NULL) == DAT_SUCCESS
               ? 0
               : -1;
}

static int register_all(const struct bond_ia *b, struct bond_range *r,
                        DAT_RMR_CONTEXT *remote)
{
    bool all = !b->syncs || b->spread ||
               bond_params_cut(&b->params, b->syncs, r->mr->length);
    for (unsigned i = 0; i < (all ? b->params.count : 1); i++)
        if (register_on(b, r, i, &remote[i]))
            return -1;
    return 0;
}

/* Registers the range on this member, too, and tells peers that read its entry
 * from now on. If the member refuses, its requests that use the range fail. */
static int register_late(struct bond_ia *b, struct bond_range *r,
                         unsigned member)
{
    if (r->lmr[member] ||
        !register_on(b, r, member, &entry_of(b, r->mr)->context[member]))
        return 0;
    if (!b->member[member].refuses) /* one line is enough */
        fprintf(stderr,
                "dapl bond: rail %s: %s can't register %llu bytes: requests "
                "that use them fail\n",
                b->ia->name, b->params.names[member],
                (unsigned long long)r->mr->length);
    b->member[member].refuses = true;
    return -1;
}

void bond_ranges_spread(struct bond_ia *b)
{
    if (b->spread || !b->syncs)
        return;
    b->spread = true;
    for (unsigned at = 0; at < CORE_MAX_MRS; at++) {
        struct bond_range *r = b->ia->mrs[at].tp;
        for (unsigned i = 0; r && !r->leaving && i < b->params.count; i++)
            register_late(b, r, i); /* else the peer is refused */
    }
}

DAT_RETURN bond_mr_publish(struct core_ia *ia, struct core_mr *mr)
{
    struct bond_ia *b = bond_ia(ia);
    DAT_RMR_CONTEXT remote[BOND_MAX_MEMBERS] = {0}; /* 0: none */
    struct bond_range *r = calloc(1, sizeof *r);
    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION);
    if (!r)
        return ret;
    pthread_mutex_lock(&b->lock);
    r->mr = mr;
    r->zone = bond_zone_get(b, mr->pz_id);
    if (!r->zone) {
        free(r);
    } else if (register_all(b, r, remote)) {
        unregister_all(b, r);
        range_delete(b, r);
    } else {
        mr->tp = r;
        publish(entry_of(b, mr), mr, remote, b->params.count);
        ret = DAT_SUCCESS;
    }
    pthread_mutex_unlock(&b->lock);
    return ret;
}

/* The members may take long to free their LMRs, as long as a silent link lasts:
 * core calls this again and again. */
bool bond_mr_withdraw(struct core_ia *ia, struct core_mr *mr)
{
    struct bond_ia *b = bond_ia(ia);
    struct bond_range *r = mr->tp;
    pthread_mutex_lock(&b->lock);
    withdraw(entry_of(b, mr));
    r->leaving = true;
    bool released = release(b, r);
    if (released) {
        mr->tp = NULL;
        range_delete(b, r);
    }
    pthread_mutex_unlock(&b->lock);
    return released;
}

void bond_ranges_forget(struct bond_ia *b)
{
    for (unsigned at = 0; at < CORE_MAX_MRS; at++)
        free(b->ia->mrs[at].tp);
}

struct bond_range *bond_range_find(struct bond_ia *b, uint32_t key)
{
    const struct core_mr *mr = core_mr_find(b->ia, key);
    struct bond_range *r = mr ? mr->tp : NULL;
    return r && !r->leaving ? r : NULL;
}

DAT_DTO_COMPLETION_STATUS bond_range_translate(struct bond_ia *b,
                                               unsigned member, uint32_t n,
                                               DAT_LMR_TRIPLET *seg)
{
    for (uint32_t i = 0; i < n; i++) {
        struct bond_range *r = bond_range_find(b, seg[i].lmr_context);
        if (!r)
            return DAT_DTO_ERR_LOCAL_PROTECTION;
        if (register_late(b, r, member))
            return DAT_DTO_ERR_LOCAL_EP;
        seg[i].lmr_context = r->context[member];
    }
    return DAT_DTO_SUCCESS;
}
