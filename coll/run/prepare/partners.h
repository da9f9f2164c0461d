/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners: the ranks with which a schedule exchanges messages. Among thousands
 * of ranks they are few, unless the algorithm is a direct one. */
#ifndef DCOLL_PARTNER_H
#define DCOLL_PARTNER_H

#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

/* Where the memory of a rank is. */
struct target {
    drail_key_t memory, node;
    uint64_t temp_stride, node_stride; /* bytes of one start */
    uint64_t windows;                  /* offset in memory: behind TEMP */
    int64_t error; /* the rank has failed: do not connect to it */
};

struct partner {
    unsigned rank;
    int32_t due[DCOLL_TAGS]; /* notifications arrived and not consumed */
    const struct target *target;
};

struct partners {
    struct partner *at; /* ascending by rank; NULL: not known yet */
    unsigned count;
    unsigned self;
    /* Their targets: copies; or, if most ranks are partners, the result of the
     * all-gather, which ranks of one process share. */
    struct target *copies;
    drail_gathered_t *all;
};

/* Finds the partners, and allocates memory for their targets. 0 or
 * DRAIL_ENOMEM; partners_free() in either case. */
int partners_find(struct partners *p, const dcoll_schedule_t *schedule,
                  unsigned nranks, unsigned self);
/* Sets the targets of all partners. Either copies them, or takes over *all and
 * sets it to NULL. */
void partners_aim(struct partners *p, drail_gathered_t **all);
void partners_free(struct partners *p);

/* Finds a partner; NULL: that rank is none. Interpolating binary search: at
 * once if all ranks are partners. */
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
