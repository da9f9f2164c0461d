/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What core keeps to itself: objects that no transport sees, and the functions
 * by which core's files use one another. A file calls only those below it:
 *
 *  provider                          entry points, by name
 *  ia                                open IAs
 *  connect/  connection_request service_point connection ep
 *  memory/   rmr lmr pz range
 *  collectives/ group load call attributes
 *  transfer/ extension srq dto
 *  events/   cno evd                 operations of EVDs and CNOs
 *            wait event              waiting for events, posting events
 *            polling                 which EPs a poll looks at
 *  connect/  ep_state
 *  events/   bells epset             sleeping threads, sets of EPs
 *  object fork fence
 */
#ifndef DAPL_CORE_INTERNAL_H
#define DAPL_CORE_INTERNAL_H

#include "providers/core/core.h"
#include "providers/core/fence.h"
#include "providers/core/params.h"

#define CORE_MAX_EVD_QLEN (1 << 20)

/* ------------------------------------------------------------- objects --- */

/* A growing set of EPs that pollers read without a lock. */
struct core_ep_array {
    struct core_ep_array *older; /* kept: a poller may still be in it */
    atomic_uint n;
    unsigned cap;
    _Atomic(struct core_ep *) ep[];
};

/* A line of dat.conf (provider.c). */
struct core_entry {
    struct core_entry *next;
    const struct core_transport *transport;
    DAT_PROVIDER table;
    char name[DAT_NAME_MAX_LENGTH];
    char params[CORE_PARAMS_MAX + 1]; /* one more than allowed: seen later */
    char collectives[CORE_PARAMS_MAX + 1]; /* a library; "": none */
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
    uint64_t bell; /* of its waiter; 0: none sleeps; ia->bell_lock */
};

struct core_evd_slot {
    /* Vyukov's bounded queue, with another index so that zeroed memory is an
     * empty queue. Position of the lap's first slot: a producer may fill it; 1
     * more: it is full. */
    _Atomic uint64_t turn;
    bool silent; /* the event ends no wait */
    DAT_EVENT event;
};

struct core_evd_ring {
    _Atomic(struct core_evd_ring *) next; /* a larger one; event.c */
    size_t size;
    uint64_t mask;
    bool rewinds; /* one thread is producer and consumer (one_thread) */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t tail; /* producers */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t head; /* the consumer */
    struct core_evd_slot slot[];
};

/* Each side writes to cache lines of its own. */
#define CORE_APART(type, a, b)                                                 \
    (offsetof(type, a) / CORE_CACHELINE < offsetof(type, b) / CORE_CACHELINE)
_Static_assert(CORE_APART(struct core_evd_ring, mask, tail) &&
                   CORE_APART(struct core_evd_ring, tail, head),
               "producers and the consumer");
_Static_assert(CORE_APART(struct core_ep, state, rq_tail) &&
                   CORE_APART(struct core_ep, sq_tail, rq_head) &&
                   CORE_APART(struct core_ep, rq_head, sq_head),
               "posting and completing");

struct core_evd {
    struct core_object o;
    DAT_EVD_FLAGS flags;
    _Atomic(struct core_evd_ring *) ring; /* producers fill this one */
    struct core_evd_ring *first;          /* the consumer empties this one */
    _Atomic uint64_t qlen;                /* its room, in events */
    _Atomic(struct core_cno *) cno;
    atomic_bool triggered; /* its CNO has an event to report */
    atomic_bool enabled, waitable, waiting, overflowed;
    struct core_epset eps;    /* connected EPs whose events come here … */
    struct core_epset polled; /* … and those that each poll looks at */
    unsigned polls;           /* that found nothing */
    /* The thread that polls the empty queue, and the event that it fills in
     * itself if it finds one: evd_hand_over(). 0, NULL: none. */
    _Atomic uintptr_t poller;
    _Atomic(DAT_EVENT *) wanted;
    uint64_t bell;          /* of its waiter; 0: none sleeps; ia->bell_lock */
    _Atomic uint64_t bells; /* to ring for an event: its and its CNO's */
};

/* ---- shared receive queues ---- */

struct core_srq {
    struct core_object o;
    struct core_pz *pz;
    pthread_mutex_t lock; /* several EPs take from it */
    struct core_wqe *wqe;
    uint32_t depth, max_iov, head, count, outstanding;
    DAT_COUNT low_watermark; /* 0: no event wanted */
};

/* ----------------------------------------------------------- functions --- */

#define CORE_MAGIC 0xda7c0de5u

