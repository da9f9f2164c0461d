/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport sees of core.
 *
 * A DAT 2.0 provider is a handful of small files behind one table. Core has
 * what all providers share: objects and handles, EVD queues, attributes, the
 * checks of posts, the connection state machine, and the entry points that
 * libdat2 calls. A transport (shm, ofi, sim) fills in one struct
 * core_transport. Core calls the functions of the table; the transport reports
 * back by calling the core_… functions at the end of this file.
 *
 * Rules
 *
 *  1. Threads. Consumers may use different objects from different threads at
 *     the same time, and post to an EP while another thread polls its EVDs. One
 *     object is used by one thread at a time. (dat.conf promises less:
 *     "nonthreadsafe".)
 *  2. Locks are taken in this order: ia->lock (creation, destruction,
 *     connections), ia->bell_lock (going to sleep), ep->lock (the receive side
 *     and the unfinished requests of one EP). For a post to an EP that has no
 *     unfinished requests, core takes no lock. Each function below names the
 *     locks that its caller holds; if it names none, its caller holds none.
 *  3. Errors. A function that returns DAT_RETURN returns DAT_SUCCESS or a
 *     complete DAT error (CORE_ERROR), and has then changed nothing. (Freeing
 *     an LMR or RMR, or binding an RMR again, may give up on a stopped peer:
 *     then the range is withdrawn already.) Other functions return 0 or -1, or
 *     NULL, as they say. A request that was posted reports its error in its
 *     completion.
 *  4. Order. Requests complete in the order of their posts. One that can't
 *     complete at once waits in the EP's queue of unfinished requests, and
 *     every later one behind it.
 *  5. Progress. Nothing moves while no consumer polls, waits or posts, unless
 *     the transport has a thread or its network moves data by itself.
 *  6. Memory that pollers read without a lock (EPs, connections) is never given
 *     back; it serves a later object of the same kind. What a poller reads
 *     there without ep->lock is a hint.
 *  7. Cancellation. A thread that holds a lock, or is in a function of the
 *     transport, can't be cancelled, except in core_transport.sleep. Core sees
 *     to that in ia_open, in ia_close and wherever ia->lock is held. In all
 *     other functions the transport does, by core_cancel_off before it calls a
 *     cancellation point such as open or write.
 *  8. fork. In a child, connections of its parent's IAs are over. The child may
 *     free what it inherited, and open IAs of its own.
 *
 * Files, in reading order
 *
 *  core.h internal.h    what transports see; what core keeps to itself
 *  provider.c           entry points: the library as libdat2 loads it
 *  ia.c attributes.c    open IAs, and what they say of themselves
 *  object.c fork.c      their objects, and what a fork does to them
 *  params.[ch]          the parameters of a line of dat.conf
 *  connect/             ep ep_state service_point connection_request connection
 *  memory/              pz range lmr rmr
 *  transfer/            dto extension srq: posting, and completing what was
 *                       posted
 *  collectives/         hook load group call: collectives of a library above
 *  segments.h           copies lists of segments
 *  atomic.h             atomics that the processor executes
 *  events/              event evd cno: queues of events; wait bells: sleeping;
 *                       polling epset: which EPs a poll looks at
 *  fence.[ch]           a fence that is free for the side that runs often
 *
 * To add a provider: make a folder beside shm, with a struct core_transport
 * that a constructor gives to core_transport_is, and a dat.conf.in; add it to
 * PROVIDERS in the Makefile and to scripts/layers. The smallest transport is in
 * tests/provider/test_transport_offers.c. All of tests/provider must pass over
 * it, as must dapltest and dtest.
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
#include <time.h>

#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#include "providers/core/extensions.h"

#define CORE_CACHELINE 64
/* Upper bounds of struct core_ability. */
#define CORE_MAX_IOV          16
#define CORE_MAX_PRIVATE_DATA 256
#define CORE_MAX_MRS          16384 /* LMRs and bound RMRs of an IA */
#define CORE_MAX_ATTRIBUTES   40    /* of the provider's own */

#define CORE_ERROR(type, subtype)                                              \
    ((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))
