/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bond provider: an IA that moves the data of its EPs over several other
 * IAs, its members. It opens them through the genuine registry, so they may be
 * of any provider.
 *
 * An EP of the bond has one connection (struct bond_conn). This has a link for
 * each member: an EP of the member with registered buffers. One link is the
 * lead. All links serve long requests.
 *
 * Order. What a peer can see on one rail in order, it sees in order here:
 *
 *  1. Messages, short writes and short reads go over the lead only, in the
 *     order of their posts. The member keeps that order.
 *  2. A long write is cut: its body goes over all links at once, its tail (at
 *     most a cache line) over the lead, when the whole body is complete. So its
 *     last byte is written last.
 *  3. What follows a long write goes to the lead after its tail. Only bodies
 *     may overtake, and only if no earlier unfinished request accesses the same
 *     remote memory, or, before a read, the same local memory.
 *  4. When the lead is lost, both ends close it, and each has seen all that
 *     arrived over it, before another link becomes the lead.
 *
 * Exactly once. A message has a number; the receiver drops what it has had.
 * Bodies can be written again, because nobody can have used them yet. A write
 * over the lead is followed by a mark: a write of its number to a word of the
 * peer. If the lead is lost, the peer tells the last mark. The first write
 * behind that one, or piece of one, is the only one that may be repeated
 * although it was done.
 *
 * The files, in reading order. Each uses only those below it:
 *
 *  transport.c    what core calls
 *  loop.c         what a member's thread does
 *  connect.c      setting up and ending connections
 *  join.c         the links that join a connection
 *  failover.c     lost links
 *  progress.c     the consumer posts and polls
 *  complete.c     completions of the members
 *  arrival.c      messages of the peer
 *  transfer.c     requests: what goes over the lead
 *  body.c         requests: what goes over all links
 *  redo.c         lost ops are posted again
 *  keys.c         keys of the peer's memory
 *  deliver.c      messages that wait for the consumer's receives
 *  message.c      messages to the peer; credits
 *  op.c           requests to members
 *  request.c      when a request of the consumer is complete
 *  link.c         the life of a link: its EP, its buffers
 *  thread.c sleep.c  threads; consumers that sleep
 *  range.c        LMRs, and the table in which peers look up their contexts
 *  zone.c         protection zones: one of the bond is one of each member
 *  hello.c        the private data that the bonds exchange
 *  member.c       opening the members; their service points
 *  params.c       the parameters of dat.conf
 *
 * Locks, in this order: ia->lock (connections), b->lock (all below), ep->lock;
 * those of the members. A member never calls the bond.
 */
#ifndef DAPL_BOND_H
#define DAPL_BOND_H

#include <pthread.h>

#include "providers/core/core.h"
#include "providers/core/params.h"

#define BOND_MAX_MEMBERS 8
#define BOND_MAX_EPS     1024
#define BOND_ZONES       256
#define BOND_NONE        BOND_MAX_MEMBERS /* no member */

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
    DAT_EVD_HANDLE async, dto, conn; /* conn: of connections, requests, too */
    DAT_CNO_HANDLE cno;              /* of dto */
    DAT_PSP_HANDLE join_psp;         /* where links join a connection */
    DAT_CONN_QUAL join_qual;
    struct sockaddr_in6 address; /* or sockaddr_in */
    DAT_COUNT events;            /* room in dto for links' completions */
    struct bond_link *links;
    pthread_t thread, watcher;
    unsigned threads; /* of these two, so many run */
    /* sleep.c */
    _Atomic uint32_t watch;
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
    uint64_t retry_at; /* ns: a member's peer was stopped inside */
};

/* The keys of one range: peers read it by RDMA. `again` equals `key` if no
 * change is under way. */
struct bond_entry {
    _Atomic uint32_t key;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS];
    _Atomic uint32_t again;
};

/* --------------------------------------------------------------- hello --- */

#define BOND_FIRST 1u /* a consumer's connection; its private data follow */
#define BOND_JOIN  2u /* a link joins the connection `to`; its token follows */

/* Precedes the private data. Both ends have the same byte order: the magic
 * tells. */
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
/* Takes apart what a peer has sent. False: it is not of a bond. */
bool bond_hello_read(const void *data, DAT_COUNT bytes, struct bond_said *said);
uint16_t bond_members_hash(const struct bond_params *p);