/* A type of objects. */
struct core_kind {
    DAT_HANDLE_TYPE type;
    /* Bytes that are zeroed when the memory serves another object (0: all).
     * Pollers may still read what lies behind (core.h, rule 6). */
    size_t cleared;
    /* The IA is closed abruptly; objects that use this one are gone. ia->lock
     * is held. */
    void (*destroy)(void *object);
    /* In a forked child, where the parent's threads do not exist. Or NULL. */
    void (*forked)(void *object);
};

/* A new object of the IA, whose lock is held (NULL: of no IA). NULL: out of
 * memory. */
void *core_object_new(struct core_ia *ia, const struct core_kind *kind,
                      size_t size);
void core_object_free(void *object);
/* The free call of an object: destroys it. @in_use: the subtype of the error if
 * other objects or DTOs use it. */
DAT_RETURN core_object_end(DAT_HANDLE handle, DAT_HANDLE_TYPE type,
                           DAT_RETURN_SUBTYPE in_use);
/* The object behind a handle, or NULL if it is not one of this type. */
static inline void *core_object_get(DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
    struct core_object *o = handle;
    if (!o || ((uintptr_t)o & 7) || o->magic != CORE_MAGIC || o->type != type)
        return NULL;
    return o;
}
/* INVALID_HANDLE with the subtype of this type. */
DAT_RETURN core_bad_handle(DAT_HANDLE_TYPE type);
/* Checks the arguments of a query: the handle is of this type, the mask has no
 * `unknown` bits, and param is not NULL. */
DAT_RETURN core_query_check(DAT_HANDLE handle, DAT_HANDLE_TYPE type,
                            uint64_t unknown, const void *param);
static inline void core_ref(struct core_object *o)
{
    atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}
static inline void core_unref(struct core_object *o)
{
    atomic_fetch_sub_explicit(&o->refs, 1, memory_order_relaxed);
}

/* fork.c */
/* Registers the handlers of fork. They may be registered several times: each
 * fork then does their work once. */
void core_fork_watch(void);
/* The IA is open / is no longer open: forked children cut it off. */
void core_fork_add(struct core_ia *ia);
void core_fork_remove(struct core_ia *ia);
/* The error of a child's call that would need an IA of its parent
 * (ia->forked). */
#define CORE_FORKED CORE_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE)

static inline struct core_ia *core_ia_get(DAT_HANDLE handle)
{
    return core_object_get(handle, DAT_HANDLE_TYPE_IA);
}
static inline struct core_evd *core_evd_get(DAT_HANDLE handle)
{
    return core_object_get(handle, DAT_HANDLE_TYPE_EVD);
}
static inline struct core_ep *core_ep_get(DAT_HANDLE handle)
{
    return core_object_get(handle, DAT_HANDLE_TYPE_EP);
}
static inline struct core_pz *core_pz_get(DAT_HANDLE handle)
{
    return core_object_get(handle, DAT_HANDLE_TYPE_PZ);
}

DAT_RETURN core_evd_new(struct core_ia *ia, DAT_COUNT qlen,
                        struct core_cno *cno, DAT_EVD_FLAGS flags,
                        struct core_evd **out);
/* The room of a queue for so many events; and such a queue. */
uint64_t core_evd_room(uint64_t qlen);
struct core_evd_ring *core_evd_ring_new(uint64_t qlen,
                                        const struct core_transport *t);
/* Queues an event, which ends a wait if `notify`. Returns 0, or -1 when the
 * queue is full; the asynchronous EVD then gets an event. */
int core_evd_post(struct core_evd *evd, const DAT_EVENT *event, bool notify);
/* core_evd_post in two steps: reserve returns the event to fill in (NULL: the
 * queue is full; extension data only if its number is an extension's), commit
 * makes it visible. It may be the event of this thread's dat_evd_dequeue. */
DAT_EVENT *core_evd_reserve(struct core_evd *evd);
void core_evd_commit(struct core_evd *evd, DAT_EVENT *event, bool notify);
/* core_evd_post, but without an asynchronous event when the queue is full. */
int core_evd_try(struct core_evd *evd, const DAT_EVENT *event);

/* Asynchronous events of the IA go to this EVD, its own or one of another IA,
 * until either of the two IAs ends. Any thread. */
void core_async_begin(struct core_ia *ia, struct core_evd *evd);
void core_async_end(struct core_ia *ia);
/* That EVD, or NULL. */
struct core_evd *core_async_evd(struct core_ia *ia);
void core_async_event(struct core_ia *ia, DAT_EVENT_NUMBER number,
                      DAT_HANDLE handle, DAT_COUNT reason);
