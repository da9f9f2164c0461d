/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport sees of core. Core is what every DAT 2.0 provider of ours
 * shares: objects and their handles, EVD queues, attributes, posting checks,
 * the connection state machine and the entry points that libdat2 calls. A
 * transport (providers/shm, …) supplies one struct core_transport; core calls
 * down through it, and the transport reports back through the core_…
 * functions at the end of this file. What core keeps to itself: internal.h.
 *
 * Thread rules, stricter than the "nonthreadsafe" that dat.conf declares:
 * different objects may be used by different threads at the same time, and an
 * EP may be posted to while another thread polls its EVDs. One object is used
 * by one thread at a time.
 *
 * Lock order: ia->lock (slow path: connections, creation, destruction) before
 * ia->bell_lock (going to sleep) before ep->lock (receive side and unfinished
 * requests of one EP). The post path of an EP without unfinished requests
 * takes no lock.
 */
#ifndef DAPL_CORE_H
#define DAPL_CORE_H

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#define CORE_CACHELINE 64
/* Bounds of what a transport may offer (struct core_ability) */
#define CORE_MAX_IOV          16
#define CORE_MAX_PRIVATE_DATA 256
#define CORE_MAX_MRS          16384 /* LMRs and bound RMRs of an IA */
#define CORE_MAX_ATTRIBUTES   20    /* of the provider's own */

#define CORE_ERROR(type, subtype)                                              \
    ((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))
#define CORE_PRIV_REMOTE_ATOMIC ((int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC)

struct core_ia;
struct core_ep;
struct core_transport;
struct core_waiter; /* a thread in dat_evd_wait or dat_cno_wait */

/* ------------------------------------------------------------- objects --- */

struct core_kind; /* of an object: internal.h */

/* First member of every object that a DAT handle names. */
struct core_object {
    const DAT_PROVIDER *provider; /* libdat2 finds the entry points here */
    uint32_t magic;               /* CORE_MAGIC while alive */
    DAT_HANDLE_TYPE type;
    const struct core_kind *kind;
    struct core_ia *ia;
    struct core_object *prev, *next; /* ia->objects */
    DAT_CONTEXT context;
    atomic_uint refs; /* objects and DTOs that need this one */
};

struct core_ep_array; /* EPs that pollers read without a lock */
struct core_epset {
    _Atomic(struct core_ep_array *) now;
    atomic_uint count;
};

/* What an IA can do. */
struct core_ability {
    unsigned max_eps;      /* also PZs, SRQs and CNOs; twice as many EVDs */
    unsigned max_dtos;     /* of each queue of an EP, or of an SRQ */
    unsigned default_dtos; /* of an EP that does not say */
    unsigned max_iov;      /* of sends and receives */
    unsigned max_rdma_iov;
    unsigned max_rdma_reads; /* of an EP, each way */
    unsigned max_private_data;
    uint64_t max_message_size, max_rdma_size; /* bytes */
    bool srq, rmr, write_immed, atomics;      /* else they are refused */
};

