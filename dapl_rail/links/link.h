/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to a peer over a rail: an EP with its queue of DTOs, its
 * buffers for messages, and its credits. What happens on it goes up through
 * functions that the layers above have given: link_handlers for what arrives,
 * completion for what ends.
 */
#ifndef DRAIL_LINKS_LINK_H
#define DRAIL_LINKS_LINK_H

#include <dat2/udat.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/rails/rail.h"

struct timed_message;
struct peer;
struct req;

/* Whom to tell when a DTO completes, and what they want to hear. */
struct completion {
    /* In the rail's thread; status 0 or a DRAIL_E…. NULL: nobody. */
    void (*ended)(struct link *link, const struct completion *done, int status);
    struct req *req;
    struct timed_message *message;
    uint64_t start_ns;
    uint64_t bytes;
};

/*
 * The cookie of a DTO is the address of its op or, with one of these bits, of
 * the slot that receives, and of the link: of its last request, which tells
 * that all have come back, and of those whose completion is suppressed, which
 * have an event only if something goes wrong.
 */
enum {
    COOKIE_RECEIVE = 1,
    COOKIE_LAST = 2,
    COOKIE_SUPPRESSED = 4,
    COOKIE_CARRIED = 6, /* struct carried */
    COOKIE_BITS = 7
};

/* A DTO with a completion event. */
struct op {
    struct link *link;
    uint64_t posted; /* DTOs posted up to and with this one */
    uint64_t sent;   /* sends among them */
    struct completion done;
} __attribute__((aligned(CACHE_LINE)));
_Static_assert(sizeof(struct op) == CACHE_LINE, "an op is a cache line");

/* Their places do not move, and more are made when so many are under way; the
 * first ones come with the link. */
#define OPS_CHUNK 2u

/* Bytes of a link's last request, which is no message. Mostly it is flushed;
 * one that arrives tells the peer that the EP is to end. */
#define LAST_BYTES 1u

/* Most messages are no longer than this, with their header. Their places lie
 * close to one another: those of longer messages are as long as the longest,
 * and many links would touch much memory with them. */
#define SLOT_HEAD 64u

/* A receive buffer. */
struct slot {
    struct link *link;
    unsigned char *data; /* SLOT_HEAD bytes of the message, … */
    unsigned char *rest; /* … and those that follow */
    uint32_t bytes;
    uint16_t later; /* the next one of carrier.later */
    bool idle;      /* holds nothing: it is posted, or will be on the next EP */
    bool spare;     /* for what comes over another link */
};

/* Where it is among its link's, from 1 on. */
#define SLOT_NUMBER(slot) ((uint16_t)((slot) - (slot)->link->slots + 1))

/* A message that needs no credit and leaves when there is room. The peer has
 * asked for it, and asks again only when it has it; of a withdrawal see
 * link_withdraw(). */
enum reply_kind { REPLY_ATOMIC, REPLY_FINISHED, REPLY_WITHDRAWN, REPLIES };

struct reply {
    struct wire wire;
    bool due;
    uint8_t bytes;
    unsigned char data[48];
};

/*
 * CONNECTING: it has never been up, and this rank still waits for that.
 * LOST: it has no EP that is up, and what it is to do goes over another link
 * (lost.h).
 * DOWN: it has ended; the EP has been disconnected, but DTOs may still be under
 * way.
 * FLUSHED: all have come back, nothing reads or writes their memory any more.
 */
enum link_state {
    LINK_CONNECTING,
    LINK_UP,
    LINK_LOST,
    LINK_DOWN,
    LINK_FLUSHED
};

/* The EP, of which a link may have several, one after the other. ENDING: until
 * all that was under way has come back. */
enum ep_state { EP_NONE, EP_CONNECTING, EP_UP, EP_ENDING };

/* How the EP of a lost link is made to end; link_force(). */
enum ending { ENDING_FIRST, ENDING_ABRUPTLY, ENDING_RESET };

#define NO_EPOCH UINT32_MAX

