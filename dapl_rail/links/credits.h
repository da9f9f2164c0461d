/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on a link, and the credits that they need. A message consumes a
 * receive that the peer has posted. A link begins with as many credits as the
 * peer has receives for it (the depth). Each message returns the credits of the
 * messages that its sender has consumed; when half of the depth is owed, a
 * message of its own does. Such messages, replies and an EP's last request need
 * no credit: there are spare receives for them.
 */
#ifndef DRAIL_LINKS_CREDITS_H
#define DRAIL_LINKS_CREDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/links/wire.h"

struct completion;
struct dto;
struct link;

/* A message that needs no credit and leaves when there is room. The peer has
 * asked for it, and asks again only when it has it; for withdrawals see
 * link_withdraw(). */
enum reply_kind { REPLY_ATOMIC, REPLY_FINISHED, REPLY_WITHDRAWN, REPLIES };

struct reply {
    struct wire wire;
    bool due;
    uint8_t bytes;
    unsigned char data[48];
};

struct credits {
    uint64_t immeds;   /* writes with immediate data posted, ever */
    uint64_t received; /* messages of the peer's received, ever */
    int available;     /* -1: one has been borrowed */
    /* requests posted up to the last message with a credit, and up to the one
     * before it */
    uint64_t last[2];
    unsigned owed;         /* to the peer */
    unsigned reserved;     /* send slots, each with a credit */
    unsigned next;         /* send slot */
    struct reply *replies; /* by kind; NULL: there was none yet */
};

/* Reserves a credit and a send slot for one message: 0, DRAIL_EAGAIN: there is
 * none now, or an error. */
int link_reserve(struct link *link);
/* Gives back what link_reserve() has reserved. */
void link_unreserve(struct link *link);
/* Posts the message that link_reserve() was for. DRAIL_EAGAIN: there is no room
 * in the queue; what is reserved stays so. */
int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done);
/* The same with a put, which goes before the payload. */
int link_send_put(struct link *link, const struct wire *wire,
                  const struct wire_put *put, const void *payload,
                  size_t bytes);
/* Sends an eager message at once. False: nothing is sent; link_reserve() and
 * link_send() may do it. */
bool link_try_send_direct(struct link *link, uint32_t seq, const void *payload,
                          size_t bytes);
/* Posts an RDMA write that is also the message which link_reserve() was for:
 * IMMED_NOTE_BITS of it. DRAIL_EAGAIN as above. */
int link_write_immed(struct link *link, struct dto *write, uint32_t note,
                     const struct completion *done);
/* Allocates what link_reply() needs, which can't fail then. 0 or DRAIL_ENOMEM.
 */
int link_may_reply(struct link *link);
/* Sends a message that needs no credit as soon as there is room. One of a kind
 * at a time. 0, or DRAIL_ENOMEM: it will not be sent. */
int link_reply(struct link *link, enum reply_kind kind, const struct wire *wire,
               const void *payload, uint8_t bytes);
/* The same, to tell the peer that what has been announced on this link is void.
 * It takes a credit, and borrows one if there is none. One at a time, as the
 * next announcement needs a credit again. */
int link_withdraw(struct link *link, const struct wire *wire);
/* Has the reply been sent? 1, 0, or the error because of which it never will
 * be. */
int link_replied(const struct link *link, enum reply_kind kind);
/* A message of the peer has been consumed: owes it a credit, and pays if many
 * are owed. */
void link_owe(struct link *link);
/* Sends the replies and credits that are due, as far as there is room. */
void link_pay(struct link *link);
/* Before the end: are all requests complete? If no event will tell, posts a
 * message that has one. */
bool link_try_settle(struct link *link);
/* Tells the peer that the reads from it, or the writes to it, of this rank go
 * on. Only if there is room and more than half of the credits are left: other
 * messages need them, and the peer may take nothing. False: it was not told. */
bool link_send_progress(struct link *link);

#endif
