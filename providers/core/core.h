/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every DAT 2.0 provider of ours shares: objects and their handles, EVD
 * queues, attributes, posting checks, the connection state machine and the
 * entry points that libdat2 calls. A transport (providers/shm, …) supplies one
 * struct core_transport; core calls down through it, and the transport reports
 * back through the core_… functions at the end of this file.
 *
 * Thread rules, stricter than the "nonthreadsafe" that dat.conf declares:
 * different objects may be used by different threads at the same time, and an
 * EP may be posted to while another thread polls its EVDs. One object is used
 * by one thread at a time.
 *
 * Lock order: ia->lock (slow path: connections, creation, destruction) before
 * ep->lock (receive side and unfinished requests of one EP). The post path of
 * an EP without unfinished requests takes no lock.
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

#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#define CORE_CACHELINE        64
#define CORE_MAX_IOV          16
#define CORE_MAX_PRIVATE_DATA 256
#define CORE_MAX_DTOS         4096
#define CORE_DEFAULT_DTOS     256
#define CORE_MAX_EVD_QLEN     65536
#define CORE_MAX_MRS          16384 /* LMRs and bound RMRs of an IA */
#define CORE_MAX_RDMA_SIZE    0x40000000u
#define CORE_MAX_MESSAGE_SIZE 0x40000000u
#define CORE_MAX_RDMA_READS   256

#define CORE_ERROR(type, subtype)                                              \
    ((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))
#define CORE_PRIV_REMOTE_ATOMIC ((int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC)

struct core_ia;
struct core_ep;
struct core_transport;

/* ------------------------------------------------------------- objects --- */

/* First member of every object that a DAT handle names. */
struct core_object {
    const DAT_PROVIDER *provider; /* libdat2 finds the entry points here */
    uint32_t magic;               /* CORE_MAGIC while alive */
    DAT_HANDLE_TYPE type;
    struct core_ia *ia;
    struct core_object *prev, *next; /* ia->objects */
    DAT_CONTEXT context;
    atomic_uint refs; /* objects and DTOs that need this one */
};

/* A growing set of EPs that pollers read without a lock. */
struct core_ep_array {
    struct core_ep_array *older; /* kept: a poller may still be in it */
    atomic_uint n;
    unsigned cap;
    _Atomic(struct core_ep *) ep[];
};
struct core_epset {
    _Atomic(struct core_ep_array *) now;
};

struct core_ia {
    struct core_object o;
    const struct core_transport *transport;
    void *tp; /* the transport's part */
    char name[DAT_NAME_MAX_LENGTH];
    char adapter[DAT_NAME_MAX_LENGTH]; /* IA attribute adapter_name */
    struct sockaddr_storage address;
    struct core_evd *async_evd;
    bool async_evd_ours; /* created by dat_ia_open, freed with the IA */
    pthread_mutex_t lock;
    struct core_object *objects;
    unsigned count[DAT_HANDLE_TYPE_CSP + 1]; /* objects by type */
    struct core_mr *mrs;                     /* CORE_MAX_MRS, by index */
    unsigned mr_hint;                        /* where to look for a free one */
    struct core_epset eps;                   /* connected EPs */
    atomic_uint patience_ns;                 /* wait.c: polling with yields */
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
    struct core_ep *ep; /* RMR bound for one EP only, else NULL */
};

struct core_lmr {
    struct core_object o;
    struct core_mr *mr;
    struct core_pz *pz;
    DAT_MEM_TYPE mem_type;
    DAT_REGION_DESCRIPTION region;
};

struct core_rmr {
    struct core_object o;
    struct core_mr *mr; /* NULL while not bound */
    struct core_pz *pz;
    struct core_lmr *lmr;
    DAT_RMR_SCOPE scope;
    DAT_LMR_TRIPLET triplet;
    int priv;
};

/* ---- events ---- */

struct core_cno {
    struct core_object o;
    DAT_OS_WAIT_PROXY_AGENT agent;
    atomic_bool waiting;
};

struct core_evd_slot {
    /* Vyukov's bounded queue, but for the index: zeroed memory is an empty
     * queue. Position of the lap's first slot: a producer's; 1 more: full. */
    _Atomic uint64_t turn;
    DAT_EVENT event;
};

struct core_evd_ring {
    struct core_evd_ring *next; /* larger one, after dat_evd_resize */
    size_t size;
    uint64_t mask;
    _Alignas(CORE_CACHELINE) _Atomic uint64_t tail; /* producers */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t head; /* the consumer */
    struct core_evd_slot slot[];
};