/* What another link does meanwhile, and how far both sides are; lost.c. */
struct lost {
    uint32_t deaths;      /* of EPs that had been up, … */
    uint32_t counted;     /* … and those in the statistics */
    bool never_up;        /* the EP that ends is none of them, so far */
    uint32_t told, heard; /* epochs in which counts were sent, and have come;
                             NO_EPOCH: none yet */
    uint64_t received;    /* the peer has received so many, as it said then */
    bool synced;          /* this is accounted for: the rest may be carried */
    struct link *carrier; /* perhaps this link itself, over its next EP */
    uint64_t at, until;   /* record that is next; those before until the peer
                             has, but for reads */
    uint64_t op;          /* next op, of `at` or later */
    uint64_t tried;       /* records that have been posted before */
    uint64_t part;        /* bytes of the present one that are under way, … */
    bool written;         /* … all of them, but not the message after them */
    unsigned pending;     /* DTOs on the carrier, … */
    uint64_t detoured;    /* … and those that are complete, ever */
    uint32_t last;        /* number of the last message on the carrier */
    uint64_t since_ns;    /* it waits, or waited last, for the peer's count */
    bool down;            /* its rail counts it among those that are lost */
    uint64_t retry_ns;    /* next look at another EP for it; 0: not yet set */
    uint64_t asked_ns;    /* that one's connection was begun */
    unsigned backoff_ms;
};

/* A DTO on one link for another; carrier.c. Its cookie is the address. */
struct carried {
    struct link *link; /* that carries it */
    struct link *lane; /* whose it is; NULL: only between the two ends */
    uint32_t bytes;
    enum carried_as { CARRIED_DATA, CARRIED_MESSAGE, CARRIED_ACK } as;
    uint64_t number; /* DTOs of the lane that are complete with it; 0: no more
                        than before */
} __attribute__((aligned(8)));

/* Messages for lost links, which need no credits, at most so many that the
 * peer has not acknowledged; as many acknowledgements are under way then. */
#define WINDOW    4u
#define CARRIED   32u /* DTOs of lost links on one at once */
#define ACK_BYTES 64u

struct carrier {
    struct carried ring[CARRIED];
    unsigned head, tail;
    uint32_t sent, done, acked;           /* messages to the peer */
    uint32_t arrived, ack_sent, ack_done; /* from it */
    bool ack_due;
    uint16_t later; /* slot with what came while threads were at work, or 0 */
};

/* How it was at the last look; silence.c. */
struct silence {
    uint64_t ended;         /* DTOs that were complete */
    uint64_t bytes;         /* that had passed, as the provider tells */
    uint32_t acked;         /* messages that the peer had acknowledged */
    bool owed;              /* an event */
    bool told, owes;        /* by the provider: the peer's system an answer */
    bool answered[2];       /* by the peer, since the look before, … */
    bool alive[2];          /* … and some sign of life; and at that look */
    unsigned looks;         /* without a sign of life */
    uint64_t ns;            /* silent for so long, while others were not */
    uint64_t answer_ms;     /* as the provider tells */
    uint64_t ahead;         /* bytes before the next event, … */
    uint64_t ahead_ns;      /* … which is owed for so long */
    uint64_t byte_ps;       /* that a byte takes, at most; 0: not measured */
    uint64_t posted, asked; /* DTOs, and those that a question has followed */
};

/* What a link needs beside others of its peer's; beside.h. */
struct beside {
    struct lost lost;
    struct carrier carrier;
    struct silence silence;
};

struct link {
    struct rail *rail;
    struct peer *peer;
    unsigned index; /* of the EP among those of its rail and peer */
    int error;
    DAT_EP_HANDLE ep;
    struct link *next_end; /* ends.c */
    enum link_state state;
    enum ep_state ep_state;
    bool established; /* has been up */
    bool begun;       /* the present EP is being connected */
    bool closed;      /* its events are dropped */
    bool broken;      /* it did not take a DTO: is to be lost */
    enum ending ending;
    uint64_t ending_ns; /* when that was begun */
    uint64_t up_ns;     /* its EP was last up since */

    /* queue.c: DTOs complete in the order of posting. */
    uint64_t posted, retired, signalled, fence_at;
    uint64_t full_at; /* posted, when there is no room for more */
    uint64_t sent, sent_retired, sent_signalled;
    struct op **ops; /* chunks; NULL: not made yet */
    uint64_t ops_head, ops_tail;
    uint32_t ops_mask;
    bool last_posted; /* the last request, whose event tells of all others, … */
    bool last_come;   /* … and has come */
    uint8_t record_shift, record_rmrs; /* journal.h, … */
    uint32_t journal_mask;             /* … its places, … */
    unsigned char *journal;            /* … NULL: what is lost is lost */
    uint64_t immeds;   /* RDMA writes posted that are messages */
    uint64_t received; /* messages of the peer's that have come on it, ever */

    /* credits.c */
    int credits; /* -1: one has been borrowed */
    unsigned owed;
    unsigned reserved; /* send slots, each with a credit */
    unsigned next;     /* send slot */

