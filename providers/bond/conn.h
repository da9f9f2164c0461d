/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections, their links, and their requests. */
#ifndef DAPL_BOND_CONN_H
#define DAPL_BOND_CONN_H

#include "providers/bond/wire.h"

#define BOND_PIECE (256u << 10) /* the most bytes of a read or write op */
#define BOND_OPS   128          /* requests to members of a connection */
#define BOND_SHORT 512 /* shorter messages, header included, are copied */

enum bond_op_kind {
    BOND_OP_MESSAGE,
    BOND_OP_WRITE,
    BOND_OP_READ,
    BOND_OP_KEY,
    BOND_OP_MARK,
    BOND_OP_RECEIVE
};

/* A request to a member, or a receive: the cookie of its completion. */
struct bond_op {
    enum bond_op_kind kind;
    bool body;    /* a part of a body */
    bool ordered; /* a numbered message */
    bool quiet;   /* the member reports it only if it fails */
    struct bond_conn *conn;
    struct bond_link *link; /* over which it was posted last */
    struct bond_op *next;   /* in bond_link.first, or in another list */
    uint64_t request;       /* of the EP, or BOND_NO_REQUEST */
    uint64_t offset, bytes;
    uint64_t mark;   /* of a write over the lead (0: none); a key to be read */
    uint64_t serial; /* the order in which ops were first posted */
    unsigned losses; /* links that were lost before it completed */
    unsigned place;  /* of its buffer in struct bond_region */
    DAT_DTO_COMPLETION_STATUS status; /* not DAT_DTO_SUCCESS: this end can't
                                         post it */
    /* of a body */
    unsigned share;       /* the member that it was cut for */
    uint64_t began, took; /* ns: its post */
    DAT_RETURN ret;       /* of its post */
    struct bond_header header;
};

/* --------------------------------------------------------------- links --- */

struct bond_slot {
    struct bond_op receive;
    struct bond_slot *next; /* in bond_conn.waiting */
    struct bond_header *at; /* in the link's region */
};

enum bond_link_state {
    BOND_LINK_CONNECTING,
    BOND_LINK_UP,
    BOND_LINK_LEAVING, /* until its last event and completions have come */
};

struct bond_region { /* registered for each link */
    union {
        uint64_t mark;            /* the peer writes it */
        unsigned char page[4096]; /* a member may register whole pages */
    };
    struct bond_entry entry;   /* read from the peer */
    uint64_t marked[BOND_OPS]; /* to be written to the peer's mark */
    unsigned char send[BOND_OPS][BOND_SHORT];
    unsigned char receive[BOND_SLOTS][BOND_SLOT_BYTES];
};

struct bond_link {
    struct bond_link *next; /* of the member */
    struct bond_conn *conn;
    struct bond_member *m;
    enum bond_link_state state;
    uint32_t epoch;
    uint64_t asked_at;      /* ns: of a link that asks to join */
    bool ended;             /* the member has reported the end of the EP */
    struct bond_zone *zone; /* of its memory, when it is to be freed */
    uint64_t free_at;       /* ns: the next attempt to free its memory */
    uint64_t free_pause;    /* ns: between the last two attempts; 0: none yet */
    uint64_t ending_from;   /* ns: when the bond first looked at its end, … */
    uint64_t forced_at;     /* … and when it last used force */
    DAT_EP_HANDLE ep;
    struct bond_region *region;
    DAT_LMR_HANDLE lmr, mark_lmr;
    DAT_LMR_CONTEXT context;        /* of all but the mark */
    DAT_RMR_CONTEXT remote_context; /* of the mark */
    unsigned posted;                /* events that must come */
    unsigned requests;              /* those of them that are not of receives */
    struct bond_op *first, **last;  /* posted requests, in order */
    unsigned quiet; /* those of them that follow the last loud one */
    struct bond_slot slot[BOND_SLOTS];
    /* from the peer's intro */
    bool introduced;
    uint64_t peer_mark;
    DAT_RMR_CONTEXT peer_mark_context;
    /* credits */
    uint32_t sent;          /* messages, ever */
    uint32_t peer_returned; /* slots that the peer has freed, as it told last */
    uint32_t returned;      /* slots that were freed here, ever, … */
    uint32_t told;          /* … and as the peer was told last */
    uint64_t marks;         /* writes over the link that the peer can tell of */
    bool bye;               /* BOND_BYE has come over the link, … */
    uint64_t arrived;       /* … and the peer had so many of them then */
    /* signs of life */
    bool alive;      /* a message or completion has come since the last look */
    bool asked;      /* the peer's ping waits for an answer */
    bool asks;       /* a ping was sent, and no message has arrived since */
    uint64_t lived;  /* ns: the last look at which the link was alive */
    uint64_t heard;  /* ns: the same, or the link owed no sign of life */
    uint64_t silent; /* ns: the time since then, as far as this end looked */
    uint64_t wire_bytes; /* health.bytes at the last look; 0: unknown */
    uint64_t pinged;
};

