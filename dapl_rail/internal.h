/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of dapl_rail/ share. Ownership in short:
 *
 *   drail -> rail (IA, PZ, EVDs, PSP)        one per rail
 *         -> peer -> link (EP, slots)        one link per rail and peer
 *         -> region (one LMR per rail)       registered memory
 *
 * Thread rule: a rail and its links are touched by one thread at a time: by
 * thread r of the team while drail.parallel is set, by the caller otherwise.
 * What several rails' threads touch at once is _Atomic.
 */
#ifndef DRAIL_INTERNAL_H
#define DRAIL_INTERNAL_H

#include <netinet/in.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#include "dapl_rail/stripe/choose.h"
#include "dapl_rail.h"

#define CACHE_LINE    64
#define RAIL_BIT(r)   (1u << (r))
#define MAX_RANKS     1024u
#define MS            1000000ull /* nanoseconds in a millisecond */
#define WAIT_SLICE_US 100000u    /* longest sleep between looks at the flags */

/* ----------------------------------------------------------- settings --- */

/* Settings that are the library's own affair and not in drail_config_t. */
struct tuning {
    unsigned spin_us;
    unsigned cache_regions;
    bool extensions;
};

/* Defaults and environment into both; the first malformed variable is told in
 * err (may be NULL) and leaves its default. */
int settings_load(drail_config_t *cfg, struct tuning *tuning,
                  drail_error_t *err);

/* ------------------------------------------------------------ requests --- */

/* What a drail_req_t holds. */
struct req {
    _Atomic uint32_t pending; /* rails whose last DTO has not completed */
    _Atomic int status;
    uint32_t peer;
};

/* A DTO with a completion event. Its cookie is the address of this. */
struct op {
    struct link *link;
    struct req *req;         /* told when it completes, or NULL */
    uint64_t index;          /* of this op on its link */
    uint64_t posted;         /* DTOs posted up to and with this one */
    uint32_t sent;           /* sends among them */
    struct message *message; /* part of this one, NULL: not timed */
    uint64_t start_ns;
    uint64_t bytes;
};

/* What should happen when a DTO completes. */
struct completion {
    struct req *req;
    struct message *message;
    uint64_t start_ns;
    uint64_t bytes;
};

enum verb { VERB_WRITE, VERB_READ, VERB_SEND, VERB_FETCH_ADD, VERB_CMP_SWAP };

struct dto {
    enum verb verb;
    DAT_LMR_TRIPLET local;
    DAT_RMR_TRIPLET remote;
    uint64_t operand, compare;
};

/* -------------------------------------------------------------- timing --- */

/*
 * The adaptive policy learns per size (powers of two) and mode (way of driving
 * the rails: nonthreaded, or threaded with each kind of team), as both decide
 * what is worth it. A slot is one of each.
 */
#define TIMED_SIZES 40
#define TIMED_MODES 3
#define TIMED_SLOTS (TIMED_MODES * TIMED_SIZES)

/* A striped or whole message under way that is timed. */
struct message {
    _Atomic uint64_t end_ns;  /* 0: not complete */
    _Atomic uint32_t pending; /* rails whose part is not complete */
    _Atomic bool failed;
    bool gap;        /* those before it were not timed */
    uint32_t set;    /* what the choice has said */
    uint32_t learns; /* rails whose rate it tells */
    unsigned slot;
    uint64_t start_ns;
    uint64_t bytes;
} __attribute__((aligned(CACHE_LINE)));

#define TIMED_MESSAGES 256u /* under way at once; more are not timed */

struct timing {
    struct choice choices[TIMED_SLOTS];
    struct message ring[TIMED_MESSAGES];
    uint32_t head, tail;          /* started, and looked at */
    bool gap;                     /* there was no room for the last one */
    uint64_t frontier;            /* latest end of those looked at */
    unsigned latest[TIMED_MODES]; /* slot striped last, 0: none */
};

/* ------------------------------------------------------------ messages --- */

enum wire_type {
    WIRE_NOTIFY = 1, /* a notification, or its part on this rail */
    WIRE_EAGER,      /* a message: bytes follow */
    WIRE_RENDEZVOUS, /* a message to be read: drail_key_t follows */
    WIRE_FINISHED,   /* the reader of a rendezvous has done */
    WIRE_ATOMIC,     /* struct wire_atomic follows */
    WIRE_ATOMIC_REPLY,
    WIRE_CREDIT, /* nothing but credits */
};

