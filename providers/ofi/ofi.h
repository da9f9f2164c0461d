/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ofi provider: rails over libfabric's connected endpoints (FI_EP_MSG); one
 * rail is one network interface. The libfabric provider is `tcp`, or `verbs`.
 *
 *  device.c   the interface: its address, and whether its link is up
 *  fabric.c   what an IA opens of libfabric: one domain, one CQ, one EQ
 *  mr.c       registered ranges
 *  access.c   peers in memory that is deregistered
 *  conn.c     connections: their life, and how they end
 *  cm.c       set-up: service points, requests, answers, events of the EQ
 *  data.c     requests, receives, and what the CQ tells of them
 *  mind.c     what the IA's thread does: the EQ, deadlines, the link; and the
 *             CQ, when no consumer polls, so that one-sided stays one-sided
 *  thread.c   that thread, and the descriptors that it sleeps on
 *  socket.c   the TCP socket below a connection: what libfabric can't tell
 *  wire.c     what the EP's attributes tell of that connection's wire
 *  bell.c     consumers that sleep
 *
 * Locks, in this order: ia->lock (connections), cq_lock (the CQ, and what reads
 * it may come across: ranges, the list of connections by number), ep->lock
 * (what is posted; fid and open of the EP's connection). libfabric's own are
 * inside.
 */
#ifndef DAPL_OFI_H
#define DAPL_OFI_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "dapl_rail/platform/busywait.h"
#include "providers/core/core.h"
#include "providers/core/params.h"

#define OFI_API FI_VERSION(1, 17)

/* ---------------------------------------------------------- parameters --- */

struct ofi_params {
    char provider[CORE_PARAM_NAME];
    char device[CORE_PARAM_NAME];    /* "": found by the address */
    struct sockaddr_storage address; /* AF_UNSPEC: the device's first */
    unsigned silence_ms;             /* 0: no limit; see socket.c */
};

extern const struct core_params ofi_params_known;

/* --------------------------------------------------------- connections --- */

#define OFI_MAX_EPS 4096

/* What both sides tell each other when they connect, before the consumer's
 * private data; in network byte order. */
struct ofi_hello {
    uint8_t magic, version;
    uint16_t size;    /* of the private data: some networks pad them */
    uint32_t id;      /* ofi_conn.id */
    uint64_t control; /* where its control word is */
};
#define OFI_MAGIC   0xd1
#define OFI_VERSION 2

/* Where the network has no words of its own for it, connections tell each other
 * by writing to a control word of the peer's with this key; what is said is in
 * the immediate data, with the number of the connection. So is what comes with
 * a message: that it is solicited; or the immediate data of an RDMA write in
 * the low half, and its length above. */
#define OFI_CONTROL_KEY 1 /* keys of ranges are larger */
#define OFI_CONTROL     (UINT64_C(1) << 63)
#define OFI_CONFIRM     (UINT64_C(1) << 33) /* the active side has the answer */
#define OFI_BYE         (UINT64_C(1) << 32) /* it disconnects */
#define OFI_ENTER       (UINT64_C(1) << 34) /* RDMA follows: access.c */
#define OFI_ASK         (UINT64_C(1) << 35) /* is the RDMA so far over? */
#define OFI_LEFT        (UINT64_C(1) << 36) /* it is */
#define OFI_IMMED       (UINT64_C(1) << 62)
#define OFI_SOLICITED   (UINT64_C(1) << 61)
#define OFI_IMMED_MAX   ((UINT64_C(1) << 29) - 1) /* bytes of such a write */

enum ofi_state {
    OFI_CONNECTING, /* active: waits for the answer */
    OFI_OFFERED,    /* passive: the consumer has a CR */
    OFI_ACCEPTED,   /* passive: waits for the confirmation */
    OFI_CONNECTED,
    OFI_DRAINING, /* graceful disconnect: requests are unfinished, … */
    OFI_LEAVING,  /* … or what was sent is not acknowledged */
    OFI_CLOSED,
};

struct ofi_conn;

struct ofi_op { /* what a completion names */
    struct ofi_conn *conn;
    bool received;
};

struct ofi_range {       /* core_mr.tp */
    struct fid_mr *fid;  /* NULL: no peer may enter it (any more), … */
    uint64_t withdrawal; /* … since this one; 0: ever */
};

struct ofi_request { /* core_request.tp */
    struct ofi_op op;
    uint64_t remote_address;
    uint32_t remote_key;
};

struct ofi_early { /* a receive that completed before the connection did */
    struct ofi_early *next;
    uint64_t length, data;
};

struct ofi_conn {          /* ep->tp, cr->tp */
    struct ofi_conn *next; /* ofi_ia.conns */
    struct ofi_ia *oia;
    struct core_ep *ep; /* NULL: none yet */
    enum ofi_state state;
    uint32_t id, peer_id;
    uint64_t peer_control;
    uint64_t deadline, look; /* ns, UINT64_MAX none */
    struct fi_info *info;    /* of a request that came in */
    int fd;                  /* its socket, where it is known; else -1 */
    int guess;               /* near it */
    bool watched;            /* by the thread, for the peer's end */
    size_t unread;           /* bytes, when the peer's end was seen */
    uint64_t answered;       /* ns: the peer's system did not owe an answer */
    uint64_t begun;          /* ns */
    struct ofi_wire *wire;   /* wire.c; NULL: nobody has asked yet */
    /* from any thread, for the IA's thread to act upon */
    atomic_bool aborted;   /* a local error: it is to be broken */
    atomic_bool failed;    /* the network reported an error */
    atomic_bool confirmed; /* OFI_CONFIRM has come */
    atomic_bool bye;       /* OFI_BYE has come */
    atomic_bool stuck;     /* libfabric had no room for a request */
    /* under ep->lock */
    struct fid_ep *fid;
    bool open;             /* requests may be handed to libfabric */
    bool live;             /* receives may be completed */
    unsigned reads;        /* unfinished */
    unsigned injected;     /* since the last request that libfabric completes */
    uint64_t next_request; /* the first that libfabric does not have */
    bool inside;           /* OFI_ENTER was said, of RDMA to the peer */
    unsigned volunteers;   /* messages that may say OFI_LEFT */
    bool asked_of;         /* it is owed OFI_LEFT, … */
    uint64_t asked_at;     /* … for the requests before this one */
    struct ofi_op receive;
    struct ofi_early *early, **early_end;
    /* under cq_lock: the peer's RDMA to our memory (access.c) */
    bool peer_inside;
    uint64_t asked; /* at this withdrawal; 0: no answer is due */
    uint64_t left;  /* what was under way at this withdrawal is over */
};

struct ofi_listener {          /* sp->tp */
    struct ofi_listener *next; /* ofi_ia.listeners */
    struct core_sp *sp;
    struct fid_pep *pep;
    int fd; /* -1: not known */
};

/* ------------------------------------------------------------------ IA --- */

struct ofi_ia {
    struct core_ia *ia;
    struct ofi_params params;
    char device[CORE_PARAM_NAME];
    int device_index;
    atomic_bool link_up;
    /* libfabric */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *eq;
    struct fid_cq *cq;
    struct fid_pep *rejecter; /* rejects what came in at any service point */
    struct fid_mr *control;
    uint64_t control_word; /* peers write it, nobody reads it */
    bool talks;            /* OFI_CONTROL, and what is like it, can be said */
    bool local_keys;       /* FI_MR_LOCAL */
    /* connections, under ia->lock; and by number, under cq_lock, too */
    struct ofi_conn *conns;
    struct ofi_conn *by_id[OFI_MAX_EPS];
    int last_accepted; /* a descriptor */
    struct ofi_listener *listeners;
    uint32_t last_id;
    uint64_t withdrawals; /* of ranges */
    pthread_mutex_t cq_lock;
    atomic_uint open_conns; /* 0: there is nothing to poll */
    /* the thread */
    pthread_t thread;
    void *(*thread_main)(void *oia); /* ofi_mind */
    bool thread_runs, stop;
    int epoll_fd, wake_fd, link_fd, eq_fd, cq_fd;
    uint64_t look_at;       /* ns: when it meant to look at connections */
    _Atomic uint64_t polls; /* by consumers */
    atomic_bool away;       /* it leaves the CQ to consumers, … */
    atomic_bool rests; /* … and does not even look until the watch ends */
    /* sleepers */
    atomic_bool watched; /* one of them watches the CQ */
    int nudge_fd;        /* wakes that one */
    unsigned in_vain;    /* that one's wakes by the CQ, in a row */
    _Atomic uint32_t bell[64];
};

static inline struct ofi_ia *ofi_ia(struct core_ia *ia)
{
    return ia->tp;
}

/* Writes to the peer's control word; ep->lock is held. 0 or -errno. */
static inline ssize_t ofi_say(const struct ofi_conn *c, uint64_t what)
{
    static const uint64_t nothing;
    return fi_inject_writedata(c->fid, &nothing, sizeof nothing,
                               OFI_CONTROL | what | c->peer_id, 0,
                               c->peer_control, OFI_CONTROL_KEY);
}


/* device.c: finds the interface of the IA and its address; -1: said why */
int ofi_device_find(struct ofi_ia *oia);
/* A socket that tells of changes of interfaces, or -1. */
int ofi_device_watch(void);
/* Reads what it tells into oia->link_up. */
void ofi_device_changed(struct ofi_ia *oia);
/* The adapter that the interface is a port of. */
void ofi_device_adapter(const struct ofi_ia *oia, char *name, size_t size);

/* fabric.c */
DAT_RETURN ofi_fabric_open(struct ofi_ia *oia);
void ofi_fabric_close(struct ofi_ia *oia);
/* A copy of the IA's fi_info for an endpoint of that local port. */
struct fi_info *ofi_fabric_info(struct ofi_ia *oia, uint16_t port);

/* mr.c */
DAT_RETURN ofi_mr_publish(struct core_ia *ia, struct core_mr *mr);
bool ofi_mr_withdraw(struct core_ia *ia, struct core_mr *mr);

/* access.c; the first four with ep->lock, the fifth with cq_lock, the others
 * with ia->lock held */
/* An RDMA is to follow: 0 or -errno. */
ssize_t ofi_access_enter(struct ofi_conn *c);
/* Is this a message that says OFI_LEFT? It was sent, with such data. */
bool ofi_access_leaves(const struct ofi_conn *c, const struct core_dto *dto);
void ofi_access_sent(struct ofi_conn *c, uint64_t data);
/* Answers the peer's question, if there is one and it can be. */
void ofi_access_answer(struct ofi_conn *c);
/* What the peer has said. */
void ofi_access_heard(struct ofi_conn *c, uint64_t data);
/* Is a peer perhaps in a range that was withdrawn by then? It is asked, and its
 * answer comes over the CQ. */
bool ofi_access_inside(struct ofi_ia *oia, uint64_t withdrawal);
/* Has this end unfinished requests from or to that range? */
bool ofi_access_own(struct ofi_ia *oia, uint32_t key);

/* conn.c; ia->lock is held */
struct ofi_conn *ofi_conn_new(struct ofi_ia *oia, enum ofi_state state);
/* An endpoint for it and the EP, with the EP's receives; 0 or -errno. */
int ofi_conn_attach(struct ofi_conn *c, struct core_ep *ep,
                    struct fi_info *info);
void ofi_conn_established(struct ofi_conn *c, const void *private_data,
                          DAT_COUNT size);
/* Ends it and tells the consumer; what has arrived is delivered before. */
void ofi_conn_end(struct ofi_conn *c, DAT_EVENT_NUMBER event,
                  const void *private_data, DAT_COUNT size);
void ofi_conn_free(struct ofi_conn *c);
void ofi_conn_say(struct ofi_conn *c, uint64_t what);
/* The peer or the network has ended it. */
void ofi_conn_ended(struct ofi_conn *c);
/* So much time to be made; from now on, the thread minds it. */
void ofi_conn_mind(struct ofi_conn *c, uint64_t ns);
/* What other threads or the time have brought; returns when to look again. */
uint64_t ofi_conn_look(struct ofi_conn *c, uint64_t now);
void ofi_conn_forked(struct ofi_conn *c);
void ofi_disconnect(struct core_ep *ep, bool graceful);
void ofi_ep_release(struct core_ep *ep);
void ofi_abort(struct core_ep *ep);

/* cm.c */
DAT_RETURN ofi_listen(struct core_sp *sp);
void ofi_unlisten(struct core_sp *sp);
DAT_RETURN ofi_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data);
DAT_RETURN ofi_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data);
void ofi_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);
void ofi_cm_forked(struct ofi_ia *oia);
/* Reads the EQ until it is empty; was there anything? ia->lock is held. */
bool ofi_cm_events(struct ofi_ia *oia);

