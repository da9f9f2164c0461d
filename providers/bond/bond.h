/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bond provider: an IA that moves the data of its EPs over several other
 * IAs, its members. It opens them through the genuine registry, so they may be
 * of any provider.
 *
 * An EP of the bond has one connection (struct bond_conn). A connection has a
 * link for each member: an EP of the member, with registered buffers. One link
 * is the lead. Long requests use all links.
 *
 * Order. A peer sees the same order as over one rail:
 *
 *  1. Messages, short writes and short reads go over the lead only, in the
 *     order of their posts. The member keeps that order.
 *  2. A long write is cut. Its body goes over all links at once. Its tail (at
 *     most a cache line) goes over the lead when the whole body is complete. So
 *     its last byte is written last.
 *  3. Requests after a long write go over the lead after its tail. Only bodies
 *     may overtake earlier requests. A body does so only if no unfinished
 *     earlier request accesses the same remote memory, or, for a read, the same
 *     local memory.
 *  4. When the lead is lost, both ends close it. Another link becomes the lead
 *     only when both ends have handled all that arrived over the lost one.
 *
 * Exactly once. Each message has a number: the receiver drops a message that it
 * already has. A body can be written again, because the peer can't use it
 * before the tail arrives. After each write over the lead, the bond writes a
 * mark: the number of the write, into a word of the peer. If the lead is lost,
 * the peer tells the last mark that it has. The writes up to that mark are
 * done; the bond repeats the later ones. Only the first of these (or a piece of
 * it) may have been done already.
 *
 * The files, in reading order. Each file uses only the files below it:
 *
 *  transport.c    the table of the functions that core calls
 *  loop.c         the thread of a member
 *  connect.c      setting up and ending connections
 *  join.c         the links that join a connection
 *  failover.c     lost links
 *  progress.c     posts and polls of the consumer
 *  complete.c     completions of the members
 *  arrival.c      messages of the peer
 *  transfer.c     requests: the part that goes over the lead
 *  body.c         requests: the part that goes over all links
 *  redo.c         posting lost ops again
 *  keys.c         keys of the peer's memory
 *  deliver.c      messages that wait for the consumer's receives
 *  message.c      messages to the peer; credits
 *  op.c           requests to members
 *  request.c      when a request of the consumer is complete
 *  link.c         the life of a link: its EP, its buffers
 *  thread.c sleep.c  threads; consumers that sleep
 *  range.c        LMRs, and the table where peers read the members' contexts
 *  zone.c         protection zones
 *  hello.c        the private data that the bonds exchange
 *  member.c       opening the members; their service points
 *  params.c       the parameters of dat.conf
 *
 * Locks, in this order: ia->lock (connect.c, join.c), b->lock (all files below
 * these), ep->lock, locks of the members. A member never calls the bond.
 */
#ifndef DAPL_BOND_H
#define DAPL_BOND_H

#include <pthread.h>

#include "providers/core/core.h"
#include "providers/core/params.h"

#define BOND_MAX_MEMBERS  8
#define BOND_MAX_EPS      1024
#define BOND_ZONES        256
#define BOND_NONE         BOND_MAX_MEMBERS /* no member */
#define BOND_FIRST_MEMBER 0                /* its link begins a connection */
#define BOND_NO_REQUEST   UINT64_MAX
#define BOND_MS           1000000u /* ns */

struct bond_ia;
struct bond_conn;
struct bond_link;

/* ---------------------------------------------------------- parameters --- */

enum bond_policy { BOND_EVEN, BOND_ADAPTIVE };

struct bond_params {
    unsigned count; /* members */
    char names[BOND_MAX_MEMBERS][CORE_PARAM_NAME];
    enum bond_policy policy;
    size_t threshold; /* shorter requests go over the lead, whole */
};

/* Returns 0; -1 after one line on stderr. */
int bond_params_parse(const char *ia_name, const char *text,
                      struct bond_params *p);
/* Says on stderr what is wrong with a member. Returns -1. */
int bond_member_bad(const struct bond_ia *b, unsigned member, const char *why);