/* Header of every send. Both ends are of one build and byte order (the hello
 * of the connection checks it). */
struct wire {
    uint8_t type;
    uint8_t reserved;
    uint16_t credits; /* receives that the sender of this gives back */
    uint32_t id;
    uint32_t seq;
    uint32_t rails; /* notify: all rails that carry a part of it */
    uint64_t bytes; /* length of the message */
};

struct wire_atomic {
    uint32_t op;
    uint32_t rmr_context;
    uint64_t address;
    uint64_t operand;
    uint64_t compare;
    uint64_t old;
    int64_t status;
};

/* A receive buffer; the cookie of its receive is its address with bit 0, that
 * of a link's last request is the link's with bit 1. */
struct slot {
    struct link *link;
    unsigned char *data;
    uint32_t bytes;
};

/* What has arrived of one notification or message. */
struct arrival {
    _Atomic uint32_t arrived;  /* rails on which a part has come */
    _Atomic uint32_t expected; /* rails on which it travels, 0: unknown */
    _Atomic uint32_t id;
    struct slot *slot; /* where the bytes of a message are */
};

/*
 * Arrivals in the order of their sequence numbers. A peer's messages that we
 * have not delivered hold at least one credit each, so there are at most
 * nrails * depth of them and the ring never wraps onto a live entry.
 */
struct inbox {
    struct arrival *ring;
    uint32_t mask;
    uint32_t next;         /* sequence number that is delivered next */
    uint32_t last, likely; /* rails of the last one, and of the last two */
};

/* --------------------------------------------------------------- rails --- */

/* Parts of messages whose completions were found together. */
struct burst {
    unsigned slot;
    double before; /* rate without them, … */
    double keep;   /* … and the part of it that counts with them */
    double bytes, ns;
};

struct rail {
    drail_t *owner;
    unsigned index;
    drail_rail_info_t info;
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async_evd, dto_evd, conn_evd, cr_evd;
    DAT_PZ_HANDLE pz;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
    DAT_MEM_PRIV_FLAGS read_sink_priv; /* more, for targets of RDMA reads */
    bool atomics;
    uint64_t max_rdma;
    unsigned request_depth; /* request DTOs outstanding per EP */
    unsigned dto_qlen, links;
    int cpu;                  /* core of the rail's thread, -1: not pinned */
    double rate[TIMED_SLOTS]; /* bytes/ns, smoothed; 0: not measured */
    uint64_t busy_until;      /* end of the last timed part */
    struct burst burst;
    drail_rail_stats_t stats;
    drail_error_t error;
} __attribute__((aligned(CACHE_LINE)));

enum link_state { LINK_CONNECTING, LINK_UP, LINK_DOWN };

/* The connection to one peer over one rail. */
struct link {
    struct rail *rail;
    struct peer *peer;
    DAT_EP_HANDLE ep;
    enum link_state state;
    bool established; /* has been up */
    int error;

    /* request queue: DTOs complete in the order of posting */
    uint64_t posted, retired, signalled, fence_at;
    uint32_t sent, sent_retired, sent_signalled;
    struct op *ops;
    uint64_t ops_head, ops_tail;
    uint32_t ops_mask;

    /* messages: see post.c for the credit rule */
    unsigned credits, owed;
    bool posting; /* within link_send: no other message may start */
    struct slot *slots;
    unsigned nslots, receives;   /* receives: those under way */
    bool last_posted, last_done; /* see link_flushed */
    unsigned char *buffers;
    int buffers_fd;
    size_t buffers_bytes, slot_bytes;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    struct wire_atomic reply; /* to the peer's atomic */
    bool reply_due;
    struct wire_atomic answer; /* of the peer to ours */
    bool answered;

    char why[160];
} __attribute__((aligned(CACHE_LINE)));

/* How to reach one rail of a rank. */
struct card {
    char name[DRAIL_NAME_MAX];
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
};

