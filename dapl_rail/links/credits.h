/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on a link, and the credits that they need. */
#ifndef DRAIL_LINKS_CREDITS_H
#define DRAIL_LINKS_CREDITS_H

#include "dapl_rail/links/link.h"

struct dto;
struct wire_put;

/* A credit and a send slot for one message: 0, DRAIL_EAGAIN when there is
 * none now, or an error. */
int link_reserve(struct link *link);
/* What link_reserve() has given is not needed. */
void link_unreserve(struct link *link);
/* Posts the message that link_reserve() was for. DRAIL_EAGAIN: there is no
 * room in the queue, and it is still reserved. */
int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done);
/* The same with a put, which goes before the payload. */
int link_send_put(struct link *link, struct wire *wire,
                  const struct wire_put *put, const void *payload,
                  size_t bytes);
/* Posts an RDMA write that is at the same time the message which
 * link_reserve() was for: so many bits of it. DRAIL_EAGAIN as above. */
int link_write_immed(struct link *link, struct dto *write, uint32_t note,
                     const struct completion *done);
/* Makes the room of replies: link_reply() can't fail then. 0, or DRAIL_ENOMEM.
 */
int link_may_reply(struct link *link);
/* Sends a message that needs no credit as soon as there is room. One of a kind
 * at a time. 0, or DRAIL_ENOMEM: it won't be sent. */
int link_reply(struct link *link, enum reply_kind kind, const struct wire *wire,
               const void *payload, uint8_t bytes);
/* Tells the peer that what has been announced on this link is void, as above:
 * the credit that this takes is borrowed where there is none. One at a time, as
 * the next announcement needs one again. */
int link_withdraw(struct link *link, const struct wire *wire);
/* Has it been sent? 1, 0, or the error because of which it never will be. */
int link_replied(const struct link *link, enum reply_kind kind);
/* A receive was consumed; gives credits back when many are owed. */
void link_owe(struct link *link);
/* Sends what is due, a reply or credits, if there is room. */
void link_pay(struct link *link);
/* Before the end: are all DTOs complete? Sees to it that they can be known to
 * be. */
bool link_settled(struct link *link);

/* Tells the peer that what this rank reads from it, or writes to it, goes on,
 * if there are room and more than half of the credits: else the peer takes
 * nothing, and other messages need them. Has it been told? */
bool link_say_reading(struct link *link);

#endif
