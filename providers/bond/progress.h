/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of connections: in calls of the consumer, and in the threads. */
#ifndef DAPL_BOND_PROGRESS_H
#define DAPL_BOND_PROGRESS_H

#include "providers/bond/conn.h"

/* loop.c */
void *bond_loop(void *member);
/* Handles all completions of all members; for the watchers. */
void bond_serve(struct bond_ia *b);

/* progress.c */
DAT_RETURN bond_post(struct core_ep *ep, const struct core_dto *dto);
void bond_recv_posted(struct core_ep *ep);
void bond_progress(struct core_ia *ia, bool sure);

/* failover.c */
/* A link is over: keeps its mark, which BOND_ENDED tells the peer. Other
 * messages over the link may be lost: they become due again. */
void bond_path_ended(struct bond_link *l);
/* Ends silent links, tells the peer of ended links, settles lost links. */
void bond_failover_look(struct bond_conn *c, uint64_t now);
/* Has a link been silent since the last look, but not for long? */
bool bond_link_silent(const struct bond_conn *c);
/* Frees the link, after handling the completions that name it. */
void bond_link_drop(struct bond_link *l);

/* complete.c */
/* Handles all that has completed or arrived at the member. */
void bond_drain(struct bond_member *m);
void bond_op_done(struct bond_op *op);

#endif
