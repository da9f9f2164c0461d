/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link's queue of requests: all DTOs but receives. Requests are numbered from
 * 0 over the life of the link, whichever EP carries them, and complete in the
 * order of posting.
 */
#ifndef DRAIL_LINKS_QUEUE_H
#define DRAIL_LINKS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

#include "dapl_rail/base/limits.h"

struct link;
struct timed_message;
struct region;
struct req;

/* The callback of a DTO that has an event, and its arguments. */
struct completion {
    /* Called in the rail's thread with status 0 or a DRAIL_E…; may be NULL. */
    void (*ended)(struct link *link, const struct completion *done, int status);
    struct req *req;
    struct timed_message *message;
    uint64_t start_ns;
    uint64_t bytes;
};

/*
 * The cookie of a DTO is an address; these bits tell of what. Without any of
 * them it is a struct op.
 */
enum {
    COOKIE_RECEIVE = 1,    /* the slot that receives */
    COOKIE_LAST = 2,       /* the link: its last request, see LAST_BYTES */
    COOKIE_SUPPRESSED = 4, /* the link: has an event only if it fails */
    COOKIE_CARRIED = 6,    /* struct carried */
    COOKIE_BITS = 7
};

/* A request with a completion event. */
struct op {
    struct link *link;
    uint64_t posted; /* requests posted up to and with this one */
    uint64_t sent;   /* sends among them */
    struct completion done;
} __attribute__((aligned(CACHE_LINE)));
_Static_assert(sizeof(struct op) == CACHE_LINE, "an op is a cache line");

/* Ops are allocated in chunks, which do not move; the first chunk is allocated
 * with the link. */
#define OPS_CHUNK 2u

/*
 * Length of an EP's last request, which is posted before the EP disconnects: as
 * requests end in order, its event tells that all others have ended. Mostly it
 * is flushed. If it arrives, it tells the peer that the EP ends.
 */
#define LAST_BYTES 1u

struct queue {
    uint64_t posted, retired; /* requests posted, and complete */
    uint64_t at_once;         /* writes that took no place here (at_once.h) */
    uint64_t placed;          /* posted before the last of these */
    uint64_t signalled;       /* posted up to the last one with an event */
    uint64_t shown;           /* complete as returned credits show */
    uint64_t fence_at;        /* a fence waits until so many are retired */
    uint64_t full_at;         /* there is no room when posted reaches this */
    uint64_t sent, sent_retired, sent_signalled; /* the same, of sends */
    struct op **ops; /* a ring of chunks; NULL: not allocated yet */
    uint64_t ops_head, ops_tail;
    uint32_t ops_mask;
    bool last_posted; /* the last request of the present EP, … */
    bool last_ended;  /* … and its event */
};

enum verb {
    VERB_WRITE,
    VERB_WRITE_IMMED,
    VERB_READ,
    VERB_SEND,
    VERB_FETCH_ADD,
    VERB_CMP_SWAP
};

/* The bytes of a send: a header, and the user's, which are in no registration.
 */
struct gather {
    DAT_LMR_TRIPLET parts[2];
};

static inline struct gather gather_of(const void *head, size_t head_bytes,
                                      const void *payload, size_t bytes)
{
    return (struct gather){{{.virtual_address = (uintptr_t)head,
                             .segment_length = (DAT_SEG_LENGTH)head_bytes},
                            {.virtual_address = (uintptr_t)payload,
                             .segment_length = (DAT_SEG_LENGTH)bytes}}};
}

struct dto {
    enum verb verb;
    DAT_LMR_TRIPLET local;
    DAT_RMR_TRIPLET remote;
    uint64_t operand, compare;
    uint32_t immed;
    /* for the journal: of the local memory, and the remote one on each rail */
    const struct region *region;
    const DAT_RMR_CONTEXT *rmr;
    struct gather *gather; /* to be copied to local; or NULL */
    bool grows;            /* a send that link_append() may make longer */
};

static inline bool is_atomic(unsigned verb)
{
    return verb == VERB_FETCH_ADD || verb == VERB_CMP_SWAP;
}

static inline DAT_DTO_COOKIE cookie_suppressed(const struct link *link)
{
    return (DAT_DTO_COOKIE){.as_64 = (uintptr_t)link | COOKIE_SUPPRESSED};
}

/* The op with this number, from ops_tail up to ops_head. */
static inline struct op *op_at(const struct queue *q, uint64_t number)
{
    uint64_t place = number & q->ops_mask;
    return q->ops[place / OPS_CHUNK] + place % OPS_CHUNK;
}

/* The op whose event comes next; there must be one. */
static inline struct op *op_first(const struct queue *q)
{
    return op_at(q, q->ops_tail);
}

/* Posts on the EP and does nothing else: the caller counts the DTO. */
DAT_RETURN dto_post(struct link *link, struct dto *d, DAT_DTO_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags);
/* Posts a request. done NULL: without an event. DRAIL_EAGAIN: no room now. */
int link_post(struct link *link, struct dto *dto,
              const struct completion *done);
/* Records what link_try_send_direct() has posted, as link_post() would have. */
void link_keep_direct(struct link *link, struct dto *d);
/* Posts an empty request with an event: it tells that all before it are
 * complete. */
int link_mark(struct link *link);
/* Requests that may still be under way. A request without an event is known to
 * be complete after a later event, or when the peer returns the credit of a
 * later message. */
static inline uint64_t queue_under_way(const struct queue *q)
{
    return q->posted - (q->shown > q->retired ? q->shown : q->retired);
}

/* How many requests there is room for; negative: the error of a link that is
 * down. */
int link_room(const struct link *link);
/* Completes this op and those before it, with this status. */
void link_retire(struct op *op, int status);
/* The link, which was lost, is up again. */
void link_resume(struct link *link);
/* From now on no completion refers to this request or message; either may be
 * NULL. */
void link_forget(struct link *link, const struct req *req,
                 const struct timed_message *message);
/* Posts the EP's last request. False: the EP does not take it. */
bool link_post_last(struct link *link);
/* While the EP is ending: posts the last request if it is still to be posted;
 * retires all requests of a link that is down when that has ended. */
void link_flush(struct link *link);
/* The last request has ended. */
void link_flush_done(struct link *link);

#endif
