/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has been posted on a link and is not known to be complete: enough to
 * post it again, on any rail. A record for each DTO, also for those without an
 * event, in the order of posting. What a send carries stays in its slot.
 */
#ifndef DRAIL_LINKS_FAILOVER_JOURNAL_H
#define DRAIL_LINKS_FAILOVER_JOURNAL_H

#include <stdint.h>
#include <string.h>

#include "dapl_rail/links/link.h"
#include "dapl_rail/links/queue.h"

struct record {
    uint64_t local, remote;
    const struct region *region; /* of local; NULL: of the link's own buffers */
    uint32_t bytes, immed;
    uint8_t verb;
    bool remotes;          /* rmr is filled in */
    DAT_RMR_CONTEXT rmr[]; /* of each rail */
};

/* Grows with what the link has under way. Links that are their peer's only one
 * have none, nor have those whose rails do not tell what has
 * been delivered. */
int journal_open(struct link *link);
void journal_close(struct link *link);

/* That of the DTO with this number, which counts from 0. */
static inline struct record *journal_at(const struct link *link,
                                        uint64_t number)
{
    return (struct record *)(link->journal + ((number & link->journal_mask)
                                              << link->record_shift));
}

/* Room for twice as many. 0, or DRAIL_ENOMEM. */
int journal_grow(struct link *link);
/* Is there room for the DTO that is posted next? */
static inline bool journal_has_room(struct link *link)
{
    return !link->journal ||
           link->posted - link->retired <= link->journal_mask ||
           !journal_grow(link);
}

/* Keeps the DTO that is posted next. */
static inline void journal_keep(struct link *link, const struct dto *d)
{
    if (!link->journal)
        return;
    struct record *r = journal_at(link, link->posted);
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
    for (unsigned at = 2; at < link->record_rmrs; at++)
        r->rmr[at] = d->rmr[at];
}

/* Does the peer consume a receive for it? */
static inline bool is_told(unsigned verb)
{
    return verb == VERB_SEND || verb == VERB_WRITE_IMMED;
}

/* The peer has received so many messages of this link, ever. *until is set to
 * the number of the first DTO after them. 0, or -1: that can't be. */
int journal_until(const struct link *link, uint64_t received, uint64_t *until);
/* The DTO again, for this rail; not of a send, but on its own rail. */
struct dto journal_dto(const struct link *link, const struct record *r,
                       unsigned rail);

#endif
