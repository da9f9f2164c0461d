/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the peer's memory. The bond reads the members' contexts from the
 * peer's table by RDMA, and keeps them. b->lock is held. */
#include "providers/bond/links/links.h"
#include "providers/bond/transfer/transfer.h"

static bool ask(struct bond_conn *c, uint32_t key)
{
    struct bond_link *l = bond_usable_link(c, c->lead);
    struct bond_op op = {.kind = BOND_OP_KEY,
                         .request = BOND_NO_REQUEST,
                         .offset =
                             key % CORE_MAX_MRS * sizeof(struct bond_entry),
                         .bytes = sizeof(struct bond_entry),
                         .mark = key};
    return l && bond_op_start(&op, l, NULL);
}

const struct bond_key *bond_key_known(const struct bond_conn *c, uint32_t key)
{
    const struct bond_key *k = &c->key[key % BOND_KEYS];
    return key && k->key == key ? k : NULL;
}

/* Reads the entry of the peer's table at once. False: not now. */
static bool read_now(struct bond_conn *c, struct bond_link *l, uint32_t key)
{
    struct bond_op op = {.kind = BOND_OP_KEY, .link = l, .mark = key};
    uint64_t offset = key % CORE_MAX_MRS * sizeof(struct bond_entry);
    DAT_LMR_TRIPLET here = {.virtual_address = (uintptr_t)&l->region->entry,
                            .segment_length = sizeof l->region->entry,
                            .lmr_context = l->context};
    DAT_RMR_TRIPLET there = {.virtual_address = c->peer_table + offset,
                             .segment_length = sizeof l->region->entry,
                             .rmr_context = c->path[l->m->index].table};
    if (dat_ep_post_rdma_read(l->ep, 1, &here, (DAT_DTO_COOKIE){0}, &there,
                              (DAT_COMPLETION_FLAGS)DAPL_RDMA_SYNC_FLAG))
        return false;
    bond_key_read(c, &op);
    return true;
}

const struct bond_key *bond_key_now(struct bond_conn *c, uint32_t key)
{
    struct bond_link *l = bond_usable_link(c, c->lead);
    const struct bond_key *k = bond_key_known(c, key);
    if (!k && key && !c->key_asked && l && l->m->syncs && read_now(c, l, key))
        k = bond_key_known(c, key);
    return k;
}

void bond_keys_forget(struct bond_conn *c)
{
    for (unsigned i = 0; i < BOND_KEYS; i++)
        c->key[i].key = 0;
}

static bool allows(const struct bond_conn *c, const struct bond_key *k,
                   const struct core_request *r)
{
    const struct bond_request *q = r->tp;
    int right = (int)(r->op == CORE_READ ? DAT_MEM_PRIV_REMOTE_READ_FLAG
                                         : DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    return k->priv & right && k->zone == c->peer_zone &&
           core_within(k->base, k->bytes, q->remote_address, r->w.total);
}

/* The bond itself judges the access. Of a request in parts, no part may move
 * data if another one is refused. And over TCP, a member can't tell a refused
 * access from a lost rail: the peer's libfabric only closes the connection. */
int bond_key_find(struct bond_conn *c, const struct core_request *r)
{
    struct bond_request *q = r->tp;
    uint32_t key = q->remote_key;
    const struct bond_key *k = bond_key_known(c, key);
    if (k) {
        memcpy(q->context, k->context, sizeof k->context);
        return allows(c, k, r) ? 1 : -1;
    }
    if (!key || key == c->bad_key)
        return -1;
    if (!c->key_asked)
        c->key_asked = ask(c, key);
    return 0;
}

void bond_key_read(struct bond_conn *c, const struct bond_op *op)
{
    const struct bond_entry *e = &op->link->region->entry;
    uint32_t key = (uint32_t)op->mark;
    c->key_asked = false;
    if (e->key == key && e->again == key) {
        struct bond_key *k = &c->key[key % BOND_KEYS];
        k->key = key;
        k->zone = e->zone;
        k->priv = e->priv;
        k->base = e->base;
        k->bytes = e->bytes;
        memcpy(k->context, e->context, sizeof k->context);
    } else {
        c->bad_key = key;
    }
}