/* A thread that waits for an EVD, or for the EVDs of a CNO. */
struct core_waiter {
    struct core_ia *ia;
    struct core_evd *evd; /* NULL: waits for the CNO */
    struct core_cno *cno; /* NULL: waits for the EVD */
    bool (*ready)(struct core_waiter *w);
    atomic_bool *waiting; /* set to false if the thread is cancelled */
    uint64_t bell;        /* while it sleeps: one bit; 0: all are taken */
    int cancel_state;     /* of the thread, before the wait */
};
/* Sets *w->waiting; false: another thread waits already. core_wait_end resets
 * it, and must come last. */
bool core_wait_begin(struct core_waiter *w);
void core_wait_end(struct core_waiter *w);
/* Waits until ready(w), polling and then sleeping. The thread may be cancelled
 * in sleep. */
DAT_RETURN core_wait(struct core_waiter *w, DAT_TIMEOUT timeout);

/* bells.c. Takes a bell and leaves its bit wherever the waiter's events can
 * appear: from then on each rings it. False: all bells are taken. */
bool core_bell_take(struct core_waiter *w);
void core_bell_give(struct core_waiter *w);
/* The EVD's CNO has changed / the EP was connected: sets the bells of their
 * sleepers. */
void core_evd_bells(struct core_evd *evd);
void core_ep_bells(struct core_ep *ep);
/* Tells the transport the bells of the EP's sleepers. ia->bell_lock is held. */
void core_ep_set_bells(struct core_ep *ep);
/* Rings those of the bells that are still taken. After a fence (fence.h). */
static inline void core_ring(struct core_ia *ia, uint64_t bells)
{
    if (bells && (bells &= atomic_load(&ia->bells)))
        ia->transport->ring(ia, bells);
}
/* The EVDs of a CNO: the next one after @p evd (NULL: the first), or NULL.
 * ia->lock is held. */
struct core_evd *core_cno_next(const struct core_cno *cno,
                               const struct core_evd *evd);

/* The next EP of a set, from place *at on; NULL: there is none. */
static inline struct core_ep *core_epset_next(struct core_epset *set,
                                              unsigned *at)
{
    struct core_ep_array *a =
        atomic_load_explicit(&set->now, memory_order_acquire);
    unsigned n = a ? atomic_load_explicit(&a->n, memory_order_acquire) : 0;
    while (*at < n) {
        struct core_ep *ep =
            atomic_load_explicit(&a->ep[(*at)++], memory_order_acquire);
        if (ep)
            return ep;
    }
    return NULL;
}
/* Under ia->bell_lock. Returns -1 without memory. */
int core_epset_add(struct core_epset *set, struct core_ep *ep);
void core_epset_remove(struct core_epset *set, struct core_ep *ep);
void core_epset_free(struct core_epset *set);

/* polling.c. Makes progress of the EPs that a poll of the EVD looks at (NULL:
 * of any EVD of the IA), and of those that are announced. */
void core_poll(struct core_ia *ia, struct core_evd *evd, bool sure);
void core_progress(struct core_ia *ia, struct core_ep *ep, bool sure);
/* Makes progress of a few other EPs, in turn. An announcement can be lost,
 * because each peer can overwrite those of others; and a `sure` look does more
 * for an EP, such as dropping stale maps. */
void core_poll_some(struct core_ia *ia, bool sure);
/* The EPs that each poll of the EVD (NULL: of the IA) looks at. */
static inline struct core_epset *core_polled(struct core_ia *ia,
                                             struct core_evd *evd)
{
    if (!ia->transport->announce)
        return evd ? &evd->eps : &ia->eps;
    return evd ? &evd->polled : &ia->polled;
}

/* INVALID_STATE with the subtype of the EP's state. */
DAT_RETURN core_ep_bad_state(DAT_EP_STATE state);
/* Sets the state to UNCONNECTED, or to RESERVED or UNCONFIGURED. */
void core_ep_set_idle(struct core_ep *ep);
/* The RSP or CR that had reserved the EP is gone. */
void core_ep_unreserve(struct core_ep *ep);
/* An RSP has its request: it no longer listens. Returns its EP, which stays
 * reserved. ia->lock is held. */
struct core_ep *core_rsp_served(struct core_sp *sp);
/* May a consumer send that as private data? */
static inline bool core_private_data_ok(const struct core_ia *ia,
                                        DAT_COUNT size, const void *data)
{
    return size >= 0 && (unsigned)size <= ia->can.max_private_data &&
           (!size || data);
}

