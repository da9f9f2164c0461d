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
 *     order of their posts. The member keeps that order. Reads and writes wait
 *     until the peer has executed the atomics before them.
 *  2. A long write is cut. Its body goes over all links at once. Its tail (at
 *     most a cache line) goes over the lead when the whole body is complete. So
 *     its last byte is written last.
 *  3. Requests after a long write go over the lead after its tail. Only bodies
 *     may overtake earlier requests. A body does so only if no unfinished
 *     earlier request is an atomic, accesses the same remote memory, or, if one
 *     of the two is a read, the same local memory. A long read is all body:
 *     requests after it need not wait for it, unless they access the same
 *     memory. A request that changes what a short read fetches waits, too: if
 *     the lead is lost, the read is done again. (All this is judged by
 *     addresses, so it does not hold for memory that is mapped twice.)
 *  4. When the lead is lost, both ends close it. Another link becomes the lead
 *     only when both ends have handled all that arrived over the lost one.
 *
 * If all links are lost, the first one that returns carries only the bond's own
 * messages, until both ends know what has arrived over the lost ones.
 *
 * Exactly once. Each message has a number: the receiver drops a message that it
 * already has. An atomic is such a message: the target's bond executes it. A
 * body can be written again, because the peer can't use it before the tail
 * arrives. A write over the lead is repeated only if it has not arrived: the
 * peer's member counts these writes, and the peer tells the count when the lead
 * is lost. If a member can't count, the bond writes a mark after each write:
 * its number, into a word of the peer. Then the first write that is repeated
 * (or a piece of it) may have arrived before its mark.
 *
 * The files, in reading order. Each file uses only the files below it:
 *
 *  transport.c    the table of the functions that core calls
 *  single.c       a bond of one member is that member
 *  loop.c         the thread of a member
 *  connect/       active_side passive_side events: setting up connections
 *                 look: what the thread does at each look; end lifetime
 *                 join: the links that join a connection
 *                 hello: the private data that the bonds exchange
 *  progress.c     posts and polls of the consumer
 *  failover.c     lost links
 *  complete.c     completions of the members
 *  transfer/      sync: requests that are complete when they are posted
 *                 transfer: the part of a request that goes over the lead
 *                 redo: posting lost ops again
 *                 body: the part that goes over all links
 *                 keys: of the peer's memory
 *  message/       arrival: messages of the peer
 *                 deliver: messages that wait for the consumer's receives
 *                 atomic: atomics, which the target's bond executes
 *                 message: messages to the peer; credits
 *  links/         op: requests to members
 *                 request: when a request of the consumer is complete
 *                 link: the life of a link, its EP, its buffers
 *  members/       thread team sleep: threads; consumers that sleep
 *                 release: EPs that are freed later
 *                 range: LMRs, and the table where peers read the members'
 *                 contexts; zone: protection zones
 *                 member: opening the members; their service points
 *  params.c       the parameters of dat.conf
 *  conn.h         connections, their links, and their requests
 *  wire.h         what the two ends send to each other
 *
 * Locks, in this order: ia->lock (connect/), b->lock (connect/ and all files
 * below it), ep->lock, locks of the members. A member never calls the bond.
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
#define BOND_SHORTEST     4096         /* shorter requests are never cut */
#define BOND_TEAM_LEAST   (512u << 10) /* fewer bytes are no work for threads */
#define BOND_MS           1000000u     /* ns */

struct bond_ia;
struct bond_conn;
struct bond_link;

/* ---------------------------------------------------------- parameters --- */

enum bond_policy { BOND_EVEN, BOND_ADAPTIVE };
enum bond_engine { BOND_NONTHREADED, BOND_THREADED };

struct bond_params {
    unsigned count; /* members */
    char names[BOND_MAX_MEMBERS][CORE_PARAM_NAME];
    int policy;       /* enum bond_policy */
    int engine;       /* enum bond_engine */
    size_t threshold; /* shorter requests go over the lead, whole */
};

/* Names of the policies, and of the engines. */
extern const char *const bond_policies[], *const bond_engines[];
/* Returns 0; -1 after one line on stderr. */
int bond_params_parse(const char *ia_name, const char *text,
                      struct bond_params *p);
/* Does the bond cut a read or write of so many bytes? @p syncs: bond_ia.syncs
 */
bool bond_params_cut(const struct bond_params *p, bool syncs, uint64_t bytes);
/* Says on stderr what is wrong with a member. Returns -1. */
int bond_member_bad(const char *ia_name, const char *member, const char *why);

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
    DAT_COUNT events;            /* completions of links, at most */
    DAT_COUNT room;              /* of dto */
    bool own; /* of one of our providers, which does as the DAT specification
                 says; the only others known are those of libdaplofa */
    struct bond_release *releases; /* EPs that are freed later: release.c */
    bool of_host;                  /* it reaches this host only */
    bool counts;       /* it has counted writes: core/extensions.h, … */
    bool syncs;        /* … and synchronous RDMA */
    bool refuses;      /* it has refused to register a range: range.c */
    unsigned requests; /* of its links: sum of bond_link.requests */
    unsigned passed;   /* polls that have left it out since the last one */
    unsigned unpolled; /* quiet ops since the last poll */
    struct bond_link *links, *unfreed;
    pthread_t thread, watcher;
    unsigned threads;       /* 0: none runs; 1: thread; 2: both */
    _Atomic uint32_t watch; /* state of the watcher: sleep.c */
};