struct core_evd {
    struct core_object o;
    DAT_EVD_FLAGS flags;
    _Atomic(struct core_evd_ring *) ring; /* where producers put */
    struct core_evd_ring *first;          /* where the consumer starts */
    _Atomic uint32_t notified;            /* notifying events so far */
    _Atomic(struct core_cno *) cno;
    atomic_bool triggered; /* an event for the CNO */
    atomic_bool enabled, waitable, waiting, overflowed;
    struct core_epset eps; /* EPs to ask for progress when polled */
};

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

/* A posted receive, or a request that could not complete when posted. */
struct core_wqe {
    DAT_DTO_COOKIE cookie;
    DAT_COMPLETION_FLAGS flags;
    uint32_t nseg;
    uint64_t total;
    DAT_LMR_TRIPLET seg[CORE_MAX_IOV];
};

struct core_srq {
    struct core_object o;
    struct core_pz *pz;
    pthread_mutex_t lock; /* several EPs take from it */
    struct core_wqe *wqe;
    uint32_t depth, max_iov, head, count, outstanding;
    DAT_COUNT low_watermark; /* 0: no event wanted */
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

/* How far a request has come. All but status and done are the transport's. */
struct core_progress {
    DAT_DTO_COMPLETION_STATUS status;
    bool done;
    bool posted;      /* it is in the peer's queue */
    bool need_taken;  /* complete when the peer has taken it, else when the
                         peer has a receive for it */
    bool carried_out; /* nothing but its time is missing */
    uint64_t index;   /* message number */
    uint64_t due;     /* ns, not complete before; 0: any time */
};

/* An unfinished request: kept in order, completed in order. */
struct core_request {
    enum core_op op;
    uint32_t immed;
    struct core_progress p;
    struct core_wqe w;
};

struct core_ep {
    struct core_object o;
    void *tp;          /* the transport's connection, NULL before */
    _Atomic int state; /* DAT_EP_STATE */
    struct core_pz *pz;
    struct core_evd *recv_evd, *request_evd, *connect_evd;
    struct core_srq *srq;
    DAT_EP_ATTR attr;
    struct sockaddr_storage remote;
    DAT_CONN_QUAL remote_qual;
    bool reserved; /* by an RSP */

    atomic_flag lock; /* receive side and unfinished requests */

    /* receive queue: posted by the consumer, taken under lock */
    struct core_wqe *rq;
    uint32_t rq_mask;
    _Atomic uint64_t rq_tail;
    _Atomic uint64_t rq_capacity; /* of the smallest receive so far */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t rq_head;

    /* unfinished requests: appended by the poster, retired under lock */
    struct core_request *sq;
    uint32_t sq_mask;
    _Atomic uint64_t sq_tail;
    _Alignas(CORE_CACHELINE) _Atomic uint64_t sq_head;

    unsigned char private_data[CORE_MAX_PRIVATE_DATA]; /* of the peer */
};

/* ----------------------------------------------------------- transport --- */

/* What a transport supplies. All functions that return DAT_RETURN give
 * DAT_SUCCESS or a full DAT error. */
struct core_transport {
    const char *provider; /* provider attribute provider_name */
    unsigned max_eps;     /* of one IA */

    /* Provider-specific attributes (DAT_NAMED_ATTR name/value), constant for
     * the life of the IA. */
    DAT_NAMED_ATTR *(*attributes)(struct core_ia *ia, DAT_COUNT *count);

    /* Opens the device named by ia->name with the parameters of dat.conf;
     * sets ia->tp, ia->adapter and ia->address. */
    DAT_RETURN (*ia_open)(struct core_ia *ia, const char *params);
    void (*ia_close)(struct core_ia *ia);

    /* Publishes / withdraws a range for remote access. When mr_withdraw
     * returns no peer accesses the range any more. ia->lock is held. */
    DAT_RETURN (*mr_publish)(struct core_ia *ia, const struct core_mr *mr);
    void (*mr_withdraw)(struct core_ia *ia, const struct core_mr *mr);

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
    /* Frees ep->tp. Neither lock is needed by the caller but ia->lock. */
    void (*ep_release)(struct core_ep *ep);

