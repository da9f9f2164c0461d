/* SPDX-License-Identifier: BSD-3-Clause */
/* What we have told a peer and what it has told us. */
#ifndef DRAIL_MESSAGES_MAILBOX_H
#define DRAIL_MESSAGES_MAILBOX_H

#include <stdatomic.h>

#include "dapl_rail/engine/request.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/messages/transfer.h"

/* An announced message that is being read: one at a time per peer. It lives
 * until its last event has come, whoever waits for it meanwhile. */
struct reading {
    bool active;
    bool posting;  /* not all of it is under way yet */
    bool finished; /* all has come or failed: the sender is being told */
    struct req req;
    struct transfer transfer;
    drail_xfer_t xfer;
    drail_key_t key;
    drail_mem_t *mem; /* the receiver's buffer */
    int result;       /* what reading_advance() said at last */
    void *buffer;
    size_t bytes;
    uint32_t id;
    struct link *link;           /* that brought the announcement */
    uint64_t completed, told_ns; /* when its sender was last told of it */
};

struct mailbox {
    struct inbox notes, messages;
    uint32_t note_seq, message_seq; /* of the next that we send */
    uint32_t announced;             /* we announced so many */
    /* number of the last one that the peer has finished, and its status */
    _Atomic uint64_t finished;
    struct reading *reading;   /* NULL: none has been read yet */
    uint16_t asked;            /* number of our last atomic by message, … */
    _Atomic uint16_t answered; /* … and of the last answer, */
    struct wire_atomic answer; /* which is this */
};

/* What links do with what arrives. */
extern const struct link_handlers mailbox_handlers;

#endif