#define CORE_PRIV_REMOTE_ATOMIC ((int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#define CORE_PRIV_REMOTE                                                       \
    ((int)DAT_MEM_PRIV_REMOTE_READ_FLAG |                                      \
     (int)DAT_MEM_PRIV_REMOTE_WRITE_FLAG | CORE_PRIV_REMOTE_ATOMIC)

struct core_ia;
struct core_ep;
struct core_transport;
struct core_waiter;      /* a thread in dat_evd_wait or dat_cno_wait */
struct core_collectives; /* collectives.h */

/* Types of objects. */
#define CORE_HANDLE_TYPES (DAT_IB_HANDLE_TYPE_COLLECTIVE + 1)

/* ------------------------------------------------------------- objects --- */

struct core_kind; /* of an object: internal.h */

/* First member of every object that a DAT handle points to. */
struct core_object {
    const DAT_PROVIDER *provider; /* libdat2 finds the entry points here */
    uint32_t magic;               /* CORE_MAGIC while alive */
    DAT_HANDLE_TYPE type;
    const struct core_kind *kind;
    struct core_ia *ia;
    struct core_object *prev, *next; /* ia->objects */
    DAT_CONTEXT context;
    atomic_uint refs; /* objects and DTOs that use this one */
};

/* A set of EPs that pollers read without a lock. */
struct core_ep_array;
struct core_epset {
    _Atomic(struct core_ep_array *) now;
    atomic_uint count;
};

/* What an IA can do, as its attributes say. */
struct core_ability {
    unsigned max_eps;      /* also PZs, SRQs, CNOs, and service points of both
                              kinds together; twice as many EVDs */
    unsigned max_dtos;     /* of each queue of an EP, or of an SRQ */
    unsigned default_dtos; /* of an EP created without attributes */
    unsigned max_iov;      /* of sends and receives */
    unsigned max_rdma_iov;
    unsigned max_rdma_reads; /* of an EP, in each direction */
    unsigned max_private_data;
    uint64_t max_message_size, max_rdma_size; /* bytes */
    uint32_t max_inline_send; /* extensions.h; 0: core refuses them */
    bool srq, rmr, write_immed, atomics; /* false: core refuses them */
    bool rmr_of_ep; /* RMRs that only one EP's peer may use; false: core refuses
                       them */
    bool grows;     /* growing sends, extensions.h; false: core refuses them */
    bool places; /* placed receives, extensions.h; false: core refuses them */
    bool counts; /* counted writes, extensions.h; false: core refuses them */
    bool syncs;  /* synchronous RDMA, extensions.h; false: core refuses it */
    bool direct; /* direct messages, extensions.h; false: core refuses them */
};

struct core_ia {
    struct core_object o;
    const struct core_transport *transport;
    struct core_ability can; /* the transport's; ia_open may lower it */
    void *tp;                /* the transport's part */
    struct core_ia *next_open, **open_at; /* fork.c */
    bool forked; /* inherited by a forked child: it can only be closed */
    char name[DAT_NAME_MAX_LENGTH];
    char adapter[DAT_NAME_MAX_LENGTH]; /* IA attribute adapter_name */
    /* names, in dat.conf, of the IAs that carry its data, and NULL at the end;
     * set by the transport. NULL: there are none */
    const char *const *carriers;
    DAT_NAMED_ATTR attributes[CORE_MAX_ATTRIBUTES]; /* core_attribute_add */
    DAT_COUNT attribute_count;
    struct sockaddr_storage address;
    struct core_evd *async_evd; /* event.c; NULL: none, or no longer */
    struct core_evd *own_async; /* created by dat_ia_open, or NULL */
    struct core_ia *tellers, *next_teller, **teller_at; /* event.c */
    pthread_mutex_t lock;                               /* core_ia_lock */
    int cancel_state; /* of the lock's holder, before it took the lock */
    struct core_object *objects;
    unsigned count[CORE_HANDLE_TYPES];    /* objects by type */
    struct core_collectives *collectives; /* NULL: none are offered */
    struct core_mr *mrs;                  /* CORE_MAX_MRS, by index */
    unsigned mr_hint;                     /* all before this index are in use */
    uint64_t close_patience;  /* range.c: of an abrupt close, in all */
    struct core_epset eps;    /* connected EPs, … */
    struct core_epset polled; /* … and those that each poll looks at */
    atomic_uint round;        /* polling.c: next EP to look at unannounced */
    /* set by the transport, or NULL; it reads 0 while no peer has announced
     * anything (core_transport.announced) */
    _Atomic uint64_t *announced_words;
    pthread_mutex_t bell_lock; /* bells.c: sleeping threads */
    _Atomic uint64_t bells;    /* bells that sleepers have taken */
    atomic_uint patience_ns;   /* wait.c: how long polling with yields pays */
};