struct core_ia {
    struct core_object o;
    const struct core_transport *transport;
    struct core_ability can; /* the transport's; ia_open may lower it */
    void *tp;                /* the transport's part */
    struct core_ia *next_open, **open_at; /* fork.c */
    bool forked; /* a copy of the parent's: not for use */
    char name[DAT_NAME_MAX_LENGTH];
    char adapter[DAT_NAME_MAX_LENGTH]; /* IA attribute adapter_name */
    DAT_NAMED_ATTR attributes[CORE_MAX_ATTRIBUTES]; /* core_attribute_add */
    DAT_COUNT attribute_count;
    struct sockaddr_storage address;
    struct core_evd *async_evd; /* event.c; NULL: there is none (any more) */
    struct core_evd *own_async; /* created by dat_ia_open, or NULL */
    struct core_ia *tellers, *next_teller, **teller_at; /* event.c */
    pthread_mutex_t lock;                               /* core_ia_lock */
    int cancel_state; /* of the thread that has it, outside */
    struct core_object *objects;
    unsigned count[DAT_HANDLE_TYPE_CSP + 1]; /* objects by type */
    struct core_mr *mrs;                     /* CORE_MAX_MRS, by index */
    unsigned mr_hint;                        /* all before are in use */
    unsigned close_patience;  /* memory.c: of an abrupt close, for all ranges */
    struct core_epset eps;    /* connected EPs, … */
    struct core_epset polled; /* … and those looked at each time: polling.c */
    atomic_uint round;        /* whose turn it is to be looked at unasked */
    /* by the transport: 0 while nothing is announced; or NULL */
    _Atomic uint64_t *announced_words;
    pthread_mutex_t bell_lock; /* who sleeps for what (bells.c) */
    _Atomic uint64_t bells;    /* taken */
    atomic_uint patience_ns;   /* wait.c: polling with yields */
};

struct core_pz {
    struct core_object o;
    uint32_t id; /* unique within the IA, never 0 */
};

/* ---- memory ---- */

/* A registered range, of an LMR or of a bound RMR. The key names it, locally
 * and remotely: index in the low bits, generation above. 0 is no key. */
struct core_mr {
    uint32_t key;
    uint32_t generation;
    uint64_t base;
    uint64_t length;
    int priv;
    uint32_t pz_id;
    struct core_ep *ep;   /* RMR bound for one EP only, else NULL */
    uint32_t rmr_context; /* what peers name it by: the key, unless
                             mr_publish says otherwise */
    void *tp;             /* the transport's */
};

/* The range of a key if it is valid here, else NULL. */
static inline struct core_mr *core_mr_find(struct core_ia *ia, uint32_t key)
{
    struct core_mr *mr = &ia->mrs[key % CORE_MAX_MRS];
    return key && mr->key == key ? mr : NULL;
}
static inline bool core_range_within(const struct core_mr *mr, uint64_t address,
                                     uint64_t length)
{
    return address >= mr->base && length <= mr->length &&
           address - mr->base <= mr->length - length;
}

/* ---- service points and connection requests ---- */

struct core_sp { /* PSP or RSP */
    struct core_object o;
    DAT_CONN_QUAL qual;
    struct core_evd *evd;
    struct core_ep *ep; /* RSP only */
    void *tp;
};

struct core_cr {
    struct core_object o;
    struct sockaddr_storage remote;
    DAT_PORT_QUAL remote_port;
    DAT_COUNT private_size;
    unsigned char private_data[CORE_MAX_PRIVATE_DATA];
    struct core_ep *ep; /* of an RSP */
    void *tp;           /* the transport's half-open connection */
};

/* ---- endpoints ---- */

/* A posted receive, or a request that could not complete when posted. In a
 * queue there is room for as many segments as its EP may post. */
struct core_wqe {
    DAT_DTO_COOKIE cookie;
    DAT_COMPLETION_FLAGS flags;
    uint32_t nseg;
    uint64_t total;
    DAT_LMR_TRIPLET seg[CORE_MAX_IOV];
};

enum core_op { /* what a request does */
               CORE_SEND,
               CORE_WRITE,
               CORE_WRITE_IMMED,
               CORE_READ,
               CORE_FETCH_ADD,
               CORE_CMP_SWAP,
};

/* A request as posted. `seg` belongs to the caller of the post function. */
struct core_dto {
    enum core_op op;
    DAT_DTO_COOKIE cookie;
    DAT_COMPLETION_FLAGS flags;
    uint32_t nseg;
    const DAT_LMR_TRIPLET *seg;
    uint64_t total;
    uint64_t remote_address;
    uint32_t remote_key;
    uint32_t immed;
    uint64_t operand, compare;
};

