/* SPDX-License-Identifier: BSD-3-Clause */
/* A link's registered memory: slots that receive messages, and slots from which
 * messages are sent. */
#ifndef DRAIL_LINKS_SLOTS_H
#define DRAIL_LINKS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct link;
struct rail;

/* The first bytes of a slot lie apart, close to those of other slots: most
 * messages are no longer than this, and many links then touch little memory. */
#define SLOT_HEAD 64u

/* A receive buffer. */
struct slot {
    struct link *link;
    unsigned char *data; /* the first SLOT_HEAD bytes of the message, … */
    unsigned char *rest; /* … and those that follow */
    uint32_t bytes;
    uint16_t
        deferred; /* number of the next deferred slot (incoming_replay.h) */
    bool idle;    /* holds no message: is posted, or will be on the next EP */
    bool spare;   /* of slot_spare(); never posted */
};

struct slots {
    struct slot *all;
    unsigned count, posted; /* receive slots; those that are posted */
    unsigned char *heads;   /* of receive and send slots, in turn */
    unsigned char *buffers; /* receive slots, send slots, those of carriers */
    struct piece *piece;    /* the memory of both */
    size_t buffers_bytes, slot_bytes;
    DAT_LMR_CONTEXT lmr_context;
    struct spare *spares;
};

/* The slot's number among its link's, from 1 on. */
#define SLOT_NUMBER(slot) ((uint16_t)((slot) - (slot)->link->slots.all + 1))

/*
 * Receives that are posted beyond those of credits. Messages that need no
 * credit take them: three credit messages can be under way (each returns at
 * least half of the depth, rounded down: of 5 and a borrowed one, two), the
 * reply to an atomic, the two messages that rendezvous are finished (of a
 * withdrawn one and of the next), a withdrawal, and the message of
 * link_try_settle().
 */
#define SPARE_RECEIVES 8

/* SPARE_RECEIVES, and the receives for what comes for other links. */
unsigned spare_receives(const drail_t *t);
/* The longest message that this rail carries in a slot. */
size_t eager_bytes(const struct rail *rail);
/* The longest piece of a longer message; 0: these do not go in pieces. */
size_t piece_bytes(const struct rail *rail);
/* Length of a slot: a header, and an eager message or a key. */
size_t slot_bytes(const drail_t *t);

/* Allocates the slots of a link whose slots.count is set. 0 or an error. */
int slots_open(struct link *link);
void slots_close(struct link *link);
/* Posts the slot on the link's EP. 0 or an error. */
int slot_post(struct slot *slot);
/* The slot holds no message any more: posts it if there is an EP, else
 * ep_open() will. 0 or an error. */
int slot_recycle(struct slot *slot);
/* A slot outside of registered memory, for a message that another link has
 * brought. NULL: out of memory. */
struct slot *slot_spare(struct link *link);
/* Copies bytes of the slot's message, from offset `at` on. */
void slot_read(const struct slot *slot, size_t at, void *to, size_t bytes);

#endif