struct core_pz {
    struct core_object o;
    uint32_t id; /* unique within the process, never 0 */
};

/* ---- memory ---- */

/* A registered range, of an LMR or of a bound RMR. Its key is both its LMR and
 * its RMR context: index in the low bits, generation above. 0 is no key. */
struct core_mr {
    uint32_t key;
    uint32_t generation;
    uint64_t base;
    uint64_t length;
    int priv;
    uint32_t pz_id;
    struct core_ep *ep;   /* the only EP whose peer may use it; NULL: any */
    uint32_t rmr_context; /* the name that peers use: the key, unless
                             mr_publish sets another */
    void *tp;             /* the transport's part */
};

/* The range with this key, or NULL: the key is not valid. */
static inline struct core_mr *core_mr_find(struct core_ia *ia, uint32_t key)
{
    struct core_mr *mr = &ia->mrs[key % CORE_MAX_MRS];
    return key && mr->key == key ? mr : NULL;
}
/* Is [address, address + bytes) within [base, base + length)? */
static inline bool core_within(uint64_t base, uint64_t length, uint64_t address,
                               uint64_t bytes)
{
    return address >= base && bytes <= length &&
           address - base <= length - bytes;
}
/* Is [address, address + length) within the range? */
static inline bool core_range_within(const struct core_mr *mr, uint64_t address,
                                     uint64_t length)
{
    return core_within(mr->base, mr->length, address, length);
}

/* ---- service points and connection requests ---- */

struct core_sp { /* service point: a PSP or an RSP */
    struct core_object o;
    DAT_CONN_QUAL qual;
    struct core_evd *evd;
    struct core_ep *ep; /* of an RSP, which serves one request; else NULL */
    bool served;        /* an RSP has had its request: it listens no more */
    void *tp;           /* the transport's part */
};

struct core_cr { /* connection request that has arrived */
    struct core_object o;
    struct sockaddr_storage remote;
    DAT_PORT_QUAL remote_port;
    DAT_COUNT private_size;
    unsigned char private_data[CORE_MAX_PRIVATE_DATA];
    struct core_ep *ep; /* of an RSP; else NULL */
    void *tp;           /* the transport's half-open connection */
};

/* ---- endpoints ---- */

/* A posted receive, or a request that could not complete when it was posted.
 * Entries of a queue have room for as many segments as its EP may post. */
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

/* A request as posted. `seg` is the consumer's, and valid only during the call.
 */
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
    bool is_inline; /* seg is memory that is not registered: the transport
                       copies it now, or refuses the request with
                       DAT_INSUFFICIENT_RESOURCES */
    bool grows;     /* the transport may hold it for core_transport.append */
};

/* An unfinished request (rule 4). */
struct core_request {
    enum core_op op;
    uint32_t immed;
    bool done; /* it completes with `status` when its turn comes */
    DAT_DTO_COMPLETION_STATUS status;
    void *tp; /* the transport's request_size bytes, zero at first (but for
                 the last request_unset) */
    struct core_wqe w;
};

struct core_ep {
    struct core_object o;
    struct sockaddr_in6 remote; /* or sockaddr_in: core_ep_remote */
    struct core_pz *pz;
    struct core_evd *recv_evd, *request_evd;
    struct core_srq *srq;
    DAT_EP_ATTR attr;
    dapl_place_t place;  /* extensions.h; NULL: none */
    uint32_t place_head; /* bytes that the receive gets in any case */
    /* receive queue: posted by the consumer, taken under lock */
    uint32_t rq_places, rq_stride;
    unsigned char *rq; /* core_recv_at */
    /* unfinished requests: appended by the poster, retired under lock */
    uint32_t sq_mask, sq_stride, sq_tp; /* sq_tp: where a request has its tp */
    unsigned char *sq;                  /* core_request_at */
    bool sq_failed; /* a request has failed: no later one succeeds until the EP
                       is reset; under lock */

