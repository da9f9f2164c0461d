/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection to one peer over one rail: its DTOs, messages and credits. */
#ifndef DRAIL_LINKS_LINK_H
#define DRAIL_LINKS_LINK_H

#include <stdatomic.h>

#include <dat2/udat.h>

#include "dapl_rail/links/wire.h"
#include "dapl_rail/rails/rail.h"

struct message;
struct peer;
struct req;

/* A DTO with a completion event. Its cookie is the address of this. */
struct op {
    struct link *link;
    struct req *req;         /* told when it completes, or NULL */
    uint64_t index;          /* of this op on its link */
    uint64_t posted;         /* DTOs posted up to and with this one */
    uint32_t sent;           /* sends among them */
    struct message *message; /* part of this one, NULL: not timed */
    uint64_t start_ns;
    uint64_t bytes;
};

/* What should happen when a DTO completes. */
struct completion {
    struct req *req;
    struct message *message;
    uint64_t start_ns;
    uint64_t bytes;
};

enum verb { VERB_WRITE, VERB_READ, VERB_SEND, VERB_FETCH_ADD, VERB_CMP_SWAP };

struct dto {
    enum verb verb;
    DAT_LMR_TRIPLET local;
    DAT_RMR_TRIPLET remote;
    uint64_t operand, compare;
};

/* A receive buffer; the cookie of its receive is its address with bit 0, that
 * of a link's last request is the link's with bit 1. */
struct slot {
    struct link *link;
    unsigned char *data;
    uint32_t bytes;
};

enum link_state { LINK_CONNECTING, LINK_UP, LINK_DOWN };

/* The connection to one peer over one rail. */
struct link {
    struct rail *rail;
    struct peer *peer;
    DAT_EP_HANDLE ep;
    enum link_state state;
    bool established; /* has been up */
    int error;

    /* request queue: DTOs complete in the order of posting */
    uint64_t posted, retired, signalled, fence_at;
    uint32_t sent, sent_retired, sent_signalled;
    struct op *ops;
    uint64_t ops_head, ops_tail;
    uint32_t ops_mask;

    /* messages: see post.c for the credit rule */
    unsigned credits, owed;
    bool posting; /* within link_send: no other message may start */
    struct slot *slots;
    unsigned nslots, receives;   /* receives: those under way */
    bool last_posted, last_done; /* see link_flushed */
    unsigned char *buffers;
    int buffers_fd;
    size_t buffers_bytes, slot_bytes;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    struct wire_atomic reply; /* to the peer's atomic */
    bool reply_due;
    struct wire_atomic answer; /* of the peer to ours */
    bool answered;

    char why[160];
} __attribute__((aligned(CACHE_LINE)));

/* ------------------------------------------------------------- link.c */

/* DTOs of one link that may have events. */
unsigned link_events(const struct rail *rail);
int link_open(struct rail *rail, struct peer *peer, struct link **out);
void link_close(struct link *link);
void link_down(struct link *link, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int slot_post(struct slot *slot);
/* Bytes of a slot: header, and an eager message or a key. */
size_t slot_bytes(const drail_t *t);

/* ------------------------------------------------------------- post.c */

/* Posts a DTO, after waiting for room; done NULL: completion suppressed. */
int link_post(struct link *link, struct dto *dto,
              const struct completion *done);
/* Posts a message; a credit must be there for those that need one. */
int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done);
/* Waits until a message can be sent on every one of these rails. */
int links_reserve(drail_t *t, struct peer *peer, uint32_t rails,
                  int timeout_ms);
/* A receive was consumed; gives credits back when many are owed. */
void link_owe(struct link *link);
/* Sends what we owe the peer, a reply or credits, if there is room. */
void link_pay(struct link *link);
/* Before the end: are all DTOs complete? Sees to it that they can be known to
 * be. */
bool link_settled(struct link *link);
/* After it: have all DTOs come back, flushed? An event that comes after its EP
 * is gone would crash the verbs providers. */
bool link_flushed(struct link *link);
/* Retires a DTO and those before it. */
void link_retire(struct op *op, int status);

#endif
