/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ends of a connection send to each other. */
#ifndef DAPL_BOND_WIRE_H
#define DAPL_BOND_WIRE_H

#include "providers/bond/bond.h"

/* --------------------------------------------------------------- hello --- */

#define BOND_FIRST 1u /* a consumer's connection; its private data follow */
#define BOND_JOIN  2u /* a link joins; struct bond_join follows */
#define BOND_GONE  3u /* the answer: there is no such connection */

/* Precedes the private data. The magic also shows that both ends have the same
 * byte order. Short: networks leave little room for private data. */
struct bond_hello {
    uint32_t magic;
    uint8_t kind;
    uint8_t size;     /* of the private data */
    uint16_t members; /* hash of count and names */
};
#define BOND_MAGIC       0xb04d0004u
#define BOND_PRIVATE_MAX (CORE_MAX_PRIVATE_DATA - sizeof(struct bond_hello))

struct bond_said {
    struct bond_hello hello;
    unsigned char data[BOND_PRIVATE_MAX];
};

struct bond_join {
    uint32_t to;    /* the peer's connection */
    uint32_t epoch; /* bond_path.epoch */
    uint64_t token; /* of the peer's connection */
};

/* ------------------------------------------------------------ messages --- */

enum bond_message_kind {
    /* these two are numbered, and handled in order, once */
    BOND_DATA,   /* a piece of a send, or immediate data */
    BOND_ATOMIC, /* struct bond_atomic: the receiver carries it out */

    BOND_ANSWERS, /* struct bond_answers */
    BOND_INTRO,   /* struct bond_intro */
    BOND_NEWS,    /* a header alone: tells free slots and delivered messages,
                     and answers a ping over the same link */
    BOND_READY,   /* all links have joined that can join */
    BOND_BYE,     /* the sender disconnects; `total`: it has so many writes of
                     the receiver over this link */
    BOND_ENDED,   /* struct bond_ended */
    BOND_PING,    /* asks for a sign of life */
    BOND_BREAK,   /* the sender breaks the connection */
};

#define BOND_LAST      1u /* the last piece */
#define BOND_SOLICITED 2u
#define BOND_IMMED     4u /* of an RDMA write: no bytes follow */
#define BOND_ASK       8u /* the sender waits until the message is delivered */

struct bond_header {
    uint8_t kind, flags;
    uint16_t bytes;     /* that follow */
    uint32_t returned;  /* slots of this link that the sender has freed, ever */
    uint32_t delivered; /* all before this number are delivered */
    uint32_t number;    /* of BOND_DATA and BOND_ATOMIC */
    uint32_t immed, pad;
    uint64_t total, offset; /* bytes of the whole message, of this piece */
};

/* The first message of each side over each link. */
struct bond_intro {
    uint32_t id; /* of the sender's connection */
    uint32_t count;
    uint64_t table; /* address of its struct bond_entry's */
    uint64_t mark;  /* address of the link's mark */
    uint64_t token; /* of the sender's connection */
    DAT_RMR_CONTEXT mark_context;
    int32_t pid;        /* of the sender */
    uint32_t zone, pad; /* its EP's PZ, as in struct bond_entry */
    struct bond_intro_member {
        DAT_RMR_CONTEXT table, pad;
        uint64_t qual; /* of its join_psp; 0: links can't join */
        struct sockaddr_in6 address;
    } member[BOND_MAX_MEMBERS];
};

/* Flags are bytes, not bool: a peer may send any value. */
struct bond_atomic {
    uint64_t address, operand, compare;
    uint32_t key;
    uint8_t swap; /* compare and swap; else fetch and add */
    uint8_t pad[3];
};

/* The results of the last atomics that were carried out. */
#define BOND_ATOMICS 16 /* the most without an answer */
struct bond_answers {
    uint32_t count;  /* carried out, ever */
    uint8_t refused; /* the next one was: it may not access its word */
    uint8_t pad[3];
    uint64_t old[BOND_ATOMICS]; /* values before: by number modulo the size */
};

/* All links of the member up to this epoch have ended at the sender. */
struct bond_ended {
    uint32_t member, epoch;
    uint32_t expected; /* the next number */
    uint32_t marked;   /* epoch of the last link that brought a mark, … */
    uint64_t mark; /* … and the last mark that the receiver wrote over it */
};

#define BOND_SLOTS      64   /* receives of a link */
#define BOND_RESERVE    8    /* so many are not for BOND_DATA */
#define BOND_SLOT_BYTES 4096 /* with the header */
#define BOND_DATA_MAX   (BOND_SLOT_BYTES - sizeof(struct bond_header))

/* A range, and the members' contexts of it: peers read the entry by RDMA. While
 * the entry changes, `again` differs from `key`. */
struct bond_entry {
    _Atomic uint32_t key;
    uint32_t zone; /* the range's PZ */
    uint64_t base, bytes;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS];
    int32_t priv; /* enum dat_mem_priv_flags */
    _Atomic uint32_t again;
};

#endif
