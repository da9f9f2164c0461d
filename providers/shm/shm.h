/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shm provider: rails between processes of one user on one host.
 *
 *  control segment (memfd, one per open IA): a doorbell page that peers write,
 *    and the table of memory ranges that peers read (control.c, mr.c)
 *  connection segment (memfd, made by the active side): per direction a ring
 *    of message lines, a backlog, and the counters of both sides (ring.h)
 *  connection manager: one thread per IA with connections, on AF_UNIX sockets
 *    in the abstract namespace: set-up, disconnection, death of the peer (cm.c)
 *
 * Data moves by one copy, made by the initiator in its post call: into the
 * peer's memory, mapped here if it is a shared file mapping (memfd), else by
 * process_vm_writev/readv (remote.c). Sends go through the ring: short ones
 * inline, long ones are fetched by the receiver from the sender's memory, as
 * are most that the ring has no room for: so what was posted needs nothing
 * more of its poster.
 */
#ifndef DAPL_SHM_H
#define DAPL_SHM_H

#include <sys/types.h>

#include "cable.h"
#include "copy.h"
#include "providers/core/core.h"
#include "providers/core/fence.h"
#include "providers/core/params.h"

#define SHM_VERSION 5
#define SHM_MAGIC   UINT64_C(0x6c7061642d6d6873) /* "shm-dapl" */

/* ---------------------------------------------------------- parameters --- */

#define SHM_PATH_MAX 256

struct shm_params {      /* second to last field of the dat.conf line */
    size_t stream_bytes; /* copies from here on use non-temporal stores;
                            or SHM_STREAM_MEASURED */
    /* link model; 0 and "" where not given */
    double rate;         /* of the port, MB/s per direction; 0: no model */
    double latency_us;   /* one way */
    double gap_us;       /* between messages of the port, beside their bytes */
    double overhead_us;  /* CPU time of each post */
    size_t change_after; /* bytes of the port and direction until … */
    double change_rate;  /* … this is its rate; 0: it does not change */
    char port[CORE_PARAM_NAME]; /* shared by rails that name it */
    char adapter[CORE_PARAM_NAME];
    double adapter_rate; /* MB/s per direction */
    char bus[CORE_PARAM_NAME];
    double bus_rate;          /* MB/s per direction */
    char cable[SHM_PATH_MAX]; /* cable.h; "": see cable.c */
    /* what the rail says of itself, for consumers that match rails */
    char fabric[CORE_PARAM_NAME];
    bool network; /* as if ranks of other hosts were within reach */
};

/* ---------------------------------------------------------- link model --- */

#define SHM_CLOCKS 64
#define SHM_HOPS   3

struct shm_clock { /* of a port, adapter or bus: [0] outbound, [1] inbound */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t busy_until[2]; /* ns */
    _Atomic uint64_t carried[2]; /* bytes, if the rate is to change */
};

struct shm_way {   /* what a message passes in its node */
    uint32_t hops; /* 0: no model */
    struct {
        uint32_t clock;
        double ns_per_byte;
    } hop[SHM_HOPS];           /* the first is the port */
    uint64_t change_after;     /* see shm_params */
    double change_ns_per_byte; /* 0: it does not change */
};

/* ------------------------------------------------------ control segment --- */

struct shm_doorbell { /* first page; peers write it */
    uint64_t magic;
    uint32_t version;
    int32_t clocks_fd; /* the owner's, of the clocks that `way` names */
    uint64_t clocks_inode;
    struct shm_way way;
    /* futexes, one a sleeper: 1 from when it arms until it is rung */
    _Alignas(CORE_CACHELINE) _Atomic uint32_t bell[64];
    _Alignas(CORE_CACHELINE) _Atomic uint32_t withdrawals; /* of ranges */
    /* announce.c: words of `news` that are not 0, … */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t news_words;
    _Atomic uint64_t slept; /* … the bells that have ever been armed, … */
    /* … and a bit a connection whose peer has something for the owner: hints,
     * as any peer can write them */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t news[64];
};
#define SHM_ANNOUNCED (64u * 64u) /* connections that have a bit */

/* A range that peers may access; one cache line. Peers map the table
 * read-only. `key` is written last. When the range is withdrawn it becomes 0,
 * and SHM_KEY_FREE as soon as no peer is in the range any more. Keys come again
 * after many uses of their place: `use`, which counts these, does not. */