    /* From here on, what pollers read without a lock (rule 6): atomic, and not
     * cleared when the memory serves another EP. */
    _Alignas(CORE_CACHELINE) _Atomic(void *) tp; /* the transport's connection,
                                                    NULL before */
    _Atomic int state;                           /* DAT_EP_STATE */
    /* The peer's private data: here, or, if it is longer, in private_data. They
     * stay for the next EP in this memory: events that the consumer has not
     * taken yet may point there. */
    unsigned char private_little[32];
    void *private_data;
    _Alignas(CORE_CACHELINE) _Atomic uint64_t rq_tail;
    uint32_t rq_tail_place; /* rq_tail modulo rq_places, without a division */
    _Atomic uint64_t sq_tail;
    _Alignas(CORE_CACHELINE) _Atomic uint64_t rq_head;
    uint32_t rq_head_place;
    atomic_flag lock;     /* core_ep_lock */
    atomic_bool received; /* a message, since polling.c looked last */
    bool announced;       /* its peer announces; ia->bell_lock */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t sq_head;
    /* not used by posts */
    struct core_evd *connect_evd;
    DAT_CONN_QUAL remote_qual;
    bool reserved; /* by an RSP, or by its CR */
};

/* The peer's address. */
static inline struct sockaddr_storage core_ep_remote(const struct core_ep *ep)
{
    struct sockaddr_storage address = {0};
    memcpy(&address, &ep->remote, sizeof ep->remote);
    return address;
}

/* ----------------------------------------------------------- transport --- */

/* What a transport supplies. A transport leaves out (NULL) those marked
 * "optional" if it has nothing to do there. Several threads may be in functions
 * of one IA at the same time. */
struct core_transport {
    const char *provider; /* provider attribute provider_name */
    struct core_ability can;
    unsigned max_ias;     /* of one process; 0: core's default */
    size_t request_size;  /* the transport's part of a core_request … */
    size_t request_unset; /* … and the bytes at its end that need not be 0 */
    bool requests_move;   /* core may move unfinished requests: the transport
                             keeps no address of one, and reads none without
                             ep->lock */
    bool one_thread;      /* one thread runs all ranks of the process: event
                             queues begin anew whenever they are empty, so that
                             many ranks touch little memory */
    bool calls_ias;       /* its functions call IAs of other libraries */
    size_t ep_size;       /* bytes of core_ep_area */

    /* ---- the IA ---- */

    /* Optional. If the IA of these parameters merely stands for another one,
     * opens that one in its place: *ia is the handle for libdat2 (its first
     * member is a DAT_PROVIDER *), or stays DAT_HANDLE_NULL. The name lives as
     * long as the process. Says on stderr what is wrong. */
    DAT_RETURN(*stand_in)
    (const char *name, const char *params, DAT_COUNT async_qlen,
     DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia);
    /* Opens the device named by ia->name with the parameters of its dat.conf
     * line. Sets ia->tp, ia->adapter and ia->address, may lower ia->can, and
     * adds attributes. Says on stderr what is wrong with a parameter. After an
     * error core does not call ia_close. */
    DAT_RETURN (*ia_open)(struct core_ia *ia, const char *params);
    /* Closes it. EPs, ranges and service points have been released before. An
     * abrupt close waits about a second for stopped peers: then they may still
     * be accessing a withdrawn range. */
    void (*ia_close)(struct core_ia *ia);
    /* Optional. The consumer asks for the attributes: rewrites the texts of
     * those whose values change. */
    void (*attributes_asked)(struct core_ia *ia);
    /* Optional. The same for an EP: sets the provider-specific attributes in
     * *attr, which must live as long as its connection. ia->lock is held. */
    void (*ep_attributes_asked)(struct core_ep *ep, DAT_EP_ATTR *attr);
    /* Optional. In a forked child, for each IA that its parent had open: closes
     * or replaces what the two processes share, so that no later call of the
     * child changes anything of the parent's (rule 8). */
    void (*forked)(struct core_ia *ia);

