/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of an irregular all-to-all: the user's buffers, counts and
 * places of one start, and what this rank learns about them while it is under
 * way. */
#ifndef DCOLL_ELEMENTS_H
#define DCOLL_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "coll/build/irregular/offer.h"
#include "coll/schedule.h"

struct dcoll_request;
struct dcoll_team;

/* The user's arguments. The arrays stay the user's; each start reads them.
 * Labelled traffic has counts and places; otherwise each element contains its
 * destination. */
struct elements {
    const unsigned char *send;
    unsigned char *recv;
    size_t element; /* bytes */
    const size_t *send_counts, *send_displs;
    const size_t *recv_counts, *recv_displs;
    size_t count;      /* unlabelled: elements in send, … */
    const size_t *now; /* … or, persistent, where that number is; NULL: count */
    size_t destination; /* unlabelled: offset of its uint32_t in an element */
    size_t room;      /* elements that recv has room for, without recv_counts */
    size_t *found;    /* labelled: filled with the number from each rank */
    size_t *received; /* unlabelled: set to the number received; both may be
                         NULL */
    int wrong;        /* an error in the arguments that these were made of */
    bool listed;      /* they are lists of blocks, in bytes, whose places are
                         checked (neighborhood.h) */
};

/* The state of a start. */
struct dealing {
    uint32_t *counter; /* by destination: of DISTRIBUTE, below the period */
    uint32_t *bucket;  /* by counter, or by destination: the bucket to use */
    uint64_t *dealt;   /* by destination: elements dealt since the buckets were
                          opened. DELIVER, by source: elements to place */
    uint64_t *arrived; /* by source: elements for this rank; elements_place()
                          turns it into their place in RECV */
    struct offer *offers; /* by source: EXPECT, what it offers this rank */
    int start_error;      /* the elements of this start do not fit; they are not
                             delivered */
    int unreported_error; /* that of an earlier start, which a handle has not
                             reported yet */
    int call_error; /* this rank's arguments are wrong: OFFER tells all ranks */
    bool mapped;    /* OFFER: rails map SEND, so peers read it without the
                       kernel */
    bool *pulled;   /* by destination: OFFER, it reads from my SEND */
};

static inline size_t elements_count(const struct elements *e)
{
    return e->now ? *e->now : e->count;
}

/* Unlabelled: the destination of an element. */
static inline uint32_t elements_destination(const struct elements *e,
                                            const unsigned char *element)
{
    uint32_t dst;
    memcpy(&dst, element + e->destination, sizeof dst);
    return dst;
}

/* Offset in SEND of the elements for rank `to`; bytes of SEND up to the end of
 * all elements; and bytes of RECV up to the end of all expected ones. */
size_t elements_begin(const struct elements *e, unsigned to);
size_t elements_send_extent(const struct elements *e, unsigned nranks);
size_t elements_extent(const struct dcoll_request *q);

/* Elements in a buffer; index: of the argument that says so. */
struct range {
    size_t begin, end;
    unsigned index;
};
/* 0, or an error that names two which overlap. Sorts them. */
int ranges_check(struct dcoll_team *team, const char *name, struct range *r,
                 unsigned n);

/* The error of a receiver that expects another number of elements. */
int elements_unexpected(struct dcoll_team *team, const struct elements *e,
                        unsigned from, uint64_t sent);
/* Do the elements in dealing.arrived fit what the user expects? 0, or the error
 * that this call returns. */
int elements_check_arrived(const struct dcoll_request *q);
/* Tells the user how many elements came, and turns dealing.arrived into the
 * begin of each source's elements in RECV. */
void elements_place(struct dcoll_request *q);

/* 0, or DRAIL_ENOMEM; dealing_close() in either case. */
int dealing_open(struct dealing *d, unsigned nranks);
void dealing_close(struct dealing *d);

#endif