    /* Carries out a request; the DTO is checked against local memory.
     * Returns DAT_SUCCESS, having completed it by core_request_done() or
     * queued it by core_request_queue(), or an error and has done nothing. */
    DAT_RETURN (*post)(struct core_ep *ep, const struct core_dto *dto);
    /* A receive was added. */
    void (*recv_posted)(struct core_ep *ep);
    /* Moves what can be moved. `sure`: wait for the EP's lock rather than
     * leave the work to the thread that has it. */
    void (*progress)(struct core_ep *ep, bool sure);
    /* When (CLOCK_MONOTONIC, ns) progress, which last looked at @p seen, will
     * find something by the mere passing of time; UINT64_MAX: never. */
    uint64_t (*next_due)(struct core_ep *ep, uint64_t seen);
    /* Breaks the connection after a local error. Any lock may be held. */
    void (*abort)(struct core_ep *ep);

    /* Sleeping: arm, look once more, sleep if there is still nothing,
     * disarm. sleep returns 0, or EINTR. */
    uint32_t (*arm)(struct core_ia *ia);
    int (*sleep)(struct core_ia *ia, uint32_t armed, uint64_t timeout_ns);
    void (*disarm)(struct core_ia *ia);
    /* Wakes this process's sleepers on the IA. Any thread. */
    void (*wake)(struct core_ia *ia);
};

/* Each provider library defines this one. */
extern const struct core_transport core_transport;

/* ------------------------------------------- for the transport to call --- */

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

/* Has the EP unfinished requests? Then new ones must queue behind them. */
static inline bool core_requests_pending(struct core_ep *ep)
{
    return atomic_load_explicit(&ep->sq_tail, memory_order_relaxed) !=
           atomic_load_explicit(&ep->sq_head, memory_order_acquire);
}
/* Completes a request at once; nothing may be pending. */
void core_request_done(struct core_ep *ep, const struct core_dto *dto,
                       DAT_DTO_COMPLETION_STATUS status);
/* Keeps a request for later; there is room (core checked). ep->lock is held. */
void core_request_queue(struct core_ep *ep, const struct core_dto *dto,
                        const struct core_progress *progress);
/* Completes the finished requests at the head of the queue in order.
 * ep->lock is held. */
void core_requests_retire(struct core_ep *ep);

/* The next posted receive, or NULL; ep->lock is held. The EP's own stays
 * in its queue until core_recv_done; one of an SRQ is copied to *copy. */
struct core_wqe *core_recv_peek(struct core_ep *ep, struct core_wqe *copy);
/* Completes the receive of core_recv_peek. `immed` is NULL but for RDMA
 * writes with immediate data. */
void core_recv_done(struct core_ep *ep, const struct core_wqe *w,
                    DAT_DTO_COMPLETION_STATUS status, uint64_t length,
                    bool solicited, const uint32_t *immed);

/* ---------------------------------------------------- within core only --- */

#define CORE_MAGIC 0xda7c0de5u

void *core_object_new(struct core_ia *ia, DAT_HANDLE_TYPE type, size_t size);
void core_object_free(void *object);
/* The object behind a handle, or NULL if it is not one of this type. */
void *core_object_get(DAT_HANDLE handle, DAT_HANDLE_TYPE type);
static inline void core_ref(struct core_object *o)
{
    atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}
static inline void core_unref(struct core_object *o)
{
    atomic_fetch_sub_explicit(&o->refs, 1, memory_order_relaxed);
}

struct core_ia *core_ia_get(DAT_HANDLE handle);
struct core_evd *core_evd_get(DAT_HANDLE handle);
struct core_ep *core_ep_get(DAT_HANDLE handle);
struct core_pz *core_pz_get(DAT_HANDLE handle);

DAT_RETURN core_evd_new(struct core_ia *ia, DAT_COUNT qlen,
                        struct core_cno *cno, DAT_EVD_FLAGS flags,
                        struct core_evd **out);
void core_evd_destroy(struct core_evd *evd);
/* Queues an event; `notify`: it may end a wait. Returns 0, or -1 when the
 * queue is full (the asynchronous EVD has been told). */
int core_evd_post(struct core_evd *evd, const DAT_EVENT *event, bool notify);
void core_async_event(struct core_ia *ia, DAT_EVENT_NUMBER number,
                      DAT_HANDLE handle, DAT_COUNT reason);
/* Waits until `ready` says so, polling and then sleeping. */
DAT_RETURN core_wait(struct core_ia *ia, bool (*ready)(void *), void *arg,
                     DAT_TIMEOUT timeout);
void core_evd_progress(struct core_evd *evd);

/* Under ia->lock. Returns -1 without memory. */
int core_epset_add(struct core_epset *set, struct core_ep *ep);
void core_epset_remove(struct core_epset *set, struct core_ep *ep);
void core_epset_progress(struct core_epset *set, bool sure);
/* Earliest time after @p seen at which one of the EPs has something due. */
uint64_t core_epset_next_due(struct core_epset *set, uint64_t seen);
void core_epset_free(struct core_epset *set);

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
/* INVALID_STATE with the subtype of the EP's state. */
DAT_RETURN core_ep_bad_state(DAT_EP_STATE state);
/* UNCONNECTED, or what stands for it (reserved, unconfigured). */
void core_ep_set_idle(struct core_ep *ep);
void core_ep_unreserve(struct core_ep *ep); /* its RSP or CR is gone */
/* Takes or gives back the EP's hold on what it uses. */
void core_ep_refs(struct core_ep *ep, void (*change)(struct core_object *));
/* Adds the EP to / takes it off the lists that pollers walk. */
int core_ep_poll(struct core_ep *ep);
void core_ep_unpoll(struct core_ep *ep);
void core_ep_destroy(struct core_ep *ep);

struct core_mr *core_mr_new(struct core_ia *ia);
void core_mr_free(struct core_ia *ia, struct core_mr *mr);
/* The range of a key if it is valid here, else NULL. */
static inline struct core_mr *core_mr_find(struct core_ia *ia, uint32_t key)
{
    struct core_mr *mr = &ia->mrs[key % CORE_MAX_MRS];
    return key && mr->key == key ? mr : NULL;
}
/* Checks a scatter/gather list against local registrations; sums it up. */
DAT_RETURN core_check_iov(struct core_ia *ia, struct core_pz *pz,
                          DAT_COUNT nseg, DAT_COUNT max_seg,
                          const DAT_LMR_TRIPLET *seg, int priv,
                          uint64_t *total);
void core_lmr_destroy(struct core_lmr *lmr);
void core_rmr_destroy(struct core_rmr *rmr);
void core_srq_destroy(struct core_srq *srq);
void core_sp_destroy(struct core_sp *sp);
void core_cr_destroy(struct core_cr *cr);
/* Takes a receive; `outstanding` until core_srq_done. */
bool core_srq_take(struct core_srq *srq, struct core_wqe *w);
void core_srq_done(struct core_srq *srq);
/* Completes everything that is posted with DAT_DTO_ERR_FLUSHED. */
void core_ep_flush(struct core_ep *ep);

/* Entry points, by file. */
DAT_RETURN core_ia_open(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE *,
                        DAT_IA_HANDLE *);
DAT_RETURN core_ia_query(DAT_IA_HANDLE, DAT_EVD_HANDLE *, DAT_IA_ATTR_MASK,
                         DAT_IA_ATTR *, DAT_PROVIDER_ATTR_MASK,
                         DAT_PROVIDER_ATTR *);
DAT_RETURN core_ia_close(DAT_IA_HANDLE, DAT_CLOSE_FLAGS);
DAT_RETURN core_ia_ha(DAT_IA_HANDLE, const DAT_NAME_PTR, DAT_BOOLEAN *);
/* What dat.conf said of an IA name: entry points and parameters. NULL if the
 * registry did not announce the name. */
const DAT_PROVIDER *core_provider_find(const char *name, const char **params);

DAT_RETURN core_set_context(DAT_HANDLE, DAT_CONTEXT);
DAT_RETURN core_get_context(DAT_HANDLE, DAT_CONTEXT *);
DAT_RETURN core_get_type(DAT_HANDLE, DAT_HANDLE_TYPE *);

DAT_RETURN core_cno_create(DAT_IA_HANDLE, DAT_OS_WAIT_PROXY_AGENT,
                           DAT_CNO_HANDLE *);
DAT_RETURN core_cno_modify_agent(DAT_CNO_HANDLE, DAT_OS_WAIT_PROXY_AGENT);
DAT_RETURN core_cno_query(DAT_CNO_HANDLE, DAT_CNO_PARAM_MASK, DAT_CNO_PARAM *);
DAT_RETURN core_cno_free(DAT_CNO_HANDLE);
DAT_RETURN core_cno_wait(DAT_CNO_HANDLE, DAT_TIMEOUT, DAT_EVD_HANDLE *);

DAT_RETURN core_evd_create(DAT_IA_HANDLE, DAT_COUNT, DAT_CNO_HANDLE,
                           DAT_EVD_FLAGS, DAT_EVD_HANDLE *);
DAT_RETURN core_evd_query(DAT_EVD_HANDLE, DAT_EVD_PARAM_MASK, DAT_EVD_PARAM *);
DAT_RETURN core_evd_modify_cno(DAT_EVD_HANDLE, DAT_CNO_HANDLE);
DAT_RETURN core_evd_enable(DAT_EVD_HANDLE);
DAT_RETURN core_evd_disable(DAT_EVD_HANDLE);
DAT_RETURN core_evd_set_unwaitable(DAT_EVD_HANDLE);
DAT_RETURN core_evd_clear_unwaitable(DAT_EVD_HANDLE);
DAT_RETURN core_evd_wait(DAT_EVD_HANDLE, DAT_TIMEOUT, DAT_COUNT, DAT_EVENT *,
                         DAT_COUNT *);
DAT_RETURN core_evd_resize(DAT_EVD_HANDLE, DAT_COUNT);
DAT_RETURN core_evd_post_se(DAT_EVD_HANDLE, const DAT_EVENT *);
DAT_RETURN core_evd_dequeue(DAT_EVD_HANDLE, DAT_EVENT *);
DAT_RETURN core_evd_free(DAT_EVD_HANDLE);

DAT_RETURN core_psp_create(DAT_IA_HANDLE, DAT_CONN_QUAL, DAT_EVD_HANDLE,
                           DAT_PSP_FLAGS, DAT_PSP_HANDLE *);
DAT_RETURN core_psp_create_any(DAT_IA_HANDLE, DAT_CONN_QUAL *, DAT_EVD_HANDLE,
                               DAT_PSP_FLAGS, DAT_PSP_HANDLE *);
DAT_RETURN core_psp_query(DAT_PSP_HANDLE, DAT_PSP_PARAM_MASK, DAT_PSP_PARAM *);
DAT_RETURN core_psp_free(DAT_PSP_HANDLE);
DAT_RETURN core_rsp_create(DAT_IA_HANDLE, DAT_CONN_QUAL, DAT_EP_HANDLE,
                           DAT_EVD_HANDLE, DAT_RSP_HANDLE *);
DAT_RETURN core_rsp_query(DAT_RSP_HANDLE, DAT_RSP_PARAM_MASK, DAT_RSP_PARAM *);
DAT_RETURN core_rsp_free(DAT_RSP_HANDLE);
DAT_RETURN core_cr_query(DAT_CR_HANDLE, DAT_CR_PARAM_MASK, DAT_CR_PARAM *);
DAT_RETURN core_cr_accept(DAT_CR_HANDLE, DAT_EP_HANDLE, DAT_COUNT,
                          const DAT_PVOID);
DAT_RETURN core_cr_reject(DAT_CR_HANDLE, DAT_COUNT, const DAT_PVOID);
DAT_RETURN core_cr_handoff(DAT_CR_HANDLE, DAT_CONN_QUAL);

DAT_RETURN core_ep_create(DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_EVD_HANDLE,
                          DAT_EVD_HANDLE, DAT_EVD_HANDLE, const DAT_EP_ATTR *,
                          DAT_EP_HANDLE *);
DAT_RETURN core_ep_create_with_srq(DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_EVD_HANDLE,
                                   DAT_EVD_HANDLE, DAT_EVD_HANDLE,
                                   DAT_SRQ_HANDLE, const DAT_EP_ATTR *,
                                   DAT_EP_HANDLE *);
DAT_RETURN core_ep_query(DAT_EP_HANDLE, DAT_EP_PARAM_MASK, DAT_EP_PARAM *);
DAT_RETURN core_ep_modify(DAT_EP_HANDLE, DAT_EP_PARAM_MASK,
                          const DAT_EP_PARAM *);
DAT_RETURN core_ep_get_status(DAT_EP_HANDLE, DAT_EP_STATE *, DAT_BOOLEAN *,
                              DAT_BOOLEAN *);
DAT_RETURN core_ep_free(DAT_EP_HANDLE);
DAT_RETURN core_ep_reset(DAT_EP_HANDLE);
DAT_RETURN core_ep_recv_query(DAT_EP_HANDLE, DAT_COUNT *, DAT_COUNT *);
DAT_RETURN core_ep_set_watermark(DAT_EP_HANDLE, DAT_COUNT, DAT_COUNT);
DAT_RETURN core_ep_connect(DAT_EP_HANDLE, DAT_IA_ADDRESS_PTR, DAT_CONN_QUAL,
                           DAT_TIMEOUT, DAT_COUNT, const DAT_PVOID, DAT_QOS,
                           DAT_CONNECT_FLAGS);
DAT_RETURN core_ep_dup_connect(DAT_EP_HANDLE, DAT_EP_HANDLE, DAT_TIMEOUT,
                               DAT_COUNT, const DAT_PVOID, DAT_QOS);
DAT_RETURN core_ep_disconnect(DAT_EP_HANDLE, DAT_CLOSE_FLAGS);

DAT_RETURN core_post_send(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *,
                          DAT_DTO_COOKIE, DAT_COMPLETION_FLAGS);
DAT_RETURN core_post_recv(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *,
                          DAT_DTO_COOKIE, DAT_COMPLETION_FLAGS);
DAT_RETURN core_post_rdma_read(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *,
                               DAT_DTO_COOKIE, const DAT_RMR_TRIPLET *,
                               DAT_COMPLETION_FLAGS);
DAT_RETURN core_post_rdma_write(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *,
                                DAT_DTO_COOKIE, const DAT_RMR_TRIPLET *,
                                DAT_COMPLETION_FLAGS);
DAT_RETURN core_extension_op(DAT_HANDLE, DAT_EXTENDED_OP, va_list);
/* Checks and posts a request that accesses remote memory. */
DAT_RETURN core_post_remote(DAT_EP_HANDLE, struct core_dto *,
                            const DAT_RMR_TRIPLET *, int local_priv);

DAT_RETURN core_pz_create(DAT_IA_HANDLE, DAT_PZ_HANDLE *);
DAT_RETURN core_pz_query(DAT_PZ_HANDLE, DAT_PZ_PARAM_MASK, DAT_PZ_PARAM *);
DAT_RETURN core_pz_free(DAT_PZ_HANDLE);
DAT_RETURN core_lmr_create(DAT_IA_HANDLE, DAT_MEM_TYPE, DAT_REGION_DESCRIPTION,
                           DAT_VLEN, DAT_PZ_HANDLE, DAT_MEM_PRIV_FLAGS,
                           DAT_VA_TYPE, DAT_LMR_HANDLE *, DAT_LMR_CONTEXT *,
                           DAT_RMR_CONTEXT *, DAT_VLEN *, DAT_VADDR *);
DAT_RETURN core_lmr_query(DAT_LMR_HANDLE, DAT_LMR_PARAM_MASK, DAT_LMR_PARAM *);
DAT_RETURN core_lmr_free(DAT_LMR_HANDLE);
DAT_RETURN core_lmr_sync(DAT_IA_HANDLE, const DAT_LMR_TRIPLET *, DAT_VLEN);
DAT_RETURN core_rmr_create(DAT_PZ_HANDLE, DAT_RMR_HANDLE *);
DAT_RETURN core_rmr_create_for_ep(DAT_PZ_HANDLE, DAT_RMR_HANDLE *);
DAT_RETURN core_rmr_query(DAT_RMR_HANDLE, DAT_RMR_PARAM_MASK, DAT_RMR_PARAM *);
DAT_RETURN core_rmr_bind(DAT_RMR_HANDLE, DAT_LMR_HANDLE,
                         const DAT_LMR_TRIPLET *, DAT_MEM_PRIV_FLAGS,
                         DAT_VA_TYPE, DAT_EP_HANDLE, DAT_RMR_COOKIE,
                         DAT_COMPLETION_FLAGS, DAT_RMR_CONTEXT *);
DAT_RETURN core_rmr_free(DAT_RMR_HANDLE);
DAT_RETURN core_srq_create(DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_SRQ_ATTR *,
                           DAT_SRQ_HANDLE *);
DAT_RETURN core_srq_free(DAT_SRQ_HANDLE);
DAT_RETURN core_srq_post_recv(DAT_SRQ_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *,
                              DAT_DTO_COOKIE);
DAT_RETURN core_srq_query(DAT_SRQ_HANDLE, DAT_SRQ_PARAM_MASK, DAT_SRQ_PARAM *);
DAT_RETURN core_srq_resize(DAT_SRQ_HANDLE, DAT_COUNT);
DAT_RETURN core_srq_set_lw(DAT_SRQ_HANDLE, DAT_COUNT);

#endif