/* ------------------------------------------------------------- members --- */

struct bond_member {
    struct bond_ia *b;
    unsigned index;
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, dto, conn; /* conn: of connection requests, too */
    DAT_CNO_HANDLE cno;              /* of dto */
    DAT_PSP_HANDLE join_psp;         /* where links join a connection */
    DAT_CONN_QUAL join_qual;
    struct sockaddr_in6 address; /* or sockaddr_in */
    DAT_COUNT events;            /* room in dto for links' completions */
    struct bond_link *links;
    pthread_t thread, watcher;
    unsigned threads;       /* 0: none runs; 1: thread; 2: both */
    _Atomic uint32_t watch; /* state of the watcher: sleep.c */
};

/* The members' part of a protection zone. */
struct bond_zone {
    uint32_t id;   /* core_pz.id */
    unsigned uses; /* ranges and connections; 0: this place is free */
    DAT_PZ_HANDLE pz[BOND_MAX_MEMBERS];
    DAT_LMR_HANDLE table[BOND_MAX_MEMBERS];
    DAT_RMR_CONTEXT table_context[BOND_MAX_MEMBERS];
};

/* ---- memory ---- */

struct bond_range { /* core_mr.tp */
    struct bond_zone *zone;
    DAT_LMR_HANDLE lmr[BOND_MAX_MEMBERS];
    DAT_LMR_CONTEXT context[BOND_MAX_MEMBERS];
    uint64_t retry_at; /* ns: a member could not free its LMR before */
};

/* The members' contexts of one range: peers read the entry by RDMA. While the
 * entry changes, `again` differs from `key`. */
struct bond_entry {
    _Atomic uint32_t key;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS];
    _Atomic uint32_t again;
};

/* --------------------------------------------------------------- hello --- */

#define BOND_FIRST 1u /* a consumer's connection; its private data follow */
#define BOND_JOIN  2u /* a link joins the connection `to`; its token follows */

/* Precedes the private data. The magic also shows that both ends have the same
 * byte order. */
struct bond_hello {
    uint32_t magic;
    uint8_t kind;
    uint8_t size;     /* of the private data */
    uint16_t members; /* hash of count and names */
    uint32_t to;      /* BOND_JOIN: the peer's connection */
    uint32_t epoch;   /* BOND_JOIN: bond_path.epoch */
};
#define BOND_MAGIC       0xb04d0001u
#define BOND_PRIVATE_MAX (CORE_MAX_PRIVATE_DATA - sizeof(struct bond_hello))

struct bond_said {
    struct bond_hello hello;
    unsigned char data[BOND_PRIVATE_MAX];
};

/* Returns the bytes to be sent. */
DAT_COUNT bond_hello_say(const struct bond_ia *b, unsigned kind, uint32_t to,
                         uint32_t epoch, DAT_COUNT size, const void *data,
                         struct bond_said *said);
/* Reads private data of a peer. False: the peer is no bond. */
bool bond_hello_read(const void *data, DAT_COUNT bytes, struct bond_said *said);
uint16_t bond_members_hash(const struct bond_params *p);

/* ------------------------------------------------------------ messages --- */

enum bond_message_kind {
    BOND_DATA,  /* a piece of a send, or immediate data; in order */
    BOND_INTRO, /* struct bond_intro */
    BOND_NEWS,  /* a header alone: tells free slots and delivered messages, and
                   answers a ping over the same link */
    BOND_READY, /* all links have joined that can join */
    BOND_BYE,   /* the sender disconnects */
    BOND_ENDED, /* struct bond_ended */
    BOND_PING,  /* asks for a sign of life */
};

#define BOND_LAST      1u /* the last piece */
#define BOND_SOLICITED 2u
#define BOND_IMMED     4u /* of an RDMA write: no bytes follow */
#define BOND_ASK       8u /* the sender waits until the message is delivered */

struct bond_header {
    uint8_t kind, flags;
    uint16_t bytes;     /* that follow */
    uint32_t returned;  /* slots of this link that the sender has freed, ever */
    uint32_t delivered; /* all BOND_DATA before this number are delivered */
    uint32_t number;    /* of BOND_DATA */
    uint32_t immed, pad;
    uint64_t total, offset; /* bytes of the whole message, of this piece */
};