#define SHM_KEY_FREE 1 /* keys have a generation above the index */
struct shm_mr {
    _Atomic uint32_t key;
    int32_t priv;
    uint64_t base, length;
    uint32_t pz_id;
    uint32_t ep_id; /* only from the peer of this EP, 0: from any */
    int32_t fd;     /* of the file mapped there, -1: private memory */
    _Atomic uint32_t use;
    uint64_t inode;
    uint64_t offset; /* of base in the file */
    uint64_t reserved;
};
_Static_assert(sizeof(struct shm_mr) == CORE_CACHELINE, "one line a range");

/* What is mapped by itself lies in units of this: whole pages, of whatever size
 * the kernel was built for (4, 16 or 64 KiB where there is a choice). A
 * constant, so that the data path divides by constants. */
#if defined(__x86_64__) || defined(__i386__)
#define SHM_PAGE 4096
#else
#define SHM_PAGE 65536
#endif
#define SHM_CONTROL_SIZE (SHM_PAGE + CORE_MAX_MRS * sizeof(struct shm_mr))

struct shm_control { /* as mapped by the owner or by a peer */
    struct shm_doorbell *door;
    struct shm_mr *table;
};

/* --------------------------------------------------------------- peers --- */

/* The name of a range for ever: its key, and the use of its place above. */
static inline uint64_t shm_mr_name(const struct shm_mr *mr, uint32_t key)
{
    return (uint64_t)atomic_load_explicit(&mr->use, memory_order_relaxed)
               << 32 |
           key;
}

/* What is known here of a peer's range, in one line: a copy of the peer's
 * entry, which it could change, and where the range is mapped. Valid while the
 * peer's entry has this name; replaced and dropped under the peer's lock. */
struct shm_map {
    _Alignas(CORE_CACHELINE) _Atomic uint64_t name; /* 0: none; written last */
    int32_t priv;
    uint32_t pz_id, ep_id;
    uint64_t address, length; /* in the peer's memory */
    char *base;               /* here; NULL: it can't be mapped */
    void *map;                /* whole pages */
    size_t size;
};
_Static_assert(sizeof(struct shm_map) == CORE_CACHELINE, "one line a map");

/* Another open IA (of another process, or of this one) that EPs of ours are
 * connected to. Shared by them. */
struct shm_peer {
    struct shm_peer *next;
    unsigned users;
    pid_t pid;
    uint64_t inode; /* of its control segment: its identity */
    int pidfd;
    _Atomic uint64_t lived; /* ns: it did, when last looked for */
    bool stuck;             /* in an access, when last waited for; ia->lock */
    struct shm_control control;
    struct shm_clock *clocks; /* NULL: no model */
    struct shm_way way;
    pthread_mutex_t lock; /* for changing maps */
    struct shm_map *maps; /* CORE_MAX_MRS, by index of the range */
    atomic_uint maps_end; /* behind the last that was ever used */
    _Atomic uint32_t
        withdrawals;             /* of the peer, when stale maps were dropped */
    pthread_mutex_t atomic_lock; /* remote.c: excludes our threads, … */
    int atomic_fd;               /* … a lock of this file other processes */
};

/* --------------------------------------------------------- connections --- */

/* One direction of a connection: what sender and receiver tell each other.
 * Who writes what, and how often, decides the line; adjacent lines may be
 * fetched in pairs. */