/* An unfinished request: kept in order, completed in order. */
struct core_request {
    enum core_op op;
    uint32_t immed;
    bool done; /* and this is how: */
    DAT_DTO_COMPLETION_STATUS status;
    void *tp; /* the transport's request_size bytes, zeroed */
    struct core_wqe w;
};

struct core_ep {
    struct core_object o;
    struct sockaddr_in6 remote; /* or sockaddr_in: core_ep_remote */
    struct core_pz *pz;
    struct core_evd *recv_evd, *request_evd;
    struct core_srq *srq;
    DAT_EP_ATTR attr;
    /* receive queue: posted by the consumer, taken under lock */
    uint32_t rq_places, rq_stride;
    unsigned char *rq; /* core_recv_at */
    /* unfinished requests: appended by the poster, retired under lock */
    uint32_t sq_mask, sq_stride, sq_tp; /* sq_tp: where a request has its tp */
    unsigned char *sq;                  /* core_request_at */

    /* What pollers look at without a lock, also when the EP is gone and its
     * memory serves another one: atomic, and never cleared. */
    _Alignas(CORE_CACHELINE) _Atomic(void *) tp; /* the transport's connection,
                                                    NULL before */
    _Atomic int state;                           /* DAT_EP_STATE */
    /* What the peer has sent last, or, if it is longer, in private_data, which
     * has room for all. Also of the next EP: events may point there that have
     * not been taken. */
    unsigned char private_little[32];
    void *private_data;
    _Alignas(CORE_CACHELINE) _Atomic uint64_t rq_tail;
    uint32_t rq_tail_place; /* that of number rq_tail: to divide takes long */
    _Atomic uint64_t sq_tail;
    _Alignas(CORE_CACHELINE) _Atomic uint64_t rq_head;
    uint32_t rq_head_place;
    atomic_flag lock;     /* receive side and unfinished requests */
    atomic_bool received; /* something, since polling.c looked last */
    bool announced;       /* its peer tells when there is something; bell_lock
                           */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t sq_head;
    /* of connections alone, which those who post don't look at */
    struct core_evd *connect_evd;
    DAT_CONN_QUAL remote_qual;
    bool reserved; /* by an RSP */
};

/* The peer's address. */
static inline struct sockaddr_storage core_ep_remote(const struct core_ep *ep)
{
    struct sockaddr_storage address = {0};
    memcpy(&address, &ep->remote, sizeof ep->remote);
    return address;
}

/* ----------------------------------------------------------- transport --- */

/* What a transport supplies. All functions that return DAT_RETURN give
 * DAT_SUCCESS or a full DAT error; a request that the network can't carry out
 * is refused with DAT_MODEL_NOT_SUPPORTED. Those marked "or NULL" are left out
 * by transports that have nothing to do there. */
struct core_transport {
    const char *provider; /* provider attribute provider_name */
    struct core_ability can;
    unsigned max_ias;    /* of one process; 0: some */
    size_t request_size; /* the transport's part of a core_request */
    bool requests_move;  /* nobody keeps the address of one, or looks at one
                            without ep->lock */
    bool one_thread;     /* calls it, and core, of all ranks of a process: what
                            they have is to be small */
    size_t ep_size;      /* of what core_ep_area gives */

    /* Opens the device named by ia->name with the parameters of dat.conf;
     * sets ia->tp, ia->adapter and ia->address, adds attributes. */
    DAT_RETURN (*ia_open)(struct core_ia *ia, const char *params);
    void (*ia_close)(struct core_ia *ia);
    /* The attributes are asked for: writes what has changed into the texts of
     * those whose values do. Or NULL: none does. */
    void (*attributes_asked)(struct core_ia *ia);
    /* The same of an EP: names its provider-specific attributes in @p attr.
     * They live as long as its connection. ia->lock is held. Or NULL. */
    void (*ep_attributes_asked)(struct core_ep *ep, DAT_EP_ATTR *attr);
    /* In a forked child, for an IA that its parent had open: lets go of what
     * the two share. What is called later ends nothing of the parent's. */
    void (*forked)(struct core_ia *ia);