/* The first message of each side over each link. */
struct bond_intro {
    uint32_t id; /* of the sender's connection */
    uint32_t count;
    uint64_t table; /* address of its struct bond_entry's */
    uint64_t mark;  /* address of the link's mark */
    uint64_t token; /* of the sender's connection */
    DAT_RMR_CONTEXT mark_context, pad;
    struct bond_intro_member {
        DAT_RMR_CONTEXT table, pad;
        uint64_t qual; /* of its join_psp; 0: links can't join */
        struct sockaddr_in6 address;
    } member[BOND_MAX_MEMBERS];
};

struct bond_ended {
    uint32_t member, epoch;
    uint32_t expected; /* the next BOND_DATA */
    uint32_t pad;
    uint64_t mark; /* the last mark that the peer has written here */
};

#define BOND_SLOTS      64   /* receives of a link */
#define BOND_RESERVE    8    /* so many are not for BOND_DATA */
#define BOND_SLOT_BYTES 4096 /* with the header */
#define BOND_DATA_MAX   (BOND_SLOT_BYTES - sizeof(struct bond_header))
#define BOND_PIECE      (256u << 10) /* the most bytes of a read or write op */
#define BOND_OPS        128          /* requests to members of a connection */
#define BOND_SHORT      512 /* shorter messages, header included, are copied */

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
    bool ordered; /* a BOND_DATA */
    struct bond_conn *conn;
    struct bond_link *link; /* over which it was posted last */
    struct bond_op *next;
    uint64_t request; /* of the EP, or BOND_NO_REQUEST */
    uint64_t offset, bytes;
    uint64_t mark;   /* of a write over the lead (0: none); a key to be read */
    uint64_t serial; /* the order in which ops were first posted */
    unsigned place;  /* of its buffer in struct bond_region */
    unsigned share;  /* of a body: the member that it was cut for */
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
    bool ended;        /* the member has reported the end of the EP */
    uint64_t ended_at; /* ns: when the bond first saw that; 0: not yet */
    DAT_EP_HANDLE ep;
    struct bond_region *region;
    DAT_LMR_HANDLE lmr, mark_lmr;
    DAT_LMR_CONTEXT context;        /* of all but the mark */
    DAT_RMR_CONTEXT remote_context; /* of the mark */
    unsigned posted;   /* requests and receives that have not completed */
    unsigned requests; /* those of them that are no receives */
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
    uint64_t marks;         /* writes that were marked, so far */
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
    uint32_t epoch;         /* of its last link; 0: none yet */
    bool told;              /* the peer was told of its end */
    uint32_t peer_ended;    /* the last epoch whose end the peer told, … */
    uint32_t peer_expected; /* … and the number and mark that it told then */
    uint64_t peer_mark;
    uint64_t mark;     /* the last mark written here: to be told to the peer */
    uint64_t retry_at; /* ns: the next attempt to join */
    uint64_t pause;    /* ns: between attempts; 0: none has failed yet */
    bool joined;       /* a link has joined before */
    unsigned failures; /* attempts without an answer, before any has joined */
    struct bond_op *lost;  /* ops to be posted over another link */
    DAT_RMR_CONTEXT table; /* of the peer: of its struct bond_entry's, … */
    uint64_t qual;         /* … and where links join */
    struct sockaddr_in6 address;
    double rate; /* bytes per ns, as measured; 0: not yet */
};

struct bond_key {
    uint32_t key; /* 0: none */
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS];
};
#define BOND_KEYS 64

