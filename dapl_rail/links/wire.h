/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent over links: the headers of messages. */
#ifndef DRAIL_LINKS_WIRE_H
#define DRAIL_LINKS_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_type {
    WIRE_NOTIFY = 1, /* a notification, or its part on this rail */
    WIRE_EAGER,      /* a message: its bytes follow */
    WIRE_RENDEZVOUS, /* a message to be read: drail_key_t follows */
    WIRE_WITHDRAWN,  /* the rendezvous with this sequence number is void */
    WIRE_FINISHED,   /* rendezvous `id` has been read, with the status in seq */
    WIRE_ATOMIC,     /* struct wire_atomic follows */
    WIRE_ATOMIC_REPLY,
    WIRE_CREDIT,   /* nothing but credits */
    WIRE_PIECE,    /* of a message of `bytes`; begins at its byte `id` */
    WIRE_PUT,      /* a notification and its put: struct wire_put, the data */
    WIRE_PROGRESS, /* the sender's reads from the peer, or writes, go on */
    WIRE_TYPES,
    /* for or about the link that the header names: failover/ */
    WIRE_IMMED,       /* an RDMA write with the immediate data in id */
    WIRE_LOSS,        /* the link is lost: how often in seq, the epoch in id,
                         messages received on it in bytes */
    WIRE_PROBE,       /* asks for an acknowledgement: a heartbeat */
    WIRE_FINAL_COUNT, /* the sender closes; messages received in bytes */
    WIRE_CARRIED_ACK  /* so many carried messages have come: seq;
                         peer_outstanding() in bytes */
};

/* The header of each message. Both ends have the same build and byte order,
 * which the hello of the connection checks. */
struct wire {
    uint8_t type;
    uint8_t parts;    /* notify: EPs of each rail that carry a part */
    uint16_t credits; /* returned to the peer */
    uint32_t id;
    uint32_t seq;
    uint16_t rails; /* notify: all rails that carry a part of it */
    uint16_t lane;  /* 0: for the link that brings it; else lane_number() */
    uint64_t bytes; /* length of the message */
};

/* A header in whole words. It is copied soon after it is stored. A load whose
 * bytes come from several recent stores must wait until these are in the cache;
 * a load of one stored word need not. */
struct wire_words {
    uint64_t word[sizeof(struct wire) / sizeof(uint64_t)];
};

_Static_assert(sizeof(struct wire) == 3 * sizeof(uint64_t) &&
                   offsetof(struct wire, parts) == 1 &&
                   offsetof(struct wire, credits) == 2 &&
                   offsetof(struct wire, id) == 4 &&
                   offsetof(struct wire, seq) == 8 &&
                   offsetof(struct wire, rails) == 12 &&
                   offsetof(struct wire, lane) == 14 &&
                   offsetof(struct wire, bytes) == 16,
               "the fields are where wire_words_of() has them");

static inline struct wire_words wire_words_of(struct wire w)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (struct wire_words){
        {w.type | (uint64_t)w.parts << 8 | (uint64_t)w.credits << 16 |
             (uint64_t)w.id << 32,
         w.seq | (uint64_t)w.rails << 32 | (uint64_t)w.lane << 48, w.bytes}};
#else
    struct wire_words words;
    memcpy(&words, &w, sizeof words);
    return words;
#endif
}

/*
 * The 32 bits of immediate data of an RDMA write that notifies: credits in the
 * lowest bits, above them the notification (messages/note.c). Credits that do
 * not fit wait for the next message.
 */
#define IMMED_CREDIT_BITS 4
#define IMMED_CREDITS     ((1u << IMMED_CREDIT_BITS) - 1)
#define IMMED_NOTE_BITS   (32 - IMMED_CREDIT_BITS)

/* Where the bytes that follow are to be written. */
struct wire_put {
    uint64_t address;
    uint32_t rmr_context; /* of the rail of the link that it is sent on */
    uint32_t unused;
};

struct wire_atomic {
    uint16_t op;
    uint16_t id; /* of the request */
    uint32_t rmr_context;
    uint64_t address;
    uint64_t operand;
    uint64_t compare;
    uint64_t old;
    int64_t status;
};

#endif