#define SHM_APART (2 * CORE_CACHELINE)
struct shm_dir {
    /* seldom written, by the sender: */
    _Alignas(SHM_APART) _Atomic uint64_t backlogged; /* messages ever put into
                                                        the backlog */
    _Atomic uint64_t sample; /* address of SHM_MAGIC in its private memory */
    /* and by the receiver: */
    _Atomic uint32_t closed;    /* no access to the receiver's memory any more;
                                   only what has been sent is received yet */
    _Atomic uint32_t can_read;  /* it could read the sample */
    _Atomic uint32_t can_fence; /* its fences make those of the sender
                                   needless (core/fence.h) */
    _Atomic uint32_t announce;  /* 1 + the bit that the sender is to set in
                                   the receiver's doorbell; 0: none */
    _Atomic uint64_t bells;     /* of the sleepers that wait for it */
    /* written by the sender when requests become pending, or none is */
    _Alignas(SHM_APART) _Atomic uint32_t pending; /* it waits for the
                                     counters below: ring its doorbell */
    /* keys of the receiver's ranges that the sender is accessing: by posting
     * [0] and by fetching [1]. A range is not freed meanwhile. */
    _Alignas(SHM_APART) _Atomic uint32_t access[2];
    /* written by the receiver with each message */
    _Alignas(SHM_APART) _Atomic uint64_t head; /* lines free again */
    _Atomic uint64_t taken;                    /* messages received */
    _Atomic uint64_t posted;                   /* receives ever posted */
    _Atomic uint64_t min_capacity;             /* of the receives so far */
    _Atomic uint64_t failed; /* 1 + index of the message refused */
};
#define SHM_PLACE(member) (offsetof(struct shm_dir, member) / SHM_APART)
_Static_assert(SHM_PLACE(backlogged) == SHM_PLACE(bells) &&
                   SHM_PLACE(bells) < SHM_PLACE(pending) &&
                   SHM_PLACE(pending) < SHM_PLACE(access) &&
                   SHM_PLACE(access) < SHM_PLACE(head),
               "what is written by others or at other times lies apart");
_Static_assert(offsetof(struct shm_dir, head) % CORE_CACHELINE == 0 &&
                   offsetof(struct shm_dir, failed) -
                           offsetof(struct shm_dir, head) <
                       CORE_CACHELINE,
               "what is written with each message is one line");
_Static_assert(sizeof(struct shm_dir) % SHM_APART == 0, "so do directions");

#define SHM_MAX_DTOS 4096

#define SHM_LINE       64
#define SHM_RING_BYTES (SHM_PAGE > 32768 ? SHM_PAGE : 32768)
#define SHM_RING_LINES (SHM_RING_BYTES / SHM_LINE)
#define SHM_INLINE_MAX 8192 /* bytes that travel within the ring */

/* SHM_SKIP is no message: the next one lies at the ring's beginning. */
enum shm_kind { SHM_INLINE = 1, SHM_FETCH, SHM_IMMED, SHM_SKIP = 8 };

struct shm_head { /* of a message */
    uint8_t kind;
    uint8_t solicited;
    uint16_t nseg; /* SHM_FETCH: triplets in the payload */
    uint32_t length;
    uint32_t immed;
    uint32_t unused;
    uint64_t due; /* ns of the host: not seen before, 0: no link model */
};

/* In the ring, a line whose `seq` is its number (counted from 1) holds a
 * message; the receiver clears the first word of continuation lines so that
 * data never passes for one. See ring.h. */
struct shm_msg {
    _Atomic uint64_t seq;
    struct shm_head head;
    unsigned char payload[];
};
#define SHM_HEAD sizeof(struct shm_msg)

/* A slot of the backlog holds a message of that many bytes, or the list of
 * segments that a longer one is to be fetched from. */
#define SHM_SLOT_MAX (CORE_MAX_IOV * sizeof(DAT_LMR_TRIPLET))
#define SHM_SLOT                                                               \
    ((SHM_HEAD + SHM_SLOT_MAX + CORE_CACHELINE - 1) / CORE_CACHELINE *         \
     CORE_CACHELINE)
#define SHM_BACKLOG_BYTES (SHM_MAX_DTOS * SHM_SLOT)

struct shm_segment {
    uint64_t magic;
    uint32_t version;
    struct shm_dir dir[2]; /* [0]: sent by the active side */
};
/* Counters, the two rings, the two backlogs (untouched until used). */
#define SHM_SEGMENT_SIZE (SHM_PAGE + 2 * SHM_RING_BYTES + 2 * SHM_BACKLOG_BYTES)
_Static_assert(sizeof(struct shm_segment) <= SHM_PAGE, "counters: one page");
_Static_assert(offsetof(struct shm_segment, dir) % SHM_APART == 0,
               "apart from what both read");
_Static_assert(SHM_BACKLOG_BYTES % SHM_PAGE == 0, "whole pages");