struct peer {
    unsigned rank;
    bool connected;
    _Atomic int error; /* first error of one of its links */
    _Atomic unsigned error_rail;
    struct card *cards; /* nrails of them */
    struct link *links[DRAIL_MAX_RAILS];
    struct inbox notes, messages;
    uint32_t note_seq, message_seq; /* of the next that we send */
    uint32_t rendezvous;            /* we started so many */
    _Atomic uint32_t finished;      /* the peer finished so many */
};

/* -------------------------------------------------------------- memory --- */

/* A registered range; drail_mem_t are views of it. */
struct region {
    struct region *next, *prev; /* most recently used first */
    drail_t *owner;
    unsigned char *address;
    size_t bytes;
    unsigned access;
    unsigned users;
    int fd; /* of memory that we allocated, else -1 */
    unsigned nrails;
    DAT_LMR_HANDLE lmr[DRAIL_MAX_RAILS];
    DAT_LMR_CONTEXT lmr_context[DRAIL_MAX_RAILS];
    DAT_RMR_CONTEXT rmr_context[DRAIL_MAX_RAILS];
};

struct drail_mem {
    struct region *region;
    unsigned char *address;
    size_t bytes;
};

struct cache {
    struct region head; /* ring of all regions */
    drail_cache_stats_t stats;
};

/* ------------------------------------------------------------- handles --- */

/*
 * Polling before a sleep. After a moment it gives the core away between polls,
 * as what it waits for may need this very core; and where waits have been long
 * it polls less. Belongs to one waiting thread.
 */
struct spin {
    unsigned max_us, us;
    uint64_t start_ns;
    unsigned turns;
};

struct drail_job {
    unsigned rank, size, ppn;
    int fd;                    /* to the supervisor */
    int broken;                /* out of step with the supervisor: this error */
    uint64_t id;               /* random, the same on all ranks */
    _Atomic bool *interrupted; /* in memory shared with the supervisor */
};

struct drail {
    drail_job_t *job;
    drail_config_t cfg;
    char names[DRAIL_MAX_RAILS][DRAIL_NAME_MAX];
    struct tuning tuning;
    struct rail *rails;
    unsigned nrails;
    struct peer *peers;
    struct card *cards;
    struct cache cache;
    struct team *team;
    bool parallel; /* the rails belong to the team's threads */
    _Atomic bool interrupted;
    struct spin spin;      /* of the caller, for events */
    unsigned turn;         /* roundrobin */
    struct timing *timing; /* adaptive */
    cpu_set_t affinity;    /* the caller's own */
    bool pinned;
    drail_error_t error;
    drail_error_t *_Atomic last; /* that of the last failure */
};

/* -------------------------------------------------------------- errors --- */