/* The members' part of a protection zone. */
struct bond_zone {
    uint32_t id;   /* core_pz.id */
    unsigned uses; /* ranges, connections, EPs and links that are freed later;
                      0: this place is free, unless the zone is leaving */
    bool leaving;  /* nothing uses it, but peers still read a table */
    DAT_PZ_HANDLE pz[BOND_MAX_MEMBERS];
    DAT_LMR_HANDLE table[BOND_MAX_MEMBERS];
    DAT_RMR_CONTEXT table_context[BOND_MAX_MEMBERS];
};

/* ---- memory ---- */

struct bond_range { /* core_mr.tp */
    const struct core_mr *mr;
    struct bond_zone *zone;
    DAT_LMR_HANDLE lmr[BOND_MAX_MEMBERS]; /* NULL: not registered there */
    DAT_LMR_CONTEXT context[BOND_MAX_MEMBERS];
    bool leaving; /* no request may use it any more */
};

/* ---- threads that post ---- */

struct bond_team { /* members/team.c */
    pthread_t thread[BOND_MAX_MEMBERS - 1];
    unsigned threads; /* that run */
    /* the work: the number of its parts that … */
    void (*run)(void *arg, unsigned part);
    void *arg;
    _Atomic uint32_t waiting;    /* … no thread has taken yet */
    _Atomic uint32_t unfinished; /* … are not done */
    _Atomic uint32_t begun;      /* works, ever */
    _Atomic uint32_t sleepers;   /* threads that sleep until the next work */
    atomic_bool joiner; /* the caller sleeps until all parts are done */
};

/* ------------------------------------------------------------------ IA --- */

struct bond_ia {
    struct core_ia *ia;
    struct bond_params params;
    const char *carriers[BOND_MAX_MEMBERS + 1]; /* ia->carriers */
    char fabric_text[8 + BOND_MAX_MEMBERS * CORE_PARAM_NAME];
    char members_text[BOND_MAX_MEMBERS * CORE_PARAM_NAME];
    char threshold_text[24];
    uint16_t hash;
    bool of_host;           /* a member reaches this host only */
    bool foreign;           /* a member's provider is not of this project */
    bool syncs;             /* all members have synchronous RDMA */
    bool spread;            /* all ranges are registered on all members */
    unsigned send_segments; /* of the consumer, in a piece of a message */
    struct bond_member member[BOND_MAX_MEMBERS];
    pthread_mutex_t lock;
    atomic_uint wanted; /* threads that must have the lock: polls leave it */
    struct bond_zone zone[BOND_ZONES];
    struct bond_entry *table; /* by index of the key */
    struct bond_conn *conns;
    uint32_t last_id;
    unsigned leads;       /* bit i: member i is the lead of a connection */
    uint64_t executed;    /* atomics of peers */
    uint64_t serve_until; /* ns */
    atomic_bool serves;   /* own threads execute them: no consumer polls */
    void (*serve)(struct bond_ia *b);
    struct bond_listener *listeners;
    void *(*thread_main)(void *member);
    struct bond_team team;
    atomic_bool woken; /* the first member's thread has yet to take the event */
    atomic_bool stop;
    _Atomic uint32_t bell[64];
};

static inline struct bond_ia *bond_ia(struct core_ia *ia)
{
    return ia->tp;
}

/* Our providers see to cancellation in each call (core.h, rule 7). In a call of
 * another one, a thread could be cancelled that holds the bond's lock. */
static inline int bond_cancel_off(const struct bond_ia *b)
{
    return b->foreign ? core_cancel_off() : 0;
}

static inline void bond_cancel_as(const struct bond_ia *b, int state)
{
    if (b->foreign)
        core_cancel_as(state);
}

/* Both families of addresses fit: @p to is at least a struct sockaddr_in6. */
static inline void bond_address_copy(void *to, const struct sockaddr *from)
{
    memcpy(to, from,
           from->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                      : sizeof(struct sockaddr_in6));
}

/* single.c: core_transport.stand_in */
DAT_RETURN bond_single_open(const char *name, const char *params,
                            DAT_COUNT async_qlen, DAT_EVD_HANDLE *async,
                            DAT_IA_HANDLE *ia);

struct bond_listener {          /* sp->tp */
    struct bond_listener *next; /* bond_ia.listeners */
    struct core_sp *sp;
    DAT_PSP_HANDLE psp; /* of the first member */
};

#endif