/* ------------------------------------------------------------ messages --- */

enum bond_message_kind {
    BOND_DATA,  /* a piece of a send, or immediate data; in order */
    BOND_INTRO, /* struct bond_intro */
    BOND_NEWS,  /* its header: slots are free, messages were delivered; or it
                   answers a ping over the same link */
    BOND_READY, /* all links have joined that can */
    BOND_BYE,   /* the sender disconnects */
    BOND_ENDED, /* struct bond_ended */
    BOND_PING,  /* asks for a sign of life */
};

#define BOND_LAST      1u /* the last piece */
#define BOND_SOLICITED 2u
#define BOND_IMMED     4u /* of an RDMA write: no bytes follow */
#define BOND_ASK       8u /* the sender waits until it is delivered */

struct bond_header {
    uint8_t kind, flags;
    uint16_t bytes;     /* that follow */
    uint32_t returned;  /* slots of this link that were free again, ever */
    uint32_t delivered; /* BOND_DATA before this number are */
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
    uint64_t mark; /* the last one written here */
};

#define BOND_SLOTS      64   /* receives of a link */
#define BOND_RESERVE    8    /* of them for other messages than BOND_DATA */
#define BOND_SLOT_BYTES 4096 /* with the header */
#define BOND_DATA_MAX   (BOND_SLOT_BYTES - sizeof(struct bond_header))
#define BOND_PIECE      (256u << 10) /* of longer requests: an op's bytes */
#define BOND_OPS        128          /* requests to members of a connection */
#define BOND_SHORT      512 /* bytes with header that are copied to be sent */

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
    bool body, ordered; /* a part of a body; a BOND_DATA */
    struct bond_conn *conn;
    struct bond_link *link; /* that carries it */
    struct bond_op *next;
    uint64_t request; /* of the EP; UINT64_MAX: of none */
    uint64_t offset, bytes;
    uint64_t mark;   /* of a write over the lead; 0: none */
    uint64_t serial; /* the order in which they were posted */
    unsigned place;  /* of its slot */
    unsigned share;  /* of a body: the member that it was cut for */
    struct bond_header header;
};

/* --------------------------------------------------------------- links --- */

struct bond_slot {
    struct bond_op receive;
    struct bond_slot *next; /* waits for a receive of the consumer */
    struct bond_header *at; /* in the link's region */
};

enum bond_link_state {
    BOND_LINK_CONNECTING,
    BOND_LINK_UP,
    BOND_LINK_LEAVING, /* until its completions are in, and its last event */
};