/* ---------------------------------------------------------- connections --- */

enum bond_state {
    BOND_OFFERED,    /* passive: the consumer has a CR */
    BOND_CONNECTING, /* active, or accepted */
    BOND_JOINING,    /* its first link is up; others join */
    BOND_CONNECTED,
    BOND_DRAINING, /* graceful disconnect: requests are unfinished */
    BOND_LEAVING,  /* the links end */
    BOND_CLOSED,
};

/* What a connection knows of a member, with or without a link. */
struct bond_path {
    uint32_t epoch;     /* of its last link; 0: none yet */
    uint32_t unsettled; /* of the link that the lost ops are of; 0: none */
    struct bond_ended peer_ended; /* as the peer told last */
    uint32_t ended;    /* epoch of the last link that has ended; 0: none yet */
    bool told;         /* the peer was told of that, … */
    uint32_t marked;   /* … of the last link that brought a mark, … */
    uint64_t mark;     /* … and of the last mark that it wrote over it */
    uint64_t retry_at; /* ns: the next attempt to join */
    uint64_t pause;    /* ns: between attempts; 0: none has failed yet */
    bool joined;       /* a link has joined before */
    unsigned failures; /* attempts without an answer, before any has joined */
    struct bond_op *lost;  /* ops to be posted over another link */
    DAT_RMR_CONTEXT table; /* of the peer: of its struct bond_entry's, … */
    uint64_t qual;         /* … and where links join */
    struct sockaddr_in6 address;
    double rate;       /* bytes per ns, as measured; 0: not yet */
    uint64_t fetching; /* bytes of bodies of reads that are under way */
};

struct bond_key { /* a range of the peer's memory */
    uint32_t key; /* 0: none */
    uint32_t zone;
    int32_t priv;
    uint64_t base, bytes;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS];
};
#define BOND_KEYS 64

