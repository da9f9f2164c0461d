/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mailbox: the notifications, messages and atomics between this rank and one
 * peer. The files of this folder, in reading order:
 *
 *   mailbox.h        the state; the handlers of what arrives
 *   inbox.h          notifications that have arrived, in order
 *   reorder.h        messages that have arrived, in order
 *   pick_rail.h      the rail of a message that is not striped
 *   transfer.h       puts and gets, striped over rails
 *   note.h           notifications of puts
 *   eager_put.h      short puts inside their notification
 *   message.h        two-sided messages, eager and by rendezvous
 *   remote_atomic.h  atomics that the target's processor executes
 */
#ifndef DRAIL_MESSAGES_MAILBOX_H
#define DRAIL_MESSAGES_MAILBOX_H

#include <stdatomic.h>

#include "dapl_rail/engine/request.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/messages/reorder.h"
#include "dapl_rail/messages/transfer.h"

/* A rendezvous message that this rank reads: one at a time per peer. It lives
 * until its last event, also if the call that waits for it gives up. */
struct reading {
    bool active;
    bool posting;  /* not all of it is posted yet */
    bool finished; /* it is complete or has failed; the sender is to be told */
    struct req req;
    struct transfer transfer;
    drail_xfer_t xfer;
    drail_key_t key;
    drail_mem_t *mem; /* the receiver's buffer */
    int result;       /* the last one of reading_advance() */
    void *buffer;
    size_t bytes;
    uint32_t id;
    struct link *link;           /* has brought the announcement */
    uint64_t completed, told_ns; /* when the sender was last told of progress */
};

/* A message of which some pieces have been received, others not. */
struct partial {
    size_t bytes, got; /* bytes 0: there is none */
    void *buffer;      /* NULL: it was too short */
};

struct mailbox {
    struct inbox notes;
    struct reorder messages;
    uint32_t note_seq, message_seq; /* of the next one to the peer */
    struct link *last;              /* has got the last message to the peer */
    uint32_t announced;             /* rendezvous to the peer, so far */
    /* number of the last of them that the peer has finished, and its status */
    _Atomic uint64_t finished;
    size_t at; /* of the next message from the peer in its slot */
    /* the buffer of the drail_recv() that waits; NULL: none, or it is used */
    void *buffer;
    size_t capacity;
    /* the slot of the message that message_place() has placed last, and where
     * its bytes are */
    const struct slot *placed;
    const void *placed_at;
    struct partial partial;
    bool sends; /* drail_send() has been called since the last drail_recv() */
    struct reading *reading;   /* NULL: none has been read yet */
    uint16_t asked;            /* number of the last atomic to the peer, … */
    _Atomic uint16_t answered; /* … of the last one that was answered, … */
    struct wire_atomic answer; /* … and its answer */
};

/* The handlers of all that arrives on links. */
extern const struct link_handlers mailbox_handlers;

#endif