enum shm_cm_state {                    /* of a connection's socket */
                    SHM_CM_CONNECTING, /* active: no listener slot yet, try
                                          again */
                    SHM_CM_REQUESTED,  /* active: waits for the reply */
                    SHM_CM_ARRIVING,   /* passive: waits for the request */
                    SHM_CM_OFFERED,    /* passive: the consumer has a CR */
                    SHM_CM_ACCEPTED,   /* passive: waits for the confirmation */
                    SHM_CM_CONNECTED,
                    SHM_CM_DRAINING,  /* graceful disconnect waits for pending
                                         sends */
                    SHM_CM_LINGERING, /* the peer has disconnected; its messages
                                         arrive yet */
                    SHM_CM_CLOSED,
};

/* A connection, also before and after. ep->tp, cr->tp. */
struct shm_conn {
    struct shm_conn *next; /* shm_ia.conns */
    struct core_ep *ep;    /* NULL: none yet */
    struct core_sp *sp;    /* SHM_CM_ARRIVING */
    struct shm_ia *sia;
    int side; /* 0 active, 1 passive */
    enum shm_cm_state state;
    atomic_bool aborted; /* broken by a failed request or receive: nothing is
                            posted any more */
    uint32_t cuts;       /* of the rail's cable, before */
    bool lost;           /* a request, in a mute cable: so are all after it */
    int fd;
    uint64_t deadline;   /* ns, UINT64_MAX none */
    uint64_t linger_end; /* ns: nothing that is due later is waited for */
    int segment_fd;
    uint32_t ep_id, peer_ep_id, peer_pz_id;
    unsigned char private_data[CORE_MAX_PRIVATE_DATA];
    DAT_COUNT private_size;

    /* data path */
    struct shm_segment *segment; /* NULL: not mapped */
    struct shm_peer *peer;
    bool fenced;             /* both sides need fences */
    bool deaf;               /* a receive has failed; under ep->lock */
    uint64_t rq_base;        /* receives of the EP before this connection */
    uint64_t rx_taken;       /* messages received */
    uint64_t tx_tail;        /* next line to write */
    uint64_t tx_head;        /* last known */
    uint64_t tx_index;       /* messages sent */
    uint64_t tx_backlogged;  /* of those, into the backlog */
    uint64_t tx_backlog_end; /* `taken` when it is empty; 0: it is */
    uint64_t tx_posted;      /* last known */
    uint64_t waiting;  /* the EP's first request not in the peer's queue */
    uint32_t announce; /* rx->announce; under ia->bell_lock */
    struct shm_cold cold[2]; /* [write] */

    /* What pollers look at without a lock, also when the connection is gone
     * and its memory serves another one (conn.c): atomic, or constant. */
    char *place; /* where its segment is mapped, else zeros can be read */
    struct shm_dir *tx, *rx;
    char *tx_ring, *rx_ring; /* each mapped twice in a row */
    char *tx_backlog, *rx_backlog;
    atomic_bool timed; /* messages may be due later: there is a link model */
    _Atomic uint64_t rx_head; /* next line to read; changed under ep->lock */
    _Atomic uint64_t rx_backlogged; /* of rx_taken, those in the backlog */
};

/* How far a request has come: its core_request.tp. */
struct shm_request {
    bool posted;      /* it is in the peer's queue */
    bool need_taken;  /* complete when the peer has taken it, else when the
                         peer has a receive for it */
    bool carried_out; /* nothing but its time is missing */
    uint64_t index;   /* message number */
    uint64_t due;     /* ns, not complete before; 0: any time */
};

/* Of an EP, connected or not: core_ep_area. */
struct shm_ep {
    _Atomic uint64_t capacity; /* 1 + of the smallest receive so far, 0: none */
};

/* Whose bit it is; announce.c. */
struct shm_announced {
    _Atomic(struct core_ep *) ep; /* NULL: nobody's */
    atomic_uint found;            /* since it is the EP's, or was last told */
};

struct shm_listener { /* sp->tp */
    struct core_sp *sp;
    int fd;
};

struct shm_watch { /* what a file descriptor of the manager belongs to */
    struct shm_conn *conn;
    struct shm_listener *listener;
    struct shm_peer *peer; /* its pidfd */
};

/* A file that registered ranges are mapped from; our fd of it. */
struct shm_file {
    struct shm_file *next;
    dev_t device;
    ino_t inode;
    int fd;
    unsigned users;
};