struct bond_conn {          /* ep->tp, cr->tp */
    struct bond_conn *next; /* bond_ia.conns */
    struct bond_ia *b;
    struct core_ep *ep; /* NULL: none, or no longer */
    enum bond_state state;
    bool active;
    uint32_t id, peer_id;       /* peer_id: 0 before its BOND_INTRO */
    uint64_t token, peer_token; /* random numbers that no other peer knows */
    atomic_bool aborted;        /* a local error: break it */
    bool bye;                   /* the peer disconnects */
    bool peer_ready;            /* BOND_READY has arrived */
    uint64_t join_until;        /* ns: then the bond waits for no more links */
    uint64_t ask_at;            /* ns: the next ping of a disconnecting side */
    uint64_t looked;            /* ns: the last look for silent links */
    uint64_t bye_until; /* ns: then the bond waits no more for BOND_BYE */
    struct bond_zone *zone;
    struct bond_link *link[BOND_MAX_MEMBERS]; /* or NULL */
    struct bond_path path[BOND_MAX_MEMBERS];
    unsigned lead;         /* member, or BOND_NONE */
    uint64_t peer_table;   /* address */
    DAT_CR_HANDLE offered; /* a member's CR */
    /* the consumer's next event: links have joined, or all links have ended */
    DAT_EVENT_NUMBER event;
    DAT_COUNT event_size;
    unsigned char event_data[BOND_PRIVATE_MAX];
    /* requests, by number */
    uint64_t next_body, next_lead; /* the first whose part is not posted */
    unsigned reads;                /* unfinished */
    uint32_t next_number;          /* of BOND_DATA */
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
    uint32_t expected;  /* number of the next BOND_DATA */
    uint32_t delivered; /* those before this number are delivered */
    bool news;          /* the peer waits to be told `delivered` */
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
    uint32_t remote_key;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS]; /* of the remote memory */
    bool checked;                              /* these contexts are known */
    DAT_DTO_COMPLETION_STATUS failed; /* its status when all links have ended */
    bool led;           /* all that goes over the lead is posted */
    unsigned under_way; /* ops */
    uint64_t body;      /* bytes of the body; 0: it has none */
    uint64_t sent;      /* bytes over the lead */
    bool asks;          /* it is complete when the peer has delivered … */
    uint32_t number;    /* … this BOND_DATA */
    struct bond_share share[BOND_MAX_MEMBERS];
};

/* ------------------------------------------------------------------ IA --- */

struct bond_ia {
    struct core_ia *ia;
    struct bond_params params;
    char fabric_text[8 + BOND_MAX_MEMBERS * CORE_PARAM_NAME];
    char threshold_text[24];
    uint16_t hash;
    bool of_host;           /* a member reaches this host only */
    unsigned send_segments; /* of the consumer, in a piece of a message */
    struct bond_member member[BOND_MAX_MEMBERS];
    pthread_mutex_t lock;
    struct bond_zone zone[BOND_ZONES];
    struct bond_entry *table; /* by index of the key */
    struct bond_conn *conns;
    uint32_t last_id;
    struct bond_listener *listeners;
    void *(*thread_main)(void *member);
    atomic_bool stop;
    _Atomic uint32_t bell[64];
};

static inline struct bond_ia *bond_ia(struct core_ia *ia)
{
    return ia->tp;
}

/* Both families of addresses fit: @p to is at least a struct sockaddr_in6. */
static inline void bond_address_copy(void *to, const struct sockaddr *from)
{
    memcpy(to, from,
           from->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                      : sizeof(struct sockaddr_in6));
}

struct bond_listener {          /* sp->tp */
    struct bond_listener *next; /* bond_ia.listeners */
    struct core_sp *sp;
    DAT_PSP_HANDLE psp; /* of the first member */
};

/* ----------------------------------------------------------- functions --- */

/* member.c */
/* -1 after one line on stderr. */
int bond_members_open(struct bond_ia *b);
void bond_members_close(struct bond_ia *b);
/* Makes the service points where links join. */
DAT_RETURN bond_members_listen(struct bond_ia *b);
/* Makes room for so many more events of links. False: out of resources. */
bool bond_member_room(struct bond_member *m, DAT_COUNT events);
void bond_evd_wake(DAT_EVD_HANDLE evd);
/* Lets the first member's thread look at all connections. */
void bond_thread_wake(struct bond_ia *b);

