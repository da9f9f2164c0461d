/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_PARTNER_H
#define DCOLL_PARTNER_H

#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

/* Those with whom a rank exchanges messages in a schedule: of thousands of
 * ranks few, unless the algorithm is a direct one. */

/* Where the memory of a rank is. */
struct target {
    drail_key_t memory, node;
    uint64_t temp_stride, node_stride; /* from one start's to the next's */
    uint64_t keys;                     /* in memory, behind TEMP */
    int64_t error; /* the rank can't go on: nobody connects to it */
};

struct partner {
    unsigned rank;
    int32_t due[DCOLL_TAGS]; /* notifications: arrived - consumed */
    const struct target *target;
};

struct partners {
    struct partner *at; /* by rank, ascending; NULL: not known yet */
    unsigned count;
    unsigned self;
    /* Targets: copies, or, where most ranks are partners, what the all-gather
     * has brought of all, which ranks of one process share. */
    struct target *copies;
    drail_gathered_t *all;
};

/* 0 or DRAIL_ENOMEM. Of targets there is the room. */
int partners_find(struct partners *p, const dcoll_schedule_t *schedule,
                  unsigned nranks, unsigned self);
/* What all ranks have told. It becomes the partners' own, and *all NULL, where
 * they don't copy theirs. */
void partners_aim(struct partners *p, drail_gathered_t **all);
void partners_free(struct partners *p);

/* NULL: it is none. Where all are, it is the first that is looked at. */
static inline struct partner *partner_of(const struct partners *p,
                                         unsigned rank)
{
    unsigned low = 0, high = p->count, at = rank - (rank > p->self);
    while (low < high) {
        if (at >= high || at < low)
            at = low + (high - low) / 2;
        if (p->at[at].rank == rank)
            return &p->at[at];
        if (p->at[at].rank < rank)
            low = at + 1;
        else
            high = at;
        at = low + (high - low) / 2;
    }
    return NULL;
}

#endif