    /* link.c */
    struct slot *slots;
    unsigned nslots, receives; /* receives: those under way */
    unsigned char *heads;      /* link.c: places of short messages, … */
    unsigned char *buffers;    /* … and of others */
    struct piece *piece;       /* they are this one's */
    size_t buffers_bytes, slot_bytes;
    DAT_LMR_CONTEXT lmr_context;
    struct link *next_closed;
    struct spare *spares; /* slots for what comes over other links */

    struct reply *replies; /* REPLIES; NULL: there was none yet */
    /* beside.h: constant where it is the only one */
    struct lost *lost;
    struct carrier *carrier;
    struct silence *silence;
    char *why; /* it has ended; base/sentence.h */
} __attribute__((aligned(CACHE_LINE)));

/* What the layer above does with what arrives; drail.handlers. */
struct link_handlers {
    /* Before the first link to a peer is made; after the last one is gone. */
    int (*prepare)(struct peer *peer);
    void (*release)(struct peer *peer);
    /* A message of this type has come, in the rail's thread. The slot is the
     * handler's until slot_return(). NULL, or what is wrong with it. */
    const char *(*arrived[WIRE_TYPES])(struct slot *slot);
    /* The same for the note of link_write_immed(); the slot holds nothing. */
    const char *(*noted)(struct slot *slot, uint32_t note);
};

/* Receives beyond those that credits stand for: three messages of credits can
 * be under way (each gives back at least half of the depth, rounded down: of 5
 * and a borrowed one, two), the reply to an atomic, the words that two
 * rendezvous are finished (of a withdrawn one, and of the next), a withdrawal,
 * and the peer's last message (link_settled). */
#define SPARE_RECEIVES 8
/* Request DTOs per EP and unit of depth. */
#define REQUESTS_PER_RECEIVE 4

/* Receives that are posted besides those of credits. */
unsigned spare_receives(const drail_t *t);
/* DTOs of one link that may have events. */
unsigned link_events(const struct rail *rail);
/* Request DTOs of one link that are not its own. */
unsigned link_foreign(const drail_t *t);
/* Bytes of a slot: header, and an eager message or a key. */
size_t slot_bytes(const drail_t *t);

/* It has no EP yet; see link_renew(). */
int link_open(struct rail *rail, struct peer *peer, unsigned index,
              struct link **out);
/* Gives it up; links_bury() frees it. */
void link_close(struct link *link);
/* When the rail's queue of events is empty: of what has been closed, frees the
 * EPs that are drained, and the rest of those without an EP. At the end, all.
 * Have EPs been freed? */
bool links_bury(struct rail *rail, bool all);
/* Ends the connection: what is under way comes back, flushed, and is then
 * reported with this error. */
void link_down(struct link *link, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Has the connection ended, with nothing under way any more? */
bool link_flushed(struct link *link);
/* … and have all receives come back? Verbs providers crash on
 * events that come after their EP is gone. */
bool link_drained(struct link *link);
/* The same by the rail's fault, or it does not come up: the link is lost and
 * goes on over another of the peer's. Where that can't be, as link_down(). */
void link_lost(struct link *link, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* It is up again, or has ended. */
void link_lost_ends(struct link *link);
/* An EP for it, the first one or another, with the receives that are free
 * posted. */
int link_renew(struct link *link);
/* May the peer's first request for it be accepted? */
static inline bool link_is_new(const struct link *link)
{
    return link->ep_state == EP_NONE && !link->established &&
           link->state <= LINK_LOST && !link->lost->deaths;
}
/* A lost link's EP that has come back whole is freed. */
bool link_bury_ep(struct link *link);
/* Just lost, as its wire is dead: it takes less patience until it is forced. */
void link_hurry(struct link *link);
/* Should it have come back by now? What has, may wait in the rail's queue. */
bool link_overdue(const struct link *link);
/* That has been taken: what has not come back is made to, or given up. */
void link_force(struct link *link);
/* For a message of this link that has come over another one; NULL: out of
 * memory. */
struct slot *slot_spare(struct link *link);
/* Copies bytes of the slot's message, from this one on. */
void slot_read(const struct slot *slot, size_t at, void *to, size_t bytes);
/* The slot receives again; owe: its message had needed a credit. */
void slot_return(struct slot *slot, bool owe);
/* The same, its message had needed a credit, when the rail is next found to
 * have no event, or with the next of these: whoever has received the message
 * goes on sooner. Returned at once where a credit message is due. */
void slot_return_soon(struct slot *slot);
static inline void slots_return_now(struct rail *rail)
{
    struct slot *slot = rail->read;
    rail->read = NULL;
    if (slot)
        slot_return(slot, true);
}

#endif
