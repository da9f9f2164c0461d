/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inbox: the notifications of one peer, in the order of sending. The peer
 * may send at most nrails * eps * depth that have not been delivered, as each
 * holds at least one credit. So the ring never wraps onto a live entry.
 */
#ifndef DRAIL_MESSAGES_INBOX_H
#define DRAIL_MESSAGES_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct wire;

/* One notification, perhaps only parts of it. */
struct inbox_entry {
    _Atomic uint32_t arrived;  /* rails whose parts have all arrived */
    _Atomic uint32_t expected; /* rails that carry a part; 0: unknown */
    _Atomic uint32_t id;
    uint8_t eps[DRAIL_MAX_RAILS]; /* by rail: EPs whose parts have arrived */
};

struct inbox {
    struct inbox_entry *ring;
    uint32_t mask;
    uint32_t next;         /* sequence number of the next one to deliver */
    uint32_t last, likely; /* rails of the last one, and of the last two */
    uint32_t seen[2];      /* of the INBOX_RECENT now, and those before */
};

#define INBOX_RECENT 256u

/* Rails of as many notifications as that, or more; 0: none has come. */
static inline uint32_t inbox_recent(const struct inbox *box)
{
    return box->seen[0] | box->seen[1];
}

/* 0 or DRAIL_ENOMEM. */
int inbox_open(struct inbox *box, unsigned capacity);
void inbox_close(struct inbox *box);
/* Enters a part that has arrived over an EP of a rail. 0, or -1: the sequence
 * number is not valid, or the part was there already. */
int inbox_put(struct inbox *box, const struct wire *wire, unsigned rail,
              unsigned ep, uint32_t rails);
/* The entry that is delivered next, whether all of it has arrived or not. */
static inline struct inbox_entry *inbox_next(const struct inbox *box)
{
    return &box->ring[box->next & box->mask];
}
/* Has all of it arrived? */
static inline bool inbox_ready(const struct inbox *box)
{
    struct inbox_entry *a = inbox_next(box);
    uint32_t arrived = atomic_load_explicit(&a->arrived, memory_order_acquire);
    return arrived &&
           arrived == atomic_load_explicit(&a->expected, memory_order_relaxed);
}
/* The next entry has been delivered. */
void inbox_pop(struct inbox *box);

#endif