/* data.c */
DAT_RETURN ofi_post(struct core_ep *ep, const struct core_dto *dto);
DAT_RETURN ofi_recv_post(struct core_ep *ep, const struct core_wqe *w);
/* Hands a receive to libfabric; ep->lock is held. 0 or -errno. */
int ofi_recv_hand(struct ofi_conn *c, const struct core_wqe *w);
/* Hands over requests that had to wait; ep->lock is held. */
void ofi_issue(struct ofi_conn *c);
void ofi_receive_early(struct ofi_conn *c);
/* Reads the CQ; cq_lock is held. Returns whether there was anything. */
bool ofi_drain(struct ofi_ia *oia);
/* The same, until it is empty or so many requests and receives were read. */
void ofi_drain_most(struct ofi_ia *oia, size_t most);
/* Reads what is in the CQ, if there is any; may it be slept on then? */
bool ofi_look(struct ofi_ia *oia, bool *any);
void ofi_advance(struct ofi_ia *oia, bool sure);
void ofi_progress(struct core_ia *ia, bool sure); /* of a consumer's */

/* mind.c: what the thread does */
void *ofi_mind(void *oia);

/* thread.c */
/* What it is woken for; of an epoll event, with the connection's id. */
enum ofi_watch {
    OFI_WATCH_WAKE,
    OFI_WATCH_EQ,
    OFI_WATCH_CQ,
    OFI_WATCH_LINK,
    OFI_WATCH_CONN
};
int ofi_thread_start(struct ofi_ia *oia);
void ofi_thread_stop(struct ofi_ia *oia);
void ofi_thread_wake(struct ofi_ia *oia);
/* Has it woken, once, when the CQ has something. */
void ofi_thread_await_cq(struct ofi_ia *oia);
/* Has the thread see when the peer closes the connection. */
void ofi_thread_watch(struct ofi_conn *c);
void ofi_thread_forked(struct ofi_ia *oia);