    /* Publishes / withdraws a range for remote access. From mr_withdraw on
     * nobody enters the range; it returns whether all have left it, and is
     * called again until they have. It does not wait. ia->lock is held. */
    DAT_RETURN (*mr_publish)(struct core_ia *ia, struct core_mr *mr);
    bool (*mr_withdraw)(struct core_ia *ia, struct core_mr *mr);

    /* Connections; ia->lock is held. */
    DAT_RETURN (*listen)(struct core_sp *sp);
    void (*unlisten)(struct core_sp *sp);
    DAT_RETURN(*connect)
    (struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
     const void *private_data);
    DAT_RETURN(*accept)
    (struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
     const void *private_data);
    void (*reject)(struct core_cr *cr, DAT_COUNT size,
                   const void *private_data);
    /* Starts to disconnect; ends in core_ep_disconnected(). */
    void (*disconnect)(struct core_ep *ep, bool graceful);
    /* Takes ep->tp away; the EP is idle or about to be freed. Neither lock is
     * needed by the caller but ia->lock. */
    void (*ep_release)(struct core_ep *ep);

    /* Carries out a request; the DTO is checked against local memory.
     * Returns DAT_SUCCESS, having completed it by core_request_done() or
     * queued it by core_request_queue(), or an error and has done nothing. */
    DAT_RETURN (*post)(struct core_ep *ep, const struct core_dto *dto);
    /* Adds a receive to an EP in any state by core_recv_add(), from its poster.
     * A network that fills receives by itself gets the buffers here, and
     * completes the oldest (core_recv_peek, core_recv_done) when it reports
     * one, which must not be before; w is the queue's until then. An error
     * refuses it. Or NULL. */
    DAT_RETURN (*recv_post)(struct core_ep *ep, const struct core_wqe *w);
    /* A receive was added to a connected EP. Or NULL. */
    void (*recv_posted)(struct core_ep *ep);

    /* Moves what can be moved: of one EP (a caller without locks may come when
     * that is just gone: what counts is ep->tp under ep->lock), or of the whole
     * IA where the network has one queue for all (one of the two is NULL).
     * `sure`: wait for the lock rather than leave the work to the thread that
     * has it. */
    void (*progress)(struct core_ep *ep, bool sure);
    void (*ia_progress)(struct core_ia *ia, bool sure);
    /* When (CLOCK_MONOTONIC, ns) progress, which last looked at @p seen, will
     * find something by the mere passing of time; UINT64_MAX: never. Or NULL:
     * never. */
    uint64_t (*next_due)(struct core_ep *ep, uint64_t seen);
    uint64_t (*ia_next_due)(struct core_ia *ia, uint64_t seen);
    /* For networks that are asked EP by EP, so that most need not be asked: the
     * peer is to announce (on) what it has for this EP, a message or news of an
     * unfinished request, or need not (any more). False: it can't. The EP is
     * connected, or was just now; ia->bell_lock is held. And, progress of those
     * EPs whose peers have announced something, which calls core_poll_often for
     * an EP that was found so many times. Or NULL, both. */
    bool (*announce)(struct core_ep *ep, bool on);
    void (*announced)(struct core_ia *ia, bool sure);
    /* Breaks the connection after a local error. Any lock may be held. */
    void (*abort)(struct core_ep *ep);

    /* For a network whose time is not this machine's: waits until ready(w), or
     * so long (UINT64_MAX: for ever): 0, ETIMEDOUT, or EINTR; and, a consumer
     * has polled and found nothing; and, one has taken this event. No lock is
     * held. Or NULL. */
    int (*wait)(struct core_ia *ia, struct core_waiter *w,
                bool (*ready)(struct core_waiter *w), uint64_t timeout_ns);
    void (*idle)(struct core_ia *ia);
    void (*taken)(struct core_ia *ia, const DAT_EVENT *event);

