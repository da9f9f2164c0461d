/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal: a record of each request that is posted and not known to be
 * complete, in the order of posting, with what is needed to post it again over
 * any rail. The bytes of a send stay in its send slot.
 *
 * A link has a journal if there is another link to the peer, and if on all
 * rails a completion means that the data are delivered (info.is_delivering).
 * Without a journal a link that is lost is down.
 */
#ifndef DRAIL_LINKS_FAILOVER_JOURNAL_H
#define DRAIL_LINKS_FAILOVER_JOURNAL_H

#include <stdint.h>
#include <string.h>

#include "dapl_rail/links/queue.h"

struct record {
    uint64_t local, remote;
    const struct region *region; /* of local; NULL: the link's own buffers */
    uint32_t bytes, immed;
    uint8_t verb;
    bool remotes;          /* rmr is filled in */
    DAT_RMR_CONTEXT rmr[]; /* by rail */
};

struct journal {
    uint8_t shift;          /* log2 of the bytes of a record */
    uint8_t rmrs;           /* length of record.rmr */
    uint32_t mask;          /* number of records - 1 */
    unsigned char *records; /* NULL: the link has no journal */
};

/* 0, also where the link has none, or DRAIL_ENOMEM. */
int journal_open(struct link *link);
void journal_close(struct link *link);

/* The record of the request with this number. */
static inline struct record *journal_at(const struct journal *j,
                                        uint64_t number)
{
    return (struct record *)(j->records + ((number & j->mask) << j->shift));
}

/* Doubles the journal. 0, or DRAIL_ENOMEM. */
int journal_grow(struct journal *j, const struct queue *q);
/* Makes room for the request that is posted next. */
static inline bool journal_make_room(struct journal *j, const struct queue *q)
{
    return !j->records || q->posted - q->retired <= j->mask ||
           !journal_grow(j, q);
}

/* Records the request with this number. */
static inline void journal_keep(const struct journal *j, uint64_t number,
                                const struct dto *d)
{
    if (!j->records)
        return;
    struct record *r = journal_at(j, number);
    r->verb = (uint8_t)d->verb;
    r->immed = d->immed;
    r->bytes = d->local.segment_length;
    r->local = d->local.virtual_address;
    r->remote = d->remote.virtual_address;
    r->region = d->region;
    r->remotes = d->rmr;
    if (!d->rmr)
        return;
    memcpy(r->rmr, d->rmr, 2 * sizeof *r->rmr); /* mostly these are all */
    for (unsigned at = 2; at < j->rmrs; at++)
        r->rmr[at] = d->rmr[at];
}

/* Does the request consume a receive of the peer's? */
static inline bool takes_receive(unsigned verb)
{
    return verb == VERB_SEND || verb == VERB_WRITE_IMMED;
}

/* The peer has received so many messages of this link since it was opened: sets
 * *delivered to the number of the first request after the last of them. -1: the
 * count is impossible. */
int journal_delivered(const struct link *link, uint64_t received,
                      uint64_t *delivered);
/* For a replay: the bytes of writes before one that was complete when it was
 * posted (at_once.h) are in the peer's memory, and may have been written over.
 */
void journal_leave_out_placed(const struct link *link);
/* The recorded request, for this rail; a send only for its own rail. */
struct dto journal_dto(const struct link *link, const struct record *r,
                       unsigned rail);

#endif