struct bond_conn {          /* ep->tp, cr->tp */
    struct bond_conn *next; /* bond_ia.conns */
    struct bond_ia *b;
    struct core_ep *ep; /* NULL: none, or no longer */
    bool held;          /* bond_ep_release still needs it */
    enum bond_state state;
    bool active;
    uint32_t id, peer_id;       /* peer_id: 0 before its BOND_INTRO */
    uint64_t token, peer_token; /* random numbers that no other peer knows */
    atomic_bool aborted;        /* a local error: break it */
    bool bye;                   /* the peer disconnects */
    bool peer_ready;            /* BOND_READY has arrived */
    bool peer_gone;             /* the peer has no such connection any more */
    int32_t peer_pid;
    uint64_t join_until; /* ns: then the bond waits for no more links */
    uint64_t cut_off;    /* ns: since when no link is up; 0: one is */
    uint64_t ask_at;     /* ns: the next ping of a disconnecting side */
    uint64_t looked;     /* ns: the last look for silent links */
    uint64_t bye_until;  /* ns: then the bond waits no more for BOND_BYE */
    struct bond_zone *zone;
    struct bond_link *link[BOND_MAX_MEMBERS]; /* or NULL */
    struct bond_path path[BOND_MAX_MEMBERS];
    unsigned lead;         /* member, or BOND_NONE */
    uint64_t peer_table;   /* address */
    uint32_t peer_zone;    /* the PZ of the peer's EP */
    DAT_CR_HANDLE offered; /* a member's CR */
    /* the consumer's next event: links have joined, or all links have ended */
    DAT_EVENT_NUMBER event;
    DAT_COUNT event_size;
    unsigned char event_data[BOND_PRIVATE_MAX];
    /* requests, by number */
    uint64_t next_body, next_lead; /* the first whose part is not posted */
    unsigned fetches;              /* unfinished reads and atomics */
    unsigned partial;              /* reads whose bodies are posted in part */
    uint32_t atomics, answered;    /* sent, and those of them with an answer */
    uint64_t atomic[BOND_ATOMICS]; /* requests without an answer */
    uint32_t next_number;          /* of BOND_DATA and BOND_ATOMIC */
    uint32_t peer_delivered;       /* the peer has delivered those before it */
    uint64_t next_serial;
    struct bond_op *free_ops;
    unsigned free_count;
    struct bond_op *redo; /* lost ops that are to be posted again */
    struct bond_op ops[BOND_OPS];
    /* keys of the peer */
    bool key_asked;
    uint32_t bad_key; /* the peer has no such range */
    struct bond_key key[BOND_KEYS];
    /* arrival */
    uint32_t expected;  /* the next number */
    uint32_t delivered; /* those before this number are delivered */
    bool news;          /* the peer waits to be told `delivered` */
    struct bond_answers answers;
    bool answers_due; /* to be sent (again) */
    struct bond_slot *waiting, **waiting_end;
    atomic_bool stalled;   /* a message waits for a receive */
    struct core_wqe *into; /* the receive that is being filled, or NULL */
    struct core_wqe into_copy;
    uint64_t filled; /* bytes of that receive so far */
};

struct bond_share {       /* of a member in a body */
    uint64_t at, end;     /* offsets: of the next byte to be posted; its end */
    uint64_t bytes, left; /* all, and those not complete */
    uint64_t begun;       /* ns: the time of its first post */
    uint64_t posting;     /* ns: the duration of its posts */
};

struct bond_request { /* core_request.tp */
    uint64_t remote_address;
    uint64_t operand, compare; /* of an atomic */
    uint32_t remote_key;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS]; /* of the remote memory */
    bool checked;                              /* these contexts are known */
    DAT_DTO_COMPLETION_STATUS failed; /* its status when all links have ended */
    bool led;           /* all that goes over the lead is posted */
    unsigned under_way; /* ops */
    uint64_t body;      /* bytes of the body; 0: it has none */
    bool partial;       /* a read: more of its body is to be posted */
    uint64_t sent;      /* bytes over the lead */
    bool asks;          /* it is complete when the peer has delivered … */
    uint32_t number;    /* … the message of this number */
    bool answered;      /* an atomic, which the peer has carried out */
    struct bond_share share[BOND_MAX_MEMBERS]; /* of a body; else unset */
};

/* Can the bond's own messages go over the link? */
static inline bool bond_link_up(const struct bond_link *l)
{
    return l && l->state == BOND_LINK_UP && l->introduced;
}

/* Can requests, too? Not before it is known which requests have arrived over
 * the member's last link. */
static inline bool bond_link_usable(const struct bond_link *l)
{
    return bond_link_up(l) && !l->conn->path[l->m->index].unsettled;
}

/* The usable link of a member (or of BOND_NONE), or NULL. */
static inline struct bond_link *bond_usable_link(const struct bond_conn *c,
                                                 unsigned member)
{
    struct bond_link *l = member < BOND_NONE ? c->link[member] : NULL;
    return bond_link_usable(l) ? l : NULL;
}

static inline bool bond_is_atomic(const struct core_request *r)
{
    return r->op == CORE_FETCH_ADD || r->op == CORE_CMP_SWAP;
}

/* Does the request bring data of the peer? A fence waits for these. */
static inline bool bond_fetches(const struct core_request *r)
{
    return r->op == CORE_READ || bond_is_atomic(r);
}

/* Can requests complete? */
static inline bool bond_conn_open(struct bond_conn *c)
{
    return c->ep && !atomic_load(&c->aborted) &&
           (c->state == BOND_CONNECTED || c->state == BOND_DRAINING);
}

#endif
