/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the consumer. b->lock is held. */
#ifndef DAPL_BOND_TRANSFER_H
#define DAPL_BOND_TRANSFER_H

#include "providers/bond/conn.h"

/* transfer.c */
/* Posts all requests that can be posted now. */
void bond_issue(struct bond_conn *c);
/* The same of a connected one; ep->lock is held. */
void bond_issue_locked(struct bond_conn *c);

/* sync.c */
/* Lets the lead carry out a read or write that is complete at once. False: it
 * must be queued. */
bool bond_sync(struct bond_conn *c, const struct core_dto *dto);

/* body.c; ep->lock is held */
/* Gives a long request a body, and cuts the body into shares. */
void bond_body_cut(struct bond_conn *c, struct core_request *r);
/* Posts the shares. True: all of them are posted. */
bool bond_body_post(struct bond_conn *c, uint64_t request);
void bond_body_done(struct bond_conn *c, const struct bond_op *op);

/* redo.c; ep->lock is held */
/* The usable link that may carry a piece of a body, or NULL. */
struct bond_link *bond_body_link(const struct bond_conn *c,
                                 const struct bond_op *op);
/* Posts lost ops again. True: all are posted. */
bool bond_redo(struct bond_conn *c);

/* keys.c */
/* The peer's range with this key, as far as it is known here, or NULL. */
const struct bond_key *bond_key_known(const struct bond_conn *c, uint32_t key);
/* The same; if the lead has synchronous RDMA, the peer's table is read now. */
const struct bond_key *bond_key_now(struct bond_conn *c, uint32_t key);
/* Finds the peer's contexts for a read or write. 1: found; 0: the peer was
 * asked; -1: the peer has no such range, or does not allow the access. */
int bond_key_find(struct bond_conn *c, const struct core_request *r);
/* Lets the bond ask the peer again: it may have freed ranges. */
void bond_keys_forget(struct bond_conn *c);
void bond_key_read(struct bond_conn *c, const struct bond_op *op);

#endif