    /* ---- memory; ia->lock is held ---- */

    /* Lets peers access a range, as mr->priv allows. May set mr->tp, and
     * mr->rmr_context. */
    DAT_RETURN (*mr_publish)(struct core_ia *ia, struct core_mr *mr);
    /* Ends that. No new access begins after the first call. Returns true when
     * none is going on any more; else core calls it again a little later, and
     * releases ia->lock in between. After about a second core gives up, until
     * the consumer makes its call again. Does not wait with ia->lock held. */
    bool (*mr_withdraw)(struct core_ia *ia, struct core_mr *mr);

    /* ---- connections; ia->lock is held. Private data are valid only during
     * the call, and have at most can.max_private_data bytes. ---- */

    /* Listens at sp->qual, and reports requests by core_cr_arrived. */
    DAT_RETURN (*listen)(struct core_sp *sp);
    void (*unlisten)(struct core_sp *sp);
    /* Begins to connect to ep->remote, ep->remote_qual. Ends in
     * core_ep_established or core_ep_disconnected, at the latest when the
     * timeout is over (UINT64_MAX: never), and not within this call if it
     * returns an error. */
    DAT_RETURN(*connect)
    (struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
     const void *private_data);
    /* Accepts a request with this EP: cr->tp becomes the EP's connection. Ends
     * in core_ep_established or core_ep_disconnected (accept completion
     * error). After an error the CR can still be rejected. */
    DAT_RETURN(*accept)
    (struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
     const void *private_data);
    /* Frees cr->tp; tells the peer, if it still waits. */
    void (*reject)(struct core_cr *cr, DAT_COUNT size,
                   const void *private_data);
    /* Begins to disconnect, or to give up connecting or accepting; ends in
     * core_ep_disconnected. Graceful: only when all requests have completed;
     * meanwhile the transport sets the state to DISCONNECT_PENDING. Core may
     * call it again before that end. ep->tp is not NULL. */
    void (*disconnect)(struct core_ep *ep, bool graceful);
    /* Frees ep->tp, if there is one, and sets it to NULL. The EP is idle, or
     * about to be freed. */
    void (*ep_release)(struct core_ep *ep);
    /* Breaks the connection after a local error, a little later: its caller may
     * hold any lock, and ep->tp may be NULL. Any thread. */
    void (*abort)(struct core_ep *ep);

    /* ---- posting; core has checked segments and state ---- */

    /* Carries out a request, and completes it by core_request_done or queues it
     * by core_request_queue. If the network can't carry it out at all, refuses
     * it with DAT_MODEL_NOT_SUPPORTED. */
    DAT_RETURN (*post)(struct core_ep *ep, const struct core_dto *dto);
    /* With core_ability.syncs: carries out an RDMA request of an EP that has no
     * unfinished one. An error: the transport can't carry it out. */
    DAT_RETURN (*post_sync)(struct core_ep *ep, const struct core_dto *dto);
    /* With core_ability.grows. Makes the send that it holds longer: false if it
     * holds none, or if the segment does not continue it. */
    bool (*append)(struct core_ep *ep, const DAT_LMR_TRIPLET *seg);
    /* Optional. Adds the receive *w, which core has written to its place, by
     * core_recv_add, to an EP in any state. (Without this function core adds
     * it.) A network that fills receives by itself takes the buffers here; when
     * it reports one, the transport completes the oldest (core_recv_peek,
     * core_recv_done), and not before. *w stays valid until then. */
    DAT_RETURN (*recv_post)(struct core_ep *ep, const struct core_wqe *w);
    /* Optional. A receive was added to a connected EP. */
    void (*recv_posted)(struct core_ep *ep);

    /* With core_ability.counts: the counted writes of the peer. ia->lock is
     * held. ep->tp is not NULL; its connection may have ended. */
    uint64_t (*writes_counted)(struct core_ep *ep);

