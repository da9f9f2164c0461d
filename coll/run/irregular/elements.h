/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of an irregular collective: what the user has given for a start,
 * and how far they have been dealt. */
#ifndef DCOLL_ELEMENTS_H
#define DCOLL_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "coll/build/offer.h"
#include "coll/schedule.h"

struct dcoll_request;

/* Of one call. The user's arrays stay the user's; they are read at each start.
 * Labelled: counts and places; else each element says where it is to go. */
struct elements {
    const unsigned char *send;
    unsigned char *recv;
    size_t element; /* bytes */
    const size_t *send_counts, *send_displs;
    const size_t *recv_counts, *recv_displs;
    size_t count;       /* not labelled: in send, … */
    const size_t *now;  /* … or, persistent, there; NULL: count */
    size_t destination; /* not labelled: offset of its uint32_t in an element */
    size_t room;        /* elements that recv takes, where it is not counted */
    size_t *found;      /* labelled: those that came from each rank, or NULL */
    size_t *received;   /* not labelled: those that came, or NULL */
};

/* What a request needs to deal them. */
struct dealing {
    uint32_t *counter; /* by destination: of DISTRIBUTE, less than the period */
    uint32_t *bucket;  /* by counter, or by destination: where it is dealt to */
    uint64_t *dealt;   /* by destination, since the buckets were opened; while
                          they are delivered by source: those that came */
    uint64_t *came;    /* by source */
    struct offer *offers; /* by source: EXPECT, what it has for this rank */
    int verdict;  /* of this start: what does not fit is not delivered */
    int owed;     /* the verdict of an earlier start, which the caller has
                     not asked for yet */
    int refused;  /* OFFER: the call's own error, which all are told */
    bool mapped;  /* OFFER: rails map SEND, so that peers read it without the
                     kernel */
    bool *pulled; /* by destination: OFFER, it reads something from SEND */
};

/* Not labelled: elements in send, and whom one of them is for. */
static inline size_t elements_count(const struct elements *e)
{
    return e->now ? *e->now : e->count;
}

static inline uint32_t elements_destination(const struct elements *e,
                                            const unsigned char *element)
{
    uint32_t dst;
    memcpy(&dst, element + e->destination, sizeof dst);
    return dst;
}

/* Bytes from the begin of SEND to what is for that rank, and to the end of
 * all of it. */
size_t elements_begin(const struct elements *e, unsigned to);
size_t elements_send_extent(const struct elements *e, unsigned nranks);

/* Does what came, dealing.arrived by source, fit to what the user expects? 0,
 * or what he is to be told. */
int elements_check_arrived(const struct dcoll_request *q);
/* dealing.arrived becomes where each source's elements begin in RECV. */
void elements_place(struct dcoll_request *q);
/* Bytes from the begin of RECV to the end of what is expected. */
size_t elements_extent(const struct dcoll_request *q);

int dealing_open(struct dealing *d, unsigned nranks);
void dealing_close(struct dealing *d);

/* Bytes of a bundle that is to be moved, all of its room if it says there what
 * is missing; 0: it is longer. */
size_t bundle_length(const unsigned char *bundle, size_t room);

/* DCOLL_DISTRIBUTE, DCOLL_COLLECT; DCOLL_DELIVER. 0, or an error of the team.
 */
int deal_elements(struct dcoll_request *q, const dcoll_op_t *op);
int deliver_elements(struct dcoll_request *q, const dcoll_op_t *op);

#endif