    /* Sleeping. An IA has 64 bells, named by one bit each; a thread that is
     * to sleep has one of its own. arm; the last look; sleep until it was rung
     * since, or the time is over: returns 0, or EINTR. `fed`: what it waits
     * for may come over a connection. A thread may be cancelled in sleep at any
     * instruction. */
    void (*arm)(struct core_ia *ia, uint64_t bell);
    int (*sleep)(struct core_ia *ia, uint64_t bell, bool fed,
                 uint64_t timeout_ns);
    void (*ring)(struct core_ia *ia, uint64_t bells); /* any thread */
    /* What comes arrives in the kernel, which wakes sleepers, and no other
     * process puts events: it does not help to give the core to them. */
    bool in_kernel;
    /* The bells to ring when the network has something for the EP: a message,
     * or news of an unfinished request. Or NULL: it rings all. */
    void (*set_bells)(struct core_ep *ep, uint64_t bells);
};

/* All that the library exports: by these libdat2 has it serve a line of
 * dat.conf, or no more. */
#define CORE_EXPORTED __attribute__((visibility("default")))
CORE_EXPORTED void dat_provider_init(const DAT_PROVIDER_INFO *info,
                                     const char *params);
CORE_EXPORTED void dat_provider_fini(const DAT_PROVIDER_INFO *info);

/* ------------------------------------------- for the transport to call --- */

/* Names the transport of the library, of all its IAs: once, when it is loaded
 * (from a constructor). */
void core_transport_is(const struct core_transport *transport);

/* Adds a provider-specific attribute; both texts live as long as the IA. */
void core_attribute_add(struct core_ia *ia, const char *name,
                        const char *value);

void core_ep_established(struct core_ep *ep, const void *private_data,
                         DAT_COUNT size);
/* Ends a connection or an attempt: moves to DISCONNECTED, flushes what is
 * posted and posts the event. ia->lock is held, ep->lock is not. */
void core_ep_disconnected(struct core_ep *ep, DAT_EVENT_NUMBER event,
                          const void *private_data, DAT_COUNT size);
/* A request for a connection came in for sp; cr_tp is the transport's half
 * of it. ia->lock is held. Returns 0, or -1 when there is no room. */
int core_cr_arrived(struct core_sp *sp, void *cr_tp,
                    const struct sockaddr_storage *remote, DAT_PORT_QUAL port,
                    const void *private_data, DAT_COUNT size);

/* What may not be left half done is not cancelled: returns the thread's cancel
 * state, for core_cancel_as. */
static inline int core_cancel_off(void)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}
static inline void core_cancel_as(int state)
{
    pthread_setcancelstate(state, NULL);
}

/* ia->lock; nobody is cancelled who holds it. */
static inline void core_ia_lock(struct core_ia *ia)
{
    int state = core_cancel_off();
    pthread_mutex_lock(&ia->lock);
    ia->cancel_state = state;
}
static inline void core_ia_unlock(struct core_ia *ia)
{
    int state = ia->cancel_state;
    pthread_mutex_unlock(&ia->lock);
    core_cancel_as(state);
}

/* fork.c. A lock that belongs to no IA, to be named when the library is loaded:
 * held while the process forks, and free in the child. Who has it may take no
 * other of these, and none of an IA. */
void core_fork_hold(pthread_mutex_t *lock);