/* socket.c */
/* The socket of a connected endpoint, or -1: it is none of TCP's. It is looked
 * for near the guess first. */
int ofi_socket_find(struct fid_ep *fid, int guess);
/* The same of a service point; near the guess only. */
int ofi_socket_find_listening(struct fid_pep *fid, int guess);
/* The descriptor that would be given out next. */
int ofi_socket_next(void);
/* Bytes sent that the peer's system has not acknowledged; 0: none, or it can't
 * be known. */
size_t ofi_socket_unsent(int fd);
size_t ofi_socket_unread(int fd);
/* Has the peer's system something to acknowledge, and acknowledged nothing for
 * so long? */
bool ofi_socket_owed(int fd, unsigned ms);

struct ofi_acked {
    bool owed;          /* the peer's system has something to acknowledge */
    unsigned heard_ms;  /* it has last acknowledged something so long ago */
    unsigned answer_ms; /* an answer takes so long, at most */
    uint64_t bytes;     /* that it has acknowledged, or sent */
};
/* Is it known? */
bool ofi_socket_acked(int fd, struct ofi_acked *acked);

/* wire.c */
void ofi_ep_attributes(struct core_ep *ep, DAT_EP_ATTR *attr);

/* bell.c */
void ofi_arm(struct core_ia *ia, uint64_t bell);
int ofi_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns);
/* Has who watches the CQ look again. */
void ofi_nudge(struct ofi_ia *oia);
void ofi_ring(struct core_ia *ia, uint64_t bells);

#endif