struct shm_ia {
    struct core_ia *ia;
    struct shm_params params;
    struct shm_control control;
    int control_fd;
    struct shm_clock *clocks;      /* NULL: no link model */
    const struct shm_cable *cable; /* NULL: it can't be pulled */
    struct shm_way way;            /* as door->way, which peers could change */
    uint64_t latency_ns, gap_ns;
    uint64_t ahead_ns;   /* our clock less the host's, which stamps are of */
    size_t stream_least; /* shm_choice_least */
    char rate_text[SHM_HOPS][32];
    char params_text[CORE_PARAMS_MAX]; /* as in dat.conf */
    _Atomic uint64_t streamed;         /* copies with non-temporal stores */
    char streamed_text[24], copies_text[160]; /* of attributes, … */
    char fabric_text[CORE_PARAM_NAME + 4];    /* … too */
    uint32_t last_ep_id;
    struct shm_peer *peers;
    struct shm_file *files;
    int newest_fd;                   /* of the consumer's, found last */
    struct shm_announced *announced; /* SHM_ANNOUNCED */
    unsigned announced_next;         /* where a free one is sought */
    /* connection manager, under ia->lock */
    struct shm_conn *conns;
    struct shm_conn *leaving; /* freed, but a (stopped) peer is in an access */
    struct shm_watch *watch;  /* by file descriptor */
    int watch_size;
    pthread_t thread;
    bool thread_runs;
    bool stop;
    uint64_t accept_at; /* ns: listeners are deaf until then, 0: they listen */
    uint64_t look_at;   /* ns: when the thread meant to look at deadlines */
    uint64_t hear_at;   /* ns: when it looks for messages unasked */
    int epoll_fd, wake_fd;
    int cable_fd;      /* inotify; -1: no cable */
    uint32_t end_cuts; /* of the cable, seen */
};

static inline struct shm_ia *shm_ia(struct core_ia *ia)
{
    return ia->tp;
}

uint64_t shm_now_ns(void);

/* params.c */
extern const struct core_params shm_params_known;
DAT_RETURN shm_params_parse(const char *ia_name, const char *text,
                            struct shm_params *params);

/* model.c */
int shm_model_open(struct shm_ia *sia);
/* Maps a peer's clocks and copies the way that uses them; NULL: not usable. */
struct shm_clock *shm_model_map(pid_t pid, const struct shm_doorbell *door,
                                struct shm_way *way);
void shm_model_unmap(struct shm_clock *clocks);
/* Sends so many bytes on their way, or reads them: when are they there? */
uint64_t shm_model_deliver(struct shm_conn *c, uint64_t bytes, bool read);
/* Spends the CPU time of posting. */
void shm_model_overhead(const struct shm_ia *sia);

/* cable.c: -1, and says why on stderr, if there should be a cable and is none
 */
int shm_cable_open(struct shm_ia *sia);
void shm_cable_close(struct shm_ia *sia);
/* The manager looks: what has woken it is over. */
void shm_cable_seen(struct shm_ia *sia);
/* By how much bytes take longer than they should, from 1 on. */
double shm_cable_cost(const struct shm_ia *sia);
/* Without a link model: what has begun then takes as much longer. */
void shm_cable_slow_down(const struct shm_ia *sia, uint64_t start);
static inline bool shm_cable_pulled(const struct shm_ia *sia)
{
    return sia->cable &&
           (atomic_load(&sia->cable->pulled) || atomic_load(&sia->cable->mute));
}
/* Has it been pulled since this connection began? */
static inline bool shm_cable_cut(const struct shm_conn *c)
{
    return atomic_load_explicit(&c->sia->cable->cuts, memory_order_relaxed) !=
           c->cuts;
}

/* Between a store and a look at what the peer may have stored: the frequent
 * side of core/fence.h. */
static inline void shm_fence(const struct shm_conn *c)
{
    core_fence_light(!c->fenced);
}

/* control.c */
int shm_memfd(const char *name, size_t size);
/* Is this fd a memfd of that size which we can write, and which can't shrink
 * under us? */
