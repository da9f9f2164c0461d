/* SPDX-License-Identifier: BSD-3-Clause */
/* A link's queue of request DTOs. */
#ifndef DRAIL_LINKS_QUEUE_H
#define DRAIL_LINKS_QUEUE_H

#include <dat2/udat.h>

#include "dapl_rail/links/link.h"

struct region;

enum verb {
    VERB_WRITE,
    VERB_WRITE_IMMED,
    VERB_READ,
    VERB_SEND,
    VERB_FETCH_ADD,
    VERB_CMP_SWAP
};

struct dto {
    enum verb verb;
    DAT_LMR_TRIPLET local;
    DAT_RMR_TRIPLET remote;
    uint64_t operand, compare;
    uint32_t immed;
    /* for the journal: of the local memory, and the remote one on each rail */
    const struct region *region;
    const DAT_RMR_CONTEXT *rmr;
};

static inline bool is_atomic(unsigned verb)
{
    return verb == VERB_FETCH_ADD || verb == VERB_CMP_SWAP;
}

static inline DAT_DTO_COOKIE cookie_suppressed(const struct link *link)
{
    return (DAT_DTO_COOKIE){.as_64 = (uintptr_t)link | COOKIE_SUPPRESSED};
}

/* That of this number, between ops_tail and ops_head. */
static inline struct op *op_at(const struct link *link, uint64_t number)
{
    uint64_t place = number & link->ops_mask;
    return link->ops[place / OPS_CHUNK] + place % OPS_CHUNK;
}

/* That whose event is next, of those that have one; there is one. */
static inline struct op *op_first(const struct link *link)
{
    return op_at(link, link->ops_tail);
}

/* Posts a DTO as it is, for whoever keeps account of it. */
DAT_RETURN dto_post(struct link *link, struct dto *d, DAT_DTO_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags);
/* Posts a DTO; done NULL: completion suppressed. DRAIL_EAGAIN: no room. */
int link_post(struct link *link, struct dto *dto,
              const struct completion *done);
/* Posts one that does nothing but tell that those before it are complete. */
int link_mark(struct link *link);
/* DTOs for which there is room, or an error when the link is down. */
int link_room(const struct link *link);
/* An op and those before it are complete. */
void link_retire(struct op *op, int status);
/* A lost link is up again. */
void link_resume(struct link *link);
/* No event tells this request or message any more; either may be NULL. */
void link_forget(struct link *link, const struct req *req,
                 const struct timed_message *message);
/* Posts the link's last request. */
bool link_post_last(struct link *link);
/* Its EP is ending: sees to it that an event tells when all is flushed. */
void link_flush(struct link *link);
/* That event has come. */
void link_flush_done(struct link *link);

#endif