    /* With core_ability.direct. */
    struct dapl_direct direct;

    /* ---- progress ---- */

    /* Moves what can be moved, and completes requests and receives: of one EP,
     * or of the whole IA if the network has one queue for all. One of the two
     * is NULL. The EP may be just losing its connection: only ep->tp read under
     * ep->lock counts. `sure`: waits for ep->lock; else leaves the work to the
     * thread that holds it. */
    void (*progress)(struct core_ep *ep, bool sure);
    void (*ia_progress)(struct core_ia *ia, bool sure);
    /* Optional. The next time (CLOCK_MONOTONIC, ns) after @p seen at which
     * progress will find something merely because time has passed; UINT64_MAX:
     * never. */
    uint64_t (*next_due)(struct core_ep *ep, uint64_t seen);
    uint64_t (*ia_next_due)(struct core_ia *ia, uint64_t seen);
    /* Optional, both: with many EPs, a poll need not look at each of them.
     * announce asks the EP's peer to announce (`on`), or to no longer announce,
     * that it has a message or has moved a request. False: it can't. The EP is
     * connected, or was just now; ia->bell_lock is held.
     * announced is called by polls while *ia->announced_words is not 0. It
     * makes progress of the EPs whose peers have announced; it calls
     * core_poll_often for an EP that announces often. */
    bool (*announce)(struct core_ep *ep, bool on);
    void (*announced)(struct core_ia *ia, bool sure);

    /* ---- waiting ---- */

    /* Optional, all three: the network has a clock of its own (sim). wait calls
     * ready(w), which makes progress, again and again. It returns 0 when that
     * is true, ETIMEDOUT after so long (UINT64_MAX: never), or EINTR. idle: a
     * consumer has polled and found nothing. taken: a consumer has taken this
     * event. */
    int (*wait)(struct core_ia *ia, struct core_waiter *w,
                bool (*ready)(struct core_waiter *w), uint64_t timeout_ns);
    void (*idle)(struct core_ia *ia);
    void (*taken)(struct core_ia *ia, const DAT_EVENT *event);

    /* Sleeping. An IA has 64 bells, one bit each; a thread that goes to sleep
     * takes one. It calls arm, looks a last time for events, and calls sleep,
     * which returns 0 when the bell was rung after arm or the time is over
     * (UINT64_MAX: never), or EINTR. `fed`: a connection may bring what it
     * waits for. A thread may be cancelled in sleep at any instruction. ring:
     * any thread; its caller may hold any lock. */
    void (*arm)(struct core_ia *ia, uint64_t bell);
    int (*sleep)(struct core_ia *ia, uint64_t bell, bool fed,
                 uint64_t timeout_ns);
    void (*ring)(struct core_ia *ia, uint64_t bells);
    /* Messages arrive in the kernel, which wakes sleepers, and no other process
     * adds events: yielding the core does not bring them sooner. */
    bool in_kernel;
    /* Optional. The bells to ring when there is a message for the EP, or a
     * request of it has moved. NULL: the transport rings all. ia->bell_lock is
     * held; ep->tp may be NULL. */
    void (*set_bells)(struct core_ep *ep, uint64_t bells);
};

/* The only exported functions: libdat2 calls them to begin and to end serving a
 * line of dat.conf. */
#define CORE_EXPORTED __attribute__((visibility("default")))
CORE_EXPORTED void dat_provider_init(const DAT_PROVIDER_INFO *info,
                                     const char *params);
CORE_EXPORTED void dat_provider_fini(const DAT_PROVIDER_INFO *info);

/* ------------------------------------------- for the transport to call --- */

/* Sets the transport of all IAs of this library. To be called once, by a
 * constructor. */
void core_transport_is(const struct core_transport *transport);

/* Adds a provider-specific attribute, in ia_open. Both texts must live as long
 * as the IA. At most CORE_MAX_ATTRIBUTES: core does not check. */
void core_attribute_add(struct core_ia *ia, const char *name,
                        const char *value);

/* ---- connections; ia->lock is held, ep->lock is not ---- */

/* The EP is connected: posts the event, with the peer's private data. The
 * caller has called core_ep_poll. */