bool shm_memfd_ok(int fd, size_t size);
/* Is it sealed against shrinking, so that its pages can't vanish? */
bool shm_cannot_shrink(int fd);
int shm_control_create(struct shm_ia *sia);
void shm_control_destroy(struct shm_ia *sia);
void shm_control_forked(struct shm_ia *sia);
int shm_control_map(int fd, struct shm_control *control, bool own);
void shm_control_unmap(struct shm_control *control);
void shm_arm(struct core_ia *ia, uint64_t bell);
int shm_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns);
void shm_ring(struct core_ia *ia, uint64_t bells);
void shm_door_ring(struct shm_doorbell *door, uint64_t bells);

/* announce.c */
bool shm_announce(struct core_ep *ep, bool on);
/* There is something for whoever has this bit. */
void shm_news_set(struct shm_doorbell *door, uint32_t bit);
/* Rings these bells of the connection's peer, and announces. */
void shm_tell_peer(struct shm_conn *c, uint64_t bells);
/* Is the peer to be told? And the bells to ring for that. After a fence. */
static inline bool shm_wants_news(const struct shm_conn *c, uint64_t *bells)
{
    /* in this order: who does not want announcements any more has set bells */
    uint32_t announce =
        atomic_load_explicit(&c->tx->announce, memory_order_acquire);
    *bells = atomic_load_explicit(&c->tx->bells, memory_order_relaxed);
    return announce || *bells;
}
/* The connection's other end has a message, or news of the counters. */
static inline void shm_ring_peer(struct shm_conn *c)
{
    uint64_t bells;
    shm_fence(c);
    if (__builtin_expect(shm_wants_news(c, &bells), 0))
        shm_tell_peer(c, bells);
}

/* mr.c */
/* Closes the files of ranges that were never free of peers. */
void shm_mr_close(struct shm_ia *sia);
DAT_RETURN shm_mr_publish(struct core_ia *ia, struct core_mr *mr);
bool shm_mr_withdraw(struct core_ia *ia, struct core_mr *mr);

/* peer.c */
struct shm_peer *shm_peer_get(struct shm_ia *sia, pid_t pid, int control_fd);
void shm_peer_put(struct shm_ia *sia, struct shm_peer *peer);
/* In a forked child: lets go of what it shares with its parent. */
void shm_peer_forked(struct shm_peer *peer);
/* The peer's range of this key, whose access has been announced; NULL when it
 * is not (or no longer) there. */
const struct shm_map *shm_peer_map_new(struct shm_peer *peer, uint32_t key);
static inline const struct shm_map *shm_peer_map(struct shm_peer *peer,
                                                 uint32_t key)
{
    const struct shm_map *m = &peer->maps[key % CORE_MAX_MRS];
    uint64_t name = shm_mr_name(&peer->control.table[key % CORE_MAX_MRS], key);
    bool known = atomic_load_explicit(&m->name, memory_order_acquire) == name;
    return known ? m : shm_peer_map_new(peer, key);
}
/* A write comes: asks for its last line, so that a peer who polls it gives it
 * up while the access is being checked and the others are copied. A hint
 * only. */
__attribute__((no_sanitize("thread"))) static inline void
shm_peer_prefetch(const struct shm_peer *peer, uint32_t key, uint64_t address)
{
    /* not announced, so it may read a map that another thread is changing:
     * wherever that leads, a prefetch does no harm */
    const struct shm_map *m = &peer->maps[key % CORE_MAX_MRS];
    char *line = (char *)((uintptr_t)m->base + address - m->address);
#ifdef __x86_64__ /* by name: the compiler has it for chosen CPUs only */
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}
/* Drops maps of ranges that the peer has withdrawn, if there are new ones. */
void shm_peer_drop_stale(struct shm_peer *peer);
bool shm_peer_dead(const struct shm_peer *peer);
/* May its pid be used, which the kernel gives to another process when it has
 * died? Looks now and then: a pid that serves again within a tenth of a second
 * is not noticed. */
bool shm_peer_has_pid(struct shm_peer *peer);

/* remote.c: access to the peer's memory that needs this privilege; slot: see
 * shm_dir.access */
DAT_DTO_COMPLETION_STATUS shm_remote_copy(struct shm_conn *c,
                                          const struct core_dto *dto, int slot,
                                          int priv);
DAT_DTO_COMPLETION_STATUS shm_remote_atomic(struct shm_conn *c,
                                            const struct core_dto *dto);