/* zone.c; NULL: out of resources */
struct bond_zone *bond_zone_get(struct bond_ia *b, uint32_t id);
void bond_zone_put(struct bond_ia *b, struct bond_zone *z);

/* range.c */
DAT_RETURN bond_mr_publish(struct core_ia *ia, struct core_mr *mr);
bool bond_mr_withdraw(struct core_ia *ia, struct core_mr *mr);
const struct bond_range *bond_range_find(struct bond_ia *b, uint32_t key);

/* link.c */
struct bond_link *bond_link_new(struct bond_conn *c, unsigned member,
                                uint32_t epoch);
struct bond_link *bond_link_find(struct bond_member *m, DAT_EP_HANDLE ep);
/* Gives a slot to the member, to receive a message. */
int bond_slot_post(struct bond_link *l, struct bond_slot *slot);
/* Begins to end the link. */
void bond_link_leave(struct bond_link *l);
/* Has the link ended, and have all its completions been handled? */
bool bond_link_over(struct bond_link *l, uint64_t now);
/* Frees the EP. The link must stay until its completions are handled. */
void bond_link_close(struct bond_link *l);
void bond_link_free(struct bond_link *l);
static inline bool bond_link_usable(const struct bond_link *l)
{
    return l && l->state == BOND_LINK_UP && l->introduced;
}

/* The usable link of a member (or of BOND_NONE), or NULL. */
static inline struct bond_link *bond_usable_link(const struct bond_conn *c,
                                                 unsigned member)
{
    struct bond_link *l = member < BOND_NONE ? c->link[member] : NULL;
    return bond_link_usable(l) ? l : NULL;
}
/* The first member with a usable link, or BOND_NONE. */
unsigned bond_any_usable(const struct bond_conn *c);

/* Can requests complete? */
static inline bool bond_conn_open(struct bond_conn *c)
{
    return c->ep && !atomic_load(&c->aborted) &&
           (c->state == BOND_CONNECTED || c->state == BOND_DRAINING);
}

/* connect.c; ia->lock is held */
DAT_RETURN bond_listen(struct core_sp *sp);
void bond_unlisten(struct core_sp *sp);
DAT_RETURN bond_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                        const void *private_data);
DAT_RETURN bond_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                       const void *private_data);
void bond_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);
void bond_disconnect(struct core_ep *ep, bool graceful);
void bond_ep_release(struct core_ep *ep);
void bond_abort(struct core_ep *ep);
void bond_on_request(struct bond_member *m, const DAT_CR_ARRIVAL_EVENT_DATA *d);
void bond_on_connection(struct bond_member *m, DAT_EVENT_NUMBER event,
                        const DAT_CONNECTION_EVENT_DATA *d);
/* Does all that is due; returns when to look again. May free the connection. */
uint64_t bond_conn_look(struct bond_conn *c, uint64_t now);
void bond_conn_free(struct bond_conn *c);

/* join.c; ia->lock is held */
void bond_on_join_request(struct bond_member *m, DAT_CR_HANDLE cr,
                          const struct bond_said *asks);
/* Tries to join links that are missing; returns when to look again. */
uint64_t bond_join_look(struct bond_conn *c, uint64_t now);
/* Have all links joined that can join at present? */
bool bond_join_complete(const struct bond_conn *c);
/* An attempt to join has failed. @p answered: the peer has answered it. */
void bond_join_failed(struct bond_conn *c, unsigned member, bool answered);

/* message.c */
void bond_intro_send(struct bond_link *l);
/* A message without data of the consumer. False: there is no room now. */
bool bond_say(struct bond_link *l, enum bond_message_kind kind,
              const void *data, size_t bytes);
/* Is there a slot for a BOND_DATA? */
bool bond_may_send(const struct bond_link *l);
/* Tells the peer of free slots and delivered messages, if that is due. A
 * message that finds no room stays due. */
void bond_news_send(struct bond_conn *c);
/* The slot can be used again. */
void bond_slot_done(struct bond_slot *slot);

/* arrival.c */
void bond_on_message(struct bond_link *l, struct bond_slot *slot,
                     uint64_t bytes);