/* Has the EP unfinished requests? Then new ones must queue behind them. */
static inline bool core_requests_pending(struct core_ep *ep)
{
    return atomic_load_explicit(&ep->sq_tail, memory_order_relaxed) !=
           atomic_load_explicit(&ep->sq_head, memory_order_acquire);
}
/* The event of a request, unless it is a success that tells nobody. */
void core_request_event(struct core_ep *ep, enum core_op op,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                        DAT_DTO_COMPLETION_STATUS status, uint64_t length);
/* Completes a request at once; nothing may be pending. */
static inline void core_request_done(struct core_ep *ep,
                                     const struct core_dto *dto,
                                     DAT_DTO_COMPLETION_STATUS status)
{
    if (status != DAT_DTO_SUCCESS ||
        !(dto->flags & DAT_COMPLETION_SUPPRESS_FLAG))
        core_request_event(ep, dto->op, dto->cookie, dto->flags, status,
                           dto->total);
}
/* Keeps a request for later and returns it, for the transport to fill in its
 * part; there is room (core checked). ep->lock is held. */
struct core_request *core_request_queue(struct core_ep *ep,
                                        const struct core_dto *dto);
/* The unfinished request of this number: from sq_head to sq_tail. */
static inline struct core_request *core_request_at(struct core_ep *ep,
                                                   uint64_t number)
{
    return (void *)(ep->sq + (number & ep->sq_mask) * ep->sq_stride);
}
/* That which has this part of the transport's. */
static inline struct core_request *core_request_of(const struct core_ep *ep,
                                                   void *tp)
{
    return (void *)((unsigned char *)tp - ep->sq_tp);
}
/* Completes the finished requests at the head of the queue in order.
 * ep->lock is held. */
void core_requests_retire(struct core_ep *ep);

/* The transport's part of an EP for as long as that lives, of ep_size bytes:
 * zero at first, and as the transport left it when the EP's memory serves
 * another one. */
static inline void *core_ep_area(struct core_ep *ep)
{
    return ep + 1;
}

static inline void core_ep_lock(struct core_ep *ep)
{
    while (atomic_flag_test_and_set_explicit(&ep->lock, memory_order_acquire))
        sched_yield();
}
static inline bool core_ep_trylock(struct core_ep *ep)
{
    return !atomic_flag_test_and_set_explicit(&ep->lock, memory_order_acquire);
}
static inline void core_ep_unlock(struct core_ep *ep)
{
    atomic_flag_clear_explicit(&ep->lock, memory_order_release);
}
static inline DAT_EP_STATE core_ep_state(struct core_ep *ep)
{
    return (DAT_EP_STATE)atomic_load_explicit(&ep->state, memory_order_acquire);
}
/* Adds the EP to / takes it off the lists that pollers walk. */
int core_ep_poll(struct core_ep *ep);
void core_ep_unpoll(struct core_ep *ep);
/* The EP here (NULL: it is gone), whose peer announces, is better looked at
 * each time. What lies here changes under ia->bell_lock. No lock is held. */
void core_poll_often(struct core_ia *ia, _Atomic(struct core_ep *) *here);

/* Wakes this process's sleepers on the EVDs of the EP, after a fence. */
void core_ep_ring(struct core_ep *ep);

/* Sequentially consistent: either the poster of the receive sees that the EP is
 * disconnected, or who disconnects it sees the receive and flushes it. */
static inline void core_recv_add(struct core_ep *ep)
{
    atomic_fetch_add(&ep->rq_tail, 1);
}
/* The receive of this number: from rq_head to rq_tail. */
static inline struct core_wqe *core_recv_at(const struct core_ep *ep,
                                            uint64_t number)
{
    return (void *)(ep->rq + number % ep->rq_places * ep->rq_stride);
}
/* The next posted receive, or NULL; ep->lock is held. The EP's own stays
 * in its queue until core_recv_done; one of an SRQ is copied to *copy. */
struct core_wqe *core_recv_peek(struct core_ep *ep, struct core_wqe *copy);
/* Completes the receive of core_recv_peek. `immed` is NULL but for RDMA
 * writes with immediate data. False: there was no room for its event, and the
 * connection is broken. */
bool core_recv_done(struct core_ep *ep, const struct core_wqe *w,
                    DAT_DTO_COMPLETION_STATUS status, uint64_t length,
                    bool solicited, const uint32_t *immed);

#endif