struct bond_region { /* registered for each link */
    union {
        uint64_t mark;            /* the peer writes it */
        unsigned char page[4096]; /* with which a member may register it */
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
    bool ended; /* the member has reported the end of the EP, … */
    DAT_EVENT_NUMBER end_event; /* … by this event */
    uint64_t ended_at;          /* ns */
    DAT_EP_HANDLE ep;
    struct bond_region *region;
    DAT_LMR_HANDLE lmr, mark_lmr;
    DAT_LMR_CONTEXT context;        /* of all but the mark */
    DAT_RMR_CONTEXT remote_context; /* of the mark */
    unsigned posted;   /* requests and receives that have not completed */
    unsigned requests; /* of these */
    struct bond_slot slot[BOND_SLOTS];
    /* from the peer's intro */
    bool introduced;
    uint64_t peer_mark;
    DAT_RMR_CONTEXT peer_mark_context;
    /* credits */
    uint32_t sent, peer_returned; /* messages, slots of the peer */
    uint32_t returned, told;      /* slots here */
    uint64_t marks;               /* writes that were marked, so far */
    /* signs of life */
    bool alive;     /* something has arrived or completed since the last look */
    bool asked;     /* the peer has sent a ping, which is to be answered */
    bool asks;      /* a ping was sent, and nothing has arrived since */
    uint64_t lived; /* ns: the last sign of life, … */
    uint64_t heard; /* … or the last time that none was due */
    uint64_t pinged;
};

/* ---------------------------------------------------------- connections --- */

enum bond_state {
    BOND_OFFERED,    /* passive: the consumer has a CR */
    BOND_CONNECTING, /* active, or accepted */
    BOND_JOINING,    /* its first link is up; others join */
    BOND_CONNECTED,
    BOND_DRAINING, /* graceful disconnect: requests are unfinished */
    BOND_LEAVING,  /* its links end */
    BOND_CLOSED,
};

/* What a connection knows of a member, with or without a link. */
struct bond_path {
    uint32_t epoch;         /* of its last link; 0: none yet */
    bool told;              /* the peer was told of its end */
    uint32_t peer_ended;    /* the last epoch whose end the peer told, … */
    uint32_t peer_expected; /* … and with it, these two */
    uint64_t peer_mark;
    uint64_t mark;            /* to be told */
    uint64_t retry_at, pause; /* ns: the next attempt to join */
    bool joined;              /* once, or … */
    unsigned failures;        /* … so many attempts were not answered */
    struct bond_op *lost;     /* to be done over another link */
    DAT_RMR_CONTEXT table;    /* of the peer */
    uint64_t qual;
    struct sockaddr_in6 address;
    double rate; /* bytes per ns, as learnt; 0: not yet */
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
    uint32_t id, peer_id;       /* peer's: 0 until it is introduced */
    uint64_t token, peer_token; /* random: what only the two ends know */
    atomic_bool aborted;        /* a local error: break it */
    bool bye;                   /* the peer disconnects */
    bool peer_ready;            /* BOND_READY has arrived */
    uint64_t join_until;        /* ns: then the consumer is told without it */
    uint64_t ask_at;    /* ns: asks again how much the peer has delivered */
    uint64_t bye_until; /* ns: then it ends, whether the peer knows or not */
    struct bond_zone *zone;
    struct bond_link *link[BOND_MAX_MEMBERS]; /* or NULL */
    struct bond_path path[BOND_MAX_MEMBERS];
    unsigned lead;         /* member, or BOND_NONE */
    uint64_t peer_table;   /* address */
    DAT_CR_HANDLE offered; /* a member's CR */
    /* the event that is due when links have joined, or all have ended */
    DAT_EVENT_NUMBER event;
    DAT_COUNT event_size;
    unsigned char event_data[BOND_PRIVATE_MAX];
    /* requests, by number */
    uint64_t next_body, next_lead; /* the first not posted */
    unsigned reads;                /* unfinished */
    uint32_t next_number;          /* of BOND_DATA */
    uint32_t peer_delivered;       /* those before this number are */
    uint64_t next_serial;
    struct bond_op *free_ops;
    unsigned free_count;
    struct bond_op *redo; /* lost ones that are to be posted */
    struct bond_op ops[BOND_OPS];
    /* keys of the peer */
    bool key_asked;
    uint32_t bad_key; /* the peer has no such range */
    struct bond_key key[BOND_KEYS];
    /* arrival */
    uint32_t expected;  /* number of the next BOND_DATA */
    uint32_t delivered; /* those before this number are */
    bool news;          /* the peer waits to be told that */
    struct bond_slot *waiting, **waiting_end;
    atomic_bool stalled;   /* a message waits for a receive */
    struct core_wqe *into; /* the receive that is being filled, or NULL */
    struct core_wqe into_copy;
    uint64_t filled; /* its bytes so far */
};

struct bond_share {          /* of a member in a body */
    uint64_t at, end;        /* bytes: the next to be posted, the last */
    uint64_t bytes, left;    /* all, and those not complete */
    uint64_t begun, posting; /* ns: when it began; how long its posts took */
};

struct bond_request { /* core_request.tp */
    uint64_t remote_address;
    uint32_t remote_key;
    DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS]; /* of the remote memory */
    bool checked;                              /* these are known */
    DAT_DTO_COMPLETION_STATUS failed;          /* when all links have ended */
    bool begun;
    bool wrote;         /* what goes over the lead: the write was posted … */
    bool led;           /* … and all else */
    unsigned under_way; /* ops */
    uint64_t body;      /* its bytes */
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
/* Makes room for so many more events of links; false: there is none. */
bool bond_member_room(struct bond_member *m, DAT_COUNT events);
void bond_evd_wake(DAT_EVD_HANDLE evd);
/* The thread is to look at all connections. */
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
/* Begins to end it. */
void bond_link_leave(struct bond_link *l);
/* Has it ended, and have all its completions been seen? */
bool bond_link_over(struct bond_link *l, uint64_t now);
/* Frees its EP; later, what its completions name. */
void bond_link_close(struct bond_link *l);
void bond_link_free(struct bond_link *l);
static inline bool bond_link_usable(const struct bond_link *l)
{
    return l && l->state == BOND_LINK_UP && l->introduced;
}

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
/* Does what is due; returns when to look again. It may free the connection. */
uint64_t bond_conn_look(struct bond_conn *c, uint64_t now);
void bond_conn_free(struct bond_conn *c);

/* join.c; ia->lock is held */
void bond_on_join_request(struct bond_member *m, DAT_CR_HANDLE cr,
                          const struct bond_said *asks);
/* Tries to join links that are missing; returns when to look again. */
uint64_t bond_join_look(struct bond_conn *c, uint64_t now);
/* Have all links joined that can at present? */
bool bond_join_complete(const struct bond_conn *c);
void bond_join_failed(struct bond_conn *c, unsigned member, bool answered);

/* message.c */
void bond_intro_send(struct bond_link *l);
/* A message without data of the consumer. False: there is no room now. */
bool bond_say(struct bond_link *l, enum bond_message_kind kind,
              const void *data, size_t bytes);
/* Is there a slot for a BOND_DATA? */
bool bond_may_send(const struct bond_link *l);
/* Tells the peer what it waits for, if that is due. */
void bond_news_send(struct bond_conn *c);
/* The slot can be used again. */
void bond_slot_done(struct bond_slot *slot);

/* arrival.c */
void bond_on_message(struct bond_link *l, struct bond_slot *slot,
                     uint64_t bytes);

/* deliver.c */
void bond_deliver(struct bond_conn *c);
/* Gives back a receive that was being filled, and what waits for one. */
void bond_deliver_end(struct bond_conn *c);

/* keys.c */
/* The peer's contexts of this range: 1 known, 0 asked for, -1 it has none. */
int bond_key_find(struct bond_conn *c, uint32_t key,
                  DAT_RMR_CONTEXT context[BOND_MAX_MEMBERS]);
void bond_key_read(struct bond_conn *c, const struct bond_op *op);

/* transfer.c */
/* Posts what can be posted. */
void bond_issue(struct bond_conn *c);

/* request.c */
/* Breaks the connection. When its links have ended, nobody accesses the
 * request's memory any more, and it fails. ep->lock is held. */
void bond_request_fail(struct bond_conn *c, uint64_t request,
                       DAT_DTO_COMPLETION_STATUS status);
/* The links have ended: requests that broke the connection fail. */
void bond_requests_failed(struct core_ep *ep);
/* Is it complete? ep->lock is held. */
void bond_request_look(struct bond_conn *c, uint64_t request);
/* Are there requests that can't be posted yet? */
bool bond_waits(struct bond_conn *c);
/* The peer has delivered more messages. */
void bond_delivered(struct bond_conn *c, uint32_t before);

/* op.c */
/* NULL: there is none now. Some are kept for messages of the bond's own. */
struct bond_op *bond_op_new(struct bond_conn *c, enum bond_op_kind kind,
                            uint64_t request);
void bond_op_free(struct bond_op *op);
/* Gives it to the member. False: there is no room now. If the link is lost, the
 * op is, too, and this returns true. */
bool bond_op_post(struct bond_op *op, struct bond_link *l);
/* The op did not complete, because its link is lost. */
void bond_op_lost(struct bond_op *op);
/* Adds it to a list in the order in which they were first posted. */
void bond_op_insert(struct bond_op **at, struct bond_op *op);

/* redo.c; ep->lock is held */
/* A usable link's member, or BOND_NONE. */
unsigned bond_any_usable(const struct bond_conn *c);
/* Posts lost ones again. True: all are posted. */
bool bond_redo(struct bond_conn *c);
/* Follows a write over the lead. */
void bond_lead_mark(struct bond_conn *c, struct bond_link *l);

/* body.c; ep->lock is held */
/* Is the request to be cut? Then makes its shares. */
void bond_body_cut(struct bond_conn *c, struct core_request *r);
/* Posts its shares. True: all of them are posted. */
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
/* The link is over: another one may become the lead. */
void bond_path_ended(struct bond_link *l);
/* Looks for silent links, and tells of ended ones. */
void bond_failover_look(struct bond_conn *c, uint64_t now);
/* Have both ends seen all that came over the member's last link? */
bool bond_path_settled(const struct bond_conn *c, unsigned member);
/* Frees it, after all that names it. */
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
