/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up and ending connections; ia->lock is held. A connection begins with
 * a link of the first member; the others join it (join.c).
 *
 *   active                             passive
 *   dat_ep_connect, hello -----------> CR event
 *   ESTABLISHED <--------------- hello dat_cr_accept
 *   ESTABLISHED, intro <-------> intro ESTABLISHED
 *   joins of the other members ------> accepted
 *
 * The functions that core does not call need b->lock, too.
 */
#ifndef DAPL_BOND_CONNECT_H
#define DAPL_BOND_CONNECT_H

#include "providers/bond/conn.h"

/* The wait for links to join before the consumer gets its event, and the wait
 * for BOND_BYE to arrive. */
#define BOND_JOIN_NS (200 * BOND_MS)

/* active_side.c; called by core */
DAT_RETURN bond_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                        const void *private_data);

/* passive_side.c; called by core */
DAT_RETURN bond_listen(struct core_sp *sp);
void bond_unlisten(struct core_sp *sp);
DAT_RETURN bond_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                       const void *private_data);
void bond_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);
/* A connection request of a member. */
void bond_on_request(struct bond_member *m, const DAT_CR_ARRIVAL_EVENT_DATA *d);

/* events.c */
void bond_on_connection(struct bond_member *m, DAT_EVENT_NUMBER event,
                        const DAT_CONNECTION_EVENT_DATA *d);

/* look.c */
/* Moves the connection on; returns the time (ns) of the next look. May free the
 * connection. */
uint64_t bond_conn_look(struct bond_conn *c, uint64_t now);

/* end.c; the first three are called by core */
void bond_disconnect(struct core_ep *ep, bool graceful);
void bond_ep_release(struct core_ep *ep);
void bond_abort(struct core_ep *ep);
/* Sets the consumer's next event. */
void bond_conn_set_event(struct bond_conn *c, DAT_EVENT_NUMBER event,
                         const void *data, DAT_COUNT size);
/* Begins to end the connection; its last event will be this one. */
void bond_conn_end(struct bond_conn *c, DAT_EVENT_NUMBER event,
                   const void *data, DAT_COUNT size);
/* All links have ended. */
void bond_conn_finish(struct bond_conn *c);
/* Says it over all links: some may be lost. */
void bond_say_to_all(struct bond_conn *c, enum bond_message_kind kind);

/* Is a member's connection request gone after dat_cr_accept()? If a provider
 * lacks resources, it keeps the request. After any other failure, libdaplofa
 * has freed what the request points to: to reject it would crash. */
static inline bool bond_request_gone(DAT_RETURN accepted)
{
    return DAT_GET_TYPE(accepted) != DAT_INSUFFICIENT_RESOURCES;
}

/* lifetime.c */
/* NULL: out of resources. */
struct bond_conn *bond_conn_new(struct bond_ia *b, enum bond_state state);
void bond_conn_free(struct bond_conn *c);
/* Gives the connection its EP, and its first link: NULL, out of resources. */
struct bond_link *bond_conn_attach(struct bond_conn *c, struct core_ep *ep);
/* Undoes bond_conn_attach, also one that has failed. */
void bond_conn_detach(struct bond_conn *c);

/* join.c */
void bond_on_join_request(struct bond_member *m, DAT_CR_HANDLE cr,
                          const struct bond_said *asks);
/* Tries to join links that are missing; returns when to look again. */
uint64_t bond_join_look(struct bond_conn *c, uint64_t now);
/* Have all links joined that can join at present? */
bool bond_join_complete(const struct bond_conn *c);
/* An attempt to join has failed. @p answered: the peer has answered it. */
void bond_join_failed(struct bond_conn *c, unsigned member, bool answered);

/* hello.c */
/* Returns the bytes to be sent. */
DAT_COUNT bond_hello_say(const struct bond_ia *b, unsigned kind, DAT_COUNT size,
                         const void *data, struct bond_said *said);
/* Reads private data of a peer. False: the peer is no bond. */
bool bond_hello_read(const void *data, DAT_COUNT bytes, struct bond_said *said);
uint16_t bond_members_hash(const struct bond_params *p);
/* Say on stderr that the peer has another bond, or none. */
void bond_say_different(const struct bond_ia *b);
void bond_say_no_bond(const struct bond_ia *b);

#endif
