/* SPDX-License-Identifier: BSD-3-Clause */
/* What has arrived, in the order of its sending. */
#ifndef DRAIL_MESSAGES_INBOX_H
#define DRAIL_MESSAGES_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct slot;
struct wire;

/* What has arrived of one notification or message. */
struct inbox_entry {
    _Atomic uint32_t arrived;  /* rails whose parts have all come */
    _Atomic uint32_t expected; /* rails on which it travels, 0: unknown */
    _Atomic uint32_t id;
    struct slot *slot;            /* where the bytes of a message are */
    uint8_t eps[DRAIL_MAX_RAILS]; /* on which parts have come, by rail */
};

/*
 * Arrivals in the order of their sequence numbers. A peer's messages that we
 * have not delivered hold at least one credit each, so there are at most
 * nrails * eps * depth of them and the ring never wraps onto a live entry.
 */
struct inbox {
    _Atomic(struct inbox_entry *) ring;
    uint32_t mask;
    uint32_t next;         /* sequence number that is delivered next */
    uint32_t last, likely; /* rails of the last one, and of the last two */
};

int inbox_open(struct inbox *box, unsigned capacity);
/* The same, but for the memory, which comes with the first arrival. */
void inbox_defer(struct inbox *box, unsigned capacity);
void inbox_close(struct inbox *box);
/* Enters a part that came over an EP of a rail. 0, -1: not a valid sequence, or
 * it has this number twice; or DRAIL_ENOMEM. */
int inbox_put(struct inbox *box, const struct wire *wire, unsigned rail,
              unsigned ep, uint32_t rails, struct slot *slot);
struct inbox_entry *inbox_next(const struct inbox *box);
bool inbox_ready(const struct inbox *box);
/* What has this number and is not delivered, or NULL. */
struct inbox_entry *inbox_find(const struct inbox *box, uint32_t seq);
/* Passes on to the next. */
void inbox_pop(struct inbox *box);

#endif