/* deliver.c */
void bond_deliver(struct bond_conn *c);
/* Flushes the receive that is being filled, and drops the waiting messages. */
void bond_deliver_end(struct bond_conn *c);

/* keys.c */
/* Finds the peer's contexts of this range. 1: found; 0: the peer was asked; -1:
 * the peer has no such range. */
int bond_key_find(struct bond_conn *c, uint32_t key,
                  DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS]);
void bond_key_read(struct bond_conn *c, const struct bond_op *op);

/* transfer.c */
/* Posts all requests that can be posted now. */
void bond_issue(struct bond_conn *c);

/* request.c */
/* Breaks the connection. The request fails later, when all links have ended:
 * then no member accesses its memory any more. ep->lock is held. */
void bond_request_fail(struct bond_conn *c, uint64_t request,
                       DAT_DTO_COMPLETION_STATUS status);
/* All links have ended: completes the requests that broke the connection. */
void bond_requests_failed(struct core_ep *ep);
/* Marks the request as done if it is complete. ep->lock is held. */
void bond_request_look(struct bond_conn *c, uint64_t request);
/* Are there requests that can't be posted yet? */
bool bond_waits(struct bond_conn *c);
/* The peer has delivered all messages before this number. */
void bond_delivered(struct bond_conn *c, uint32_t before);

/* op.c */
/* Posts a new op, which is a copy of *like. @p data: header.bytes of a message
 * of the bond's own, or NULL. False: there is no free op, or no room now. */
bool bond_op_start(const struct bond_op *like, struct bond_link *l,
                   const void *data);
void bond_op_free(struct bond_op *op);
/* Posts the op over the link. False: the member has no room now. True: it is
 * posted; or its link is lost, and the op is now a lost op. */
bool bond_op_post(struct bond_op *op, struct bond_link *l);
/* The op did not complete, because its link is lost. */
void bond_op_lost(struct bond_op *op);
/* Adds the op to a list, which is in the order of the first posts. */
void bond_op_insert(struct bond_op **at, struct bond_op *op);

/* redo.c; ep->lock is held */
/* Posts lost ops again. True: all are posted. */
bool bond_redo(struct bond_conn *c);
/* Posts the mark of the write that was posted last over the lead. */
void bond_lead_mark(struct bond_conn *c, struct bond_link *l);

/* body.c; ep->lock is held */
/* Gives a long request a body, and cuts the body into shares. */
void bond_body_cut(struct bond_conn *c, struct core_request *r);
/* Posts the shares. True: all of them are posted. */
bool bond_body_post(struct bond_conn *c, uint64_t request);
void bond_body_done(struct bond_conn *c, const struct bond_op *op);

/* complete.c */
/* Handles all that has completed or arrived at the member. */
void bond_drain(struct bond_member *m);
void bond_op_done(struct bond_op *op);

/* progress.c */
DAT_RETURN bond_post(struct core_ep *ep, const struct core_dto *dto);
void bond_recv_posted(struct core_ep *ep);
void bond_progress(struct core_ia *ia, bool sure);

/* failover.c */
/* A link is over: keeps the data of it that the peer is to be told. */
void bond_path_ended(struct bond_link *l);
/* Ends silent links, tells the peer of ended links, settles lost links. */
void bond_failover_look(struct bond_conn *c, uint64_t now);
/* Have both ends handled all that arrived over the member's last link? */
bool bond_path_settled(const struct bond_conn *c, unsigned member);
/* Frees the link, after handling the completions that name it. */
void bond_link_drop(struct bond_link *l);

/* loop.c */
void *bond_loop(void *member);

/* thread.c */
int bond_threads_start(struct bond_ia *b);
void bond_threads_stop(struct bond_ia *b);

/* sleep.c */
void *bond_watch(void *member);
void bond_watch_end(struct bond_member *m);
void bond_arm(struct core_ia *ia, uint64_t bell);
int bond_sleep(struct core_ia *ia, uint64_t bell, bool fed,
               uint64_t timeout_ns);
void bond_ring(struct core_ia *ia, uint64_t bells);

#endif
