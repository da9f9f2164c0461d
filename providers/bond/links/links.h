/* SPDX-License-Identifier: BSD-3-Clause */
/* Links, and requests to members. b->lock is held. */
#ifndef DAPL_BOND_LINKS_H
#define DAPL_BOND_LINKS_H

#include "providers/bond/conn.h"

/* op.c */
/* Posts a new op, which is a copy of *like. @p data: header.bytes of a message
 * of the bond's own, or NULL. False: there is no free op, or no room now. */
bool bond_op_start(const struct bond_op *like, struct bond_link *l,
                   const void *data);
/* A copy of *like that is yet to be posted. NULL: there is no free op. */
struct bond_op *bond_op_new(struct bond_conn *c, const struct bond_op *like);
void bond_op_free(struct bond_op *op);
/* Posts the op over the link. False: the member has no room now. True: it is
 * posted; or its link is lost, and the op is now a lost op. */
bool bond_op_post(struct bond_op *op, struct bond_link *l);
/* bond_op_post in two steps. Threads may give ops of bodies at the same time;
 * @p ret is what the first step has returned. */
DAT_RETURN bond_op_give(struct bond_op *op);
bool bond_op_given(struct bond_op *op, DAT_RETURN ret);
/* Takes the op that was posted over the link before all others. */
struct bond_op *bond_op_next(struct bond_link *l);
/* Writes the number of the last write over the link into the peer's word, if
 * the member does not count writes. */
void bond_link_mark(struct bond_link *l);
/* Lets the member report soon that all quiet ops of the link are complete.
 * NULL: there is no link. */
void bond_link_flush(struct bond_link *l);
/* The op did not complete, because its link is lost. */
void bond_op_lost(struct bond_op *op);
/* Adds the op to a list, which is in the order of the first posts. */
void bond_op_insert(struct bond_op **at, struct bond_op *op);

/* request.c */
/* Breaks the connection: the bond's thread ends it soon. */
void bond_give_up(struct bond_conn *c);
/* The same, because of a request. The request fails later, when all links have
 * ended: then no member accesses its memory any more. ep->lock is held. */
void bond_request_fail(struct bond_conn *c, uint64_t request,
                       DAT_DTO_COMPLETION_STATUS status);
/* All links have ended: completes the requests that broke the connection. */
void bond_requests_failed(struct core_ep *ep);
/* Marks the request as done if it is complete. ep->lock is held. */
void bond_request_look(struct bond_conn *c, uint64_t request);
/* Are there requests that can't be posted yet? */
bool bond_waits(struct bond_conn *c);
/* The peer has delivered all messages before this number. */
void bond_delivered(struct bond_conn *c, uint32_t before);

/* link.c */
struct bond_link *bond_link_new(struct bond_conn *c, unsigned member,
                                uint32_t epoch);
struct bond_link *bond_link_find(struct bond_member *m, DAT_EP_HANDLE ep);
/* Gives a slot to the member, to receive a message. */
int bond_slot_post(struct bond_link *l, struct bond_slot *slot);
/* Begins to end the link. */
void bond_link_leave(struct bond_link *l);
/* Ends a leaving link by force if it does not end: libdaplofa may report an EP
 * as unreachable while its queue pair still runs. */
void bond_link_force(struct bond_link *l, uint64_t now);
/* Has the link ended, and have all its completions been handled? */
bool bond_link_over(const struct bond_link *l, uint64_t now);
/* Frees the EP. The link must stay until its completions are handled. */
void bond_link_close(struct bond_link *l);
void bond_link_free(struct bond_link *l);
/* Tries once more to free links whose memory a peer may still access. */
void bond_links_free(struct bond_member *m, uint64_t now);
/* The same when the member is closed: no peer can access anything. */
void bond_links_forget(struct bond_member *m);
/* The writes of the peer over the link, as far as they can be told. */
uint64_t bond_link_written(const struct bond_link *l);
/* The first member with a usable link, or BOND_NONE. */
unsigned bond_any_usable(const struct bond_conn *c);
/* The first link for the bond's own messages, or NULL. */
struct bond_link *bond_any_up(const struct bond_conn *c);

#endif