void core_ep_established(struct core_ep *ep, const void *private_data,
                         DAT_COUNT size);
/* A connection, or an attempt, has ended: calls core_ep_unpoll, sets the state
 * to DISCONNECTED, flushes all posted requests and receives (not those of an
 * SRQ), and posts this event. */
void core_ep_disconnected(struct core_ep *ep, DAT_EVENT_NUMBER event,
                          const void *private_data, DAT_COUNT size);
/* A connection request has arrived at sp; cr_tp is the transport's half-open
 * connection, which core gives back by accept or reject. An RSP may be gone
 * afterwards, also after an error. Returns 0; -1: there is no room, cr_tp stays
 * the caller's. */
int core_cr_arrived(struct core_sp *sp, void *cr_tp,
                    const struct sockaddr_storage *remote, DAT_PORT_QUAL port,
                    const void *private_data, DAT_COUNT size);

/* ---- cancellation, locks, fork ---- */

/* In a state: the thread may be cancelled at any instruction. */
#define CORE_CANCEL_ANYWHERE (PTHREAD_CANCEL_ASYNCHRONOUS << 1)

/* Disables cancellation of this thread; returns the state before, for
 * core_cancel_as. The type is part of it: glibc 2.36 acts on a signal that was
 * under way even if the thread has disabled asynchronous cancellation, … */
static inline int core_cancel_off(void)
{
    int state, type;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return state | type << 1;
}
/* … and if pthread_setcancelstate() ends a cancelled thread, its result is not
 * PTHREAD_CANCELED. So the type is set last: that gives the right result. */
static inline void core_cancel_as(int state)
{
    pthread_setcancelstate(state & 1, NULL);
    pthread_setcanceltype(state >> 1, NULL);
}

/* ia->lock. Its holder can't be cancelled. */
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

/* Releases ia->lock for a short time. Its holder still can't be cancelled. */
static inline void core_ia_nap(struct core_ia *ia)
{
    static const struct timespec nap = {.tv_nsec = 100000};
    int state = ia->cancel_state;
    pthread_mutex_unlock(&ia->lock);
    nanosleep(&nap, NULL);
    pthread_mutex_lock(&ia->lock);
    ia->cancel_state = state;
}

/* Registers a lock that belongs to no IA, when the library is loaded: fork
 * takes it and releases it in parent and child. A thread that holds it may take
 * no other such lock, and none of an IA. At most 8 locks: core does not check.
 */
void core_fork_hold(pthread_mutex_t *lock);

/* ---- requests ---- */

/* Has the EP unfinished requests? Then new ones must queue (rule 4). */
static inline bool core_requests_pending(struct core_ep *ep)
{
    return atomic_load_explicit(&ep->sq_tail, memory_order_relaxed) !=
           atomic_load_explicit(&ep->sq_head, memory_order_acquire);
}
/* Posts the completion event of a request, as its flags ask. If the EVD is
 * full, calls core_transport.abort. ep->lock may be held. */
void core_request_event(struct core_ep *ep, enum core_op op,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                        DAT_DTO_COMPLETION_STATUS status, uint64_t length);
/* Completes a request at once. None may be unfinished. ep->lock may be held. */
static inline void core_request_done(struct core_ep *ep,
                                     const struct core_dto *dto,
                                     DAT_DTO_COMPLETION_STATUS status)
{
    if (status != DAT_DTO_SUCCESS ||
        !(dto->flags & DAT_COMPLETION_SUPPRESS_FLAG))
        core_request_event(ep, dto->op, dto->cookie, dto->flags, status,
                           dto->total);
}
/* Queues a request and returns it; the transport fills in its part (tp). There
 * is always room: core has checked. ep->lock is held. */
struct core_request *core_request_queue(struct core_ep *ep,
                                        const struct core_dto *dto);
