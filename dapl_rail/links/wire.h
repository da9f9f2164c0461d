/* SPDX-License-Identifier: BSD-3-Clause */
/* What travels in a send. */
#ifndef DRAIL_LINKS_WIRE_H
#define DRAIL_LINKS_WIRE_H

#include <stdint.h>

enum wire_type {
    WIRE_NOTIFY = 1, /* a notification, or its part on this rail */
    WIRE_EAGER,      /* a message: bytes follow */
    WIRE_RENDEZVOUS, /* a message to be read: drail_key_t follows */
    WIRE_WITHDRAWN,  /* the rendezvous with this sequence number is void */
    WIRE_FINISHED,   /* the reader of rendezvous `id` has done, status in seq */
    WIRE_ATOMIC,     /* struct wire_atomic follows */
    WIRE_ATOMIC_REPLY,
    WIRE_CREDIT,  /* nothing but credits */
    WIRE_PUT,     /* a notification, with its put: struct wire_put, the data */
    WIRE_READING, /* its sender reads from the peer, or writes to it, and goes
                     on */
    WIRE_TYPES,
    /* of no link, or for another one than that which brings them; carrier.h */
    WIRE_IMMED,    /* its RDMA write with this immediate data in id has come */
    WIRE_LOST,     /* is lost: deaths in seq, epoch in id, received in bytes */
    WIRE_PROBE,    /* is the sender's peer there? */
    WIRE_FAREWELL, /* its sender closes: received in bytes; not acknowledged */
    WIRE_CARRIED /* so many such messages have come: seq; peer_ahead(): bytes */
};

/* Header of every send. Both ends are of one build and byte order (the hello
 * of the connection checks it). */
struct wire {
    uint8_t type;
    uint8_t parts;    /* notify: EPs of each rail that carry a part */
    uint16_t credits; /* receives that the sender of this gives back */
    uint32_t id;
    uint32_t seq;
    uint16_t rails; /* notify: all rails that carry a part of it */
    uint16_t lane;  /* 0: the link that brings it, else lane_number() */
    uint64_t bytes; /* length of the message */
};

/*
 * The 32 bits of immediate data of an RDMA write that notifies: credits in the
 * lowest, the rest is the notification's (note.c). Credits that don't fit wait
 * for the next message.
 */
#define IMMED_CREDIT_BITS 4
#define IMMED_CREDITS     ((1u << IMMED_CREDIT_BITS) - 1)
#define IMMED_NOTE_BITS   (32 - IMMED_CREDIT_BITS)

/* The bytes that follow are for there. */
struct wire_put {
    uint64_t address;
    uint32_t rmr_context; /* of the rail of the link that it is sent on */
    uint32_t unused;
};

struct wire_atomic {
    uint16_t op;
    uint16_t id; /* of the question */
    uint32_t rmr_context;
    uint64_t address;
    uint64_t operand;
    uint64_t compare;
    uint64_t old;
    int64_t status;
};

#endif