/* data.c */
DAT_RETURN shm_post(struct core_ep *ep, const struct core_dto *dto);
DAT_RETURN shm_recv_post(struct core_ep *ep, const struct core_wqe *w);
void shm_recv_posted(struct core_ep *ep);
void shm_progress(struct core_ep *ep, bool sure);
uint64_t shm_next_due(struct core_ep *ep, uint64_t seen);
/* Is the oldest request one that a mute cable has lost? */
bool shm_waits_in_vain(struct core_ep *ep);
/* When the next message arrives that the link model holds back; 0: none. */
uint64_t shm_arriving(struct core_ep *ep);
/* Tells the peer of the receives posted before the connection. */
void shm_recv_announce(struct shm_conn *c);

/* news.c */
void shm_announced(struct core_ia *ia, bool sure);

/* conn.c: a connection of the active (0) or passive (1) side, zero but for
 * its place; its memory is never given back. NULL: there is none. */
struct shm_conn *shm_conn_take(int side);
void shm_conn_give(struct shm_conn *c);
/* core_transport.abort */
void shm_abort(struct core_ep *ep);

/* segment.c */
/* Finds a place for the segments of the connections that this memory will
 * serve. */
int shm_segment_place(struct shm_conn *c, int side);
int shm_segment_create(struct shm_conn *c);
int shm_segment_map(struct shm_conn *c);
/* With the peer known: what can each do for the other? */
void shm_segment_agree(struct shm_conn *c);
void shm_segment_unmap(struct shm_conn *c);

/* Bits that all rails' addresses have, and no other loopback address that hosts
 * use (127.0.0.1, 127.0.1.1, …): 127.y.z.w with odd y and w. */
#define SHM_RAIL_ADDRESS (127u << 24 | 1u << 16 | 1u)

/* cm_wire.c: what connection managers say to one another */
enum shm_cm_type {
    SHM_CM_REQUEST = 1, /* fds: connection segment, control segment */
    SHM_CM_ACCEPT,      /* fd: control segment */
    SHM_CM_REJECT,
    SHM_CM_CONFIRM,
    SHM_CM_DISCONNECT,
    SHM_CM_LATE, /* given up: what was awaited had not come in time */
};
struct shm_cm_msg {
    uint64_t magic;
    uint32_t version;
    uint32_t type;
    uint32_t pz_id, ep_id;
    uint32_t private_size;
    unsigned char private_data[CORE_MAX_PRIVATE_DATA];
};
#define SHM_CM_FDS 2
int shm_cm_send(int fd, enum shm_cm_type type, uint32_t pz_id, uint32_t ep_id,
                const void *private_data, DAT_COUNT size, const int *fds,
                int nfds);
/* 1: a valid message; 0: none now; -1: end of the connection, or nonsense.
 * fds not received are -1; the caller closes those that are. */
int shm_cm_recv(int fd, struct shm_cm_msg *msg, int fds[SHM_CM_FDS]);
int shm_cm_socket(void);
/* Binds / connects to the service point's name. 0 or -errno. */
int shm_cm_bind(int fd, uint32_t rail, DAT_CONN_QUAL qual);
int shm_cm_connect(int fd, uint32_t rail, DAT_CONN_QUAL qual);
/* The IPv4 address (host order) if it is one of a rail, else 0. */
uint32_t shm_cm_rail(const struct sockaddr_storage *address);
/* pid of the process at the other end if it belongs to this user, else -1 */
pid_t shm_cm_peer_pid(int fd);
/* Does this address name this host? 1, 0; or -1: there is no descriptor to find
 * out by. */
int shm_cm_is_local(const struct sockaddr_storage *address);

/* cm.c */
DAT_RETURN shm_listen(struct core_sp *sp);
void shm_unlisten(struct core_sp *sp);
DAT_RETURN shm_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data);
DAT_RETURN shm_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data);
void shm_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);
void shm_disconnect(struct core_ep *ep, bool graceful);
void shm_ep_release(struct core_ep *ep);
void shm_set_bells(struct core_ep *ep, uint64_t bells);
void shm_cm_stop(struct shm_ia *sia);
/* In a forked child: lets go of what it shares with its parent. */
void shm_cm_forked(struct shm_ia *sia);
/* Frees connections that ended while the peer was in an access. */
void shm_cm_reap(struct shm_ia *sia);

#endif