/* Each writes the sentence, makes it drail_last_error and returns code. */
int fail(drail_t *t, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int rail_fail(struct rail *rail, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "dat_ep_connect(shm1): DAT_… (DAT_…)", code DRAIL_EDAT or DRAIL_ENOMEM */
int dat_fail(struct rail *rail, const char *call, DAT_RETURN status);
/* What a public call on a peer returns: adds the sentence that only it can
 * know (the peer's error, a time that ran out, an interruption). */
int outcome(drail_t *t, struct peer *peer, int rc, const char *call);
int error_set(drail_error_t *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dat_text(DAT_RETURN status, char *text, size_t size);

/* --------------------------------------------------------- rails.c … --- */

int rail_open(struct rail *rail, const char *name, bool extensions,
              drail_error_t *err);
/* qlen: DTO events that the EVD should hold. */
int rail_listen(struct rail *rail, unsigned qlen);
void rail_close(struct rail *rail);
int rails_find(const char *name, DAT_PROVIDER_INFO *info);

struct locality; /* the machine's topology */
struct locality *locality_open(void);
void locality_close(struct locality *topology);
/* Fills in numa_node and cpus. */
void locality_of(struct locality *topology, drail_rail_info_t *info);
/* The n-th allowed core near the rail, or -1. */
int locality_core(struct locality *topology, const drail_rail_info_t *info,
                  unsigned n);
unsigned locality_cores(struct locality *topology);
void locality_bind(int cpu);

/* -------------------------------------------------------------- peer.c --- */

/* A connected peer by rank, or NULL with the error set in *rc. */
struct peer *peer_get(drail_t *t, unsigned rank, int *rc);
void peer_free(drail_t *t, struct peer *peer);
/* Looks for connection events and asynchronous errors. */
void rail_check(struct rail *rail);

/* -------------------------------------------------------------- link.c --- */

/* DTOs of one link that may have events. */
unsigned link_events(const struct rail *rail);
int link_open(struct rail *rail, struct peer *peer, struct link **out);
void link_close(struct link *link);
void link_down(struct link *link, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int slot_post(struct slot *slot);
/* Bytes of a slot: header, and an eager message or a key. */
size_t slot_bytes(const drail_t *t);

/* -------------------------------------------------------------- post.c --- */

/* Posts a DTO, after waiting for room; done NULL: completion suppressed. */
int link_post(struct link *link, struct dto *dto,
              const struct completion *done);
/* Posts a message; a credit must be there for those that need one. */
int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done);
/* Waits until a message can be sent on every one of these rails. */
int links_reserve(drail_t *t, struct peer *peer, uint32_t rails,
                  int timeout_ms);
/* A receive was consumed; gives credits back when many are owed. */
void link_owe(struct link *link);
/* Sends what we owe the peer, a reply or credits, if there is room. */
void link_pay(struct link *link);
/* Before the end: are all DTOs complete? Sees to it that they can be known to
 * be. */
bool link_settled(struct link *link);
/* After it: have all DTOs come back, flushed? An event that comes after its EP
 * is gone would crash the verbs providers. */
bool link_flushed(struct link *link);
/* Retires a DTO and those before it. */
void link_retire(struct op *op, int status);

/* ---------------------------------------------------------- progress.c --- */

/*
 * What a wait is for. *owed is set to the rails that still owe an event.
 * Returns 1 when all has come, 0 when not yet, or an error.
 */
typedef int (*owed_t)(drail_t *t, void *arg, uint32_t *owed);

/* Bound of a wait; the clock is read first when nothing has happened for a
 * while. */
struct patience {
    drail_t *t;
    int timeout_ms;
    uint64_t deadline_ns;
};

int patience_check(struct patience *patience);
/* Handles the events that are there; their number, or an error. */
int rail_poll(struct rail *rail);
/* Waits at most so long for one event and handles it: 1, 0 or an error. */
int rail_sleep(struct rail *rail, unsigned us);
static inline void spin_begin(struct spin *s)
{
    s->start_ns = 0;
    s->turns = 0;
}
/* Between polls: is it worth another one? */
bool spin_more(struct spin *s);
/* What was waited for has come, perhaps after a sleep. */
void spin_end(struct spin *s);
/* Polls for the spin time in the calling thread: 1, 0 or an error. */
int progress_spin(drail_t *t, owed_t owed, void *arg);
/* Waits in the calling thread for events of any rail. */
int progress_wait(drail_t *t, owed_t owed, void *arg, int timeout_ms);
/* Waits in the rail's thread until the rail owes nothing. */
int rail_wait(struct rail *rail, owed_t owed, void *arg, int timeout_ms);

/* ------------------------------------------------------------ engine.c --- */

/*
 * What to do on several rails. post runs `rounds` times per rail, 0 of them
 * if there is nothing to post; then, if owed is given, the rail is waited for
 * and met (may be NULL) runs once.
 */
struct work {
    uint32_t rails;
    bool short_one; /* data on one rail only: not worth a dispatch */
    unsigned rounds;
    int (*post)(struct rail *rail, void *arg, unsigned round);
    owed_t owed;
    int (*met)(struct rail *rail, void *arg);
    void *arg;
    int timeout_ms;
    uint32_t known, done; /* rails that have owed something, that are met */
    int result[DRAIL_MAX_RAILS];
};

int engine_nonthreaded(drail_t *t, struct work *work);
int engine_threaded(drail_t *t, struct work *work);
/* Runs the work as the present engine does. */
int engine_run(drail_t *t, struct work *work);
/* Rails that the present engine uses. */
uint32_t engine_rails(const drail_t *t);
/* The steps of one rail, in the thread that owns it. */
int work_rail(drail_t *t, struct work *work, unsigned index);
/* As work->owed, for one thread that waits for all rails of the work (its
 * argument): every rail that owes nothing any more is met once. */
int work_owed(drail_t *t, void *arg, uint32_t *owed);
int work_result(const struct work *work);

int team_open(drail_t *t);
void team_close(drail_t *t);
/* Runs one rail's work in its thread; then waits for it. */
void team_start(drail_t *t, unsigned index, struct work *work);
void team_join(drail_t *t, unsigned index);

/* -------------------------------------------------------- operations --- */

/* Cuts a message by the present policy. */
int cut(drail_t *t, size_t bytes, drail_chunk_t chunks[DRAIL_MAX_RAILS]);
/* A rail has moved its part of a striped message in this time, after those
 * before. */
void weights_measure(struct rail *rail, unsigned slot, uint64_t bytes,
                     uint64_t ns);
/* Weights of the rails for a long message by the present policy. */
void weights_now(const drail_t *t, double weights[DRAIL_MAX_RAILS]);

int timing_open(drail_t *t);
/* Is a message of so many bytes timed, that is: are its rails chosen by what
 * has been measured? */
bool timing_applies(const drail_t *t, size_t bytes);
/* For so many bytes with the present engine. */
unsigned timing_slot(const drail_t *t, size_t bytes);
/* The slot that says most about long messages now. */
unsigned timing_latest(const drail_t *t);
/* Rails whose rate is learnt from a message that goes over this set. */
uint32_t timing_learns(const drail_t *t, unsigned slot, uint32_t set,
                       uint32_t data);
/* Looks at the messages that have completed. */
void timing_harvest(drail_t *t);
/* A message over these rails starts; NULL: it can't be timed. */
struct message *timing_start(drail_t *t, size_t bytes, uint32_t data,
                             uint64_t start_ns);
/* A rail's part is complete; in the rail's thread. */
void timing_part(struct rail *rail, const struct op *op, bool ok);
/* The message's start has failed, no op has it any more. */
void timing_abandon(struct message *m);
/* A blocking operation of several messages has been timed as a whole. */
void timing_batch(drail_t *t, unsigned slot, uint32_t set, unsigned messages,
                  uint64_t bytes, uint64_t start_ns);

/* Is the transfer within its local and remote memory? */
int xfer_check(drail_t *t, const drail_xfer_t *xfer);
/* Posts one chunk as RDMA writes or reads, the last with done. */
int rdma_post(struct link *link, enum verb verb, const drail_xfer_t *xfer,
              size_t offset, size_t bytes, const struct completion *done);
int req_owed(drail_t *t, void *arg, uint32_t *owed);
void req_start(drail_req_t *opaque, struct peer *peer, uint32_t rails);
static inline struct req *req_of(drail_req_t *opaque)
{
    return (struct req *)opaque;
}

/* Shared memory that a provider of this host can map: errno or 0. */
int memory_map(size_t bytes, void **address, int *fd);
struct region *region_of_key(drail_t *t, unsigned rail, DAT_RMR_CONTEXT key,
                             uint64_t address, size_t bytes);
void regions_free(drail_t *t);

int inbox_open(struct inbox *box, unsigned capacity);
/* Enters a part that came over a rail. 0, or -1: not a valid sequence. */
int inbox_put(struct inbox *box, const struct wire *wire, unsigned rail,
              uint32_t rails, struct slot *slot);
struct arrival *inbox_next(const struct inbox *box);
bool inbox_ready(const struct inbox *box);
/* Passes on to the next. */
void inbox_pop(struct inbox *box);

struct note_wait {
    struct peer *peer;
    uint32_t rails; /* expected as long as no part has come */
};
int note_owed(drail_t *t, void *arg, uint32_t *owed);
/* Sends rail's part of a notification. */
int note_send(struct link *link, uint32_t seq, uint32_t id, uint32_t rails,
              const struct completion *done);
/* Delivers the notification that is ready. */
uint32_t note_deliver(struct peer *peer);

void atomic_serve(struct slot *slot);

/* --------------------------------------------------------------- small --- */

static inline uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline int timeout_or(const drail_t *t, int timeout_ms)
{
    return timeout_ms < 0 ? t->cfg.timeout_ms : timeout_ms;
}

#endif
