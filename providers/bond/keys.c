/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the peer's memory: read from its table, without the peer's help, and
 * kept. b->lock is held. */
#include "bond.h"

static bool ask(struct bond_conn *c, uint32_t key)
{
    struct bond_link *l = c->lead < BOND_NONE ? c->link[c->lead] : NULL;
    struct bond_op *op =
        bond_link_usable(l) ? bond_op_new(c, BOND_OP_KEY, UINT64_MAX) : NULL;
    if (!op)
        return false;
    op->offset = key % CORE_MAX_MRS * sizeof(struct bond_entry);
    op->bytes = sizeof(struct bond_entry);
    op->mark = key;
    if (bond_op_post(op, l))
        return true;
    bond_op_free(op);
    return false;
}

int bond_key_find(struct bond_conn *c, uint32_t key,
                  DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS])
{
    const struct bond_key *k = &c->key[key % BOND_KEYS];
    if (key && k->key == key) {
        memcpy(context, k->context, sizeof k->context);
        return 1;
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
        memcpy(k->context, e->context, sizeof k->context);
    } else {
        c->bad_key = key;
    }
}