#define CORE_PRIV_ALL ((int)DAT_MEM_PRIV_ALL_FLAG | CORE_PRIV_REMOTE_ATOMIC)

/* range.c; ia->lock is held. A range with a new key; NULL: there are too
 * many. Not published yet. */
struct core_mr *core_range_new(struct core_ia *ia);
/* Ends a range that is not, or no longer, published. */
void core_range_give_back(struct core_ia *ia, struct core_mr *mr);
/* Withdraws a range, waits until no peer accesses it, and gives it back.
 * ia->lock is not held while it waits. A stopped peer may stay inside for long:
 * the wait takes at most *patience nanoseconds, is subtracted from it, and then
 * the call returns false. The range is withdrawn, and this may be called again.
 */
bool core_range_free(struct core_ia *ia, struct core_mr *mr,
                     uint64_t *patience);
#define CORE_PATIENCE 1000000000u /* ns */

static inline DAT_RETURN core_check_list(DAT_COUNT nseg, DAT_COUNT max_seg,
                                         const DAT_LMR_TRIPLET *seg)
{
    if (nseg < 0 || nseg > max_seg)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (nseg && !seg)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    return DAT_SUCCESS;
}

/* Checks a list of segments against local registrations; *total: its bytes. */
static inline DAT_RETURN core_check_iov(struct core_ia *ia, struct core_pz *pz,
                                        DAT_COUNT nseg, DAT_COUNT max_seg,
                                        const DAT_LMR_TRIPLET *seg, int priv,
                                        uint64_t *total)
{
    DAT_RETURN bad = core_check_list(nseg, max_seg, seg);
    if (bad != DAT_SUCCESS)
        return bad;
    uint64_t sum = 0;
    for (DAT_COUNT i = 0; i < nseg; i++) {
        if (!seg[i].segment_length)
            continue;
        const struct core_mr *mr = core_mr_find(ia, seg[i].lmr_context);
        if (!mr || !core_range_within(mr, seg[i].virtual_address,
                                      seg[i].segment_length))
            return CORE_ERROR(DAT_PRIVILEGES_VIOLATION, 0);
        if ((mr->priv & priv) != priv)
            return CORE_ERROR(DAT_PRIVILEGES_VIOLATION, 0);
        if (mr->pz_id != pz->id)
            return CORE_ERROR(DAT_PROTECTION_VIOLATION, 0);
        sum += seg[i].segment_length;
    }
    *total = sum;
    return DAT_SUCCESS;
}
/* Takes a receive, which is outstanding until core_srq_done. False: none. */
bool core_srq_take(struct core_srq *srq, struct core_wqe *w);
void core_srq_done(struct core_srq *srq);
/* Completes all posted requests and receives with DAT_DTO_ERR_FLUSHED. */
void core_ep_flush(struct core_ep *ep);

/* collectives/. Loads the library of this path ("": none) for an IA that is
 * being opened; and ends that. */
DAT_RETURN core_collectives_open(struct core_ia *ia, const char *path);
void core_collectives_close(struct core_ia *ia);
/* Ends groups: all, or those of which the consumer knows that they were not
 * created. ia->lock is not held. */
void core_collectives_reap(struct core_ia *ia, bool all);
void core_collectives_forked(struct core_ia *ia);
/* A poll of the EVD (NULL: of any): its groups make progress. Not called where
 * none are offered. */
void core_collectives_poll(struct core_ia *ia, const struct core_evd *evd);
/* The same if the waiter for that EVD goes to sleep. */
void core_collectives_rest(struct core_ia *ia, const struct core_evd *evd);
DAT_RETURN core_collectives_op(DAT_HANDLE handle, DAT_IB_OP op, va_list *args);

/* Entry points, by file. */
DAT_RETURN core_ia_open(const struct core_entry *, DAT_COUNT, DAT_EVD_HANDLE *,
                        DAT_IA_HANDLE *);
DAT_RETURN core_ia_query(DAT_IA_HANDLE, DAT_EVD_HANDLE *, DAT_IA_ATTR_MASK,
                         DAT_IA_ATTR *, DAT_PROVIDER_ATTR_MASK,
                         DAT_PROVIDER_ATTR *);
DAT_RETURN core_ia_close(DAT_IA_HANDLE, DAT_CLOSE_FLAGS);
DAT_RETURN core_ia_ha(DAT_IA_HANDLE, const DAT_NAME_PTR, DAT_BOOLEAN *);

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
DAT_RETURN core_lmr_try_free(DAT_LMR_HANDLE);
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