/* The unfinished request of this number, from sq_head up to sq_tail. */
static inline struct core_request *core_request_at(struct core_ep *ep,
                                                   uint64_t number)
{
    return (void *)(ep->sq + (number & ep->sq_mask) * ep->sq_stride);
}
/* The request whose part of the transport this is. */
static inline struct core_request *core_request_of(const struct core_ep *ep,
                                                   void *tp)
{
    return (void *)((unsigned char *)tp - ep->sq_tp);
}
/* The request as it was posted, but for remote memory and operands. */
static inline struct core_dto core_request_dto(const struct core_request *r)
{
    return (struct core_dto){.op = r->op,
                             .cookie = r->w.cookie,
                             .flags = r->w.flags,
                             .nseg = r->w.nseg,
                             .seg = r->w.seg,
                             .total = r->w.total,
                             .immed = r->immed};
}
/* Completes requests from the head of the queue, as long as they are done.
 * ep->lock is held. */
void core_requests_retire(struct core_ep *ep);

/* ---- endpoints ---- */

/* The transport's part of an EP, ep_size bytes, connected or not. Zero at
 * first; when the memory serves another EP (rule 6), as the transport left it.
 */
static inline void *core_ep_area(struct core_ep *ep)
{
    return ep + 1;
}

/* ep->lock: held for a moment only; a holder must not sleep. trylock: false if
 * it is held. */
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
/* Adds the EP to the sets that pollers walk (0, or -1 without memory); to be
 * called before core_ep_established. core_ep_unpoll takes it out again. Both
 * take ia->bell_lock; ia->lock is held. */
int core_ep_poll(struct core_ep *ep);
void core_ep_unpoll(struct core_ep *ep);
/* Lets polls look each time at the EP at *here (NULL: it is gone), whose peer
 * announces often. Does nothing if ia->bell_lock is held; so the transport may
 * call it again. The transport changes *here under ia->bell_lock only. */
void core_poll_often(struct core_ia *ia, _Atomic(struct core_ep *) *here);

/* Wakes threads of this process that sleep for the EVDs of the EP. Executes a
 * fence first, so the caller's stores are seen. The caller may hold any lock.
 */
void core_ep_ring(struct core_ep *ep);

/* ---- receives ---- */

/* Makes a receive visible. Sequentially consistent: either its poster sees that
 * the EP is disconnected, or the thread that disconnects it sees the receive
 * and flushes it. */
static inline void core_recv_add(struct core_ep *ep)
{
    atomic_fetch_add(&ep->rq_tail, 1);
}
/* The receive of this number, from rq_head up to rq_tail. */
static inline struct core_wqe *core_recv_at(const struct core_ep *ep,
                                            uint64_t number)
{
    return (void *)(ep->rq + number % ep->rq_places * ep->rq_stride);
}
/* The oldest posted receive, or NULL. ep->lock is held. A receive of the EP
 * stays in its queue until core_recv_done; one of an SRQ is taken, and copied
 * to *copy. */
struct core_wqe *core_recv_peek(struct core_ep *ep, struct core_wqe *copy);
/* Bytes; shorter messages are as fast if the receive gets all of them. */
#define CORE_PLACED_LEAST 256u
/* core_recv_place for an EP that places, and a message that is long enough. */
bool core_recv_ask_place(const struct core_ep *ep, const struct core_wqe *w,
                         const unsigned char *message, size_t bytes);
/* Moves a message to where the consumer places it (extensions.h). False: the
 * caller must move all of it to the receive. ep->lock is held. */
static inline bool core_recv_place(const struct core_ep *ep,
                                   const struct core_wqe *w,
                                   const unsigned char *message, size_t bytes)
{
    return bytes >= CORE_PLACED_LEAST && ep->place &&
           core_recv_ask_place(ep, w, message, bytes);
}
/* Completes the receive of core_recv_peek. ep->lock is held. `immed`: the
 * immediate data of an RDMA write, else NULL. False: its EVD was full, and the
 * connection is broken. */
bool core_recv_done(struct core_ep *ep, const struct core_wqe *w,
                    DAT_DTO_COMPLETION_STATUS status, uint64_t length,
                    bool solicited, const uint32_t *immed);
/* Is there no event in the EVD of the EP's receives? */
bool core_recv_evd_is_empty(const struct core_ep *ep);
/* Has the dat_evd_dequeue that polls the EP's receives got its event? A hint.
 */
bool core_recv_served(const struct core_ep *ep);

#endif
