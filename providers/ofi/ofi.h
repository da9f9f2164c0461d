/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ofi provider: rails over libfabric's connected endpoints (FI_EP_MSG); one
 * rail is one network interface. The libfabric provider is `tcp`, or `verbs`.
 *
 * The files, in reading order:
 *
 *  transport.c params.c  what core calls; the parameters of dat.conf
 *  device.c      the interface: its address, and whether its link is up
 *  fabric.c      the objects of libfabric that an IA opens: a domain, CQ and EQ
 *  range.c       registered ranges
 *  access.c      a range is not given back while a peer accesses it
 *  connection.c  the life of a connection, and its end
 *  connect.c     set-up: service points, requests, answers, events of the EQ
 *  transfer.c    requests, receives, and their completions in the CQ
 *  burst.c       many requests in a row share packets
 *  thread.c      the IA's thread, and the descriptors that it sleeps on
 *  loop.c        what the thread does: the EQ, deadlines, the link; and the CQ
 *                while no consumer polls, so that a target need not act
 *  sleep.c       consumers that sleep
 *  signal.c      the CQ's signal, which nobody needs while consumers poll
 *  socket.c      the TCP socket of a connection: what libfabric does not tell
 *  attributes.c  attributes of an EP that describe its TCP connection
 *
 * Locks, in this order: ia->lock (connections), cq_lock (the CQ, and what its
 * readers use: ranges, connections by number), ep->lock (posted requests; fid
 * and open of the EP's connection), libfabric's own.
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

/* Precedes the consumer's private data when two sides connect; in network byte
 * order. */
struct ofi_hello {
    uint8_t magic, version;
    uint16_t size;    /* of the private data, which some networks pad */
    uint32_t id;      /* ofi_conn.id */
    uint64_t control; /* address of its control word */
};
#define OFI_MAGIC   0xd1
#define OFI_VERSION 3

/* Control messages, where the network has none of its own: an RDMA write to the
 * peer's control word, whose key this is. The immediate data hold the message
 * and the number of the connection. With a send, the immediate data say whether
 * it is solicited; with an RDMA write, they are its immediate data in the low
 * half and its length above. */
#define OFI_CONTROL_KEY 1 /* keys of ranges are larger */
#define OFI_CONTROL     (UINT64_C(1) << 63)
#define OFI_CONFIRM     (UINT64_C(1) << 33) /* active: I have the answer */
#define OFI_BYE         (UINT64_C(1) << 32) /* I disconnect */
#define OFI_ENTER       (UINT64_C(1) << 34) /* my RDMA follows: access.c */
#define OFI_ASK         (UINT64_C(1) << 35) /* is your RDMA so far over? */
#define OFI_LEFT        (UINT64_C(1) << 36) /* yes */
#define OFI_COUNTED     (UINT64_C(1) << 37) /* of a counted write */
#define OFI_IMMED       (UINT64_C(1) << 62)
#define OFI_SOLICITED   (UINT64_C(1) << 61)
#define OFI_IMMED_MAX   ((UINT64_C(1) << 29) - 1) /* bytes of such a write */

enum ofi_state {
    OFI_CONNECTING, /* active: waits for the answer */
    OFI_OFFERED,    /* passive: the consumer has a CR */
    OFI_ACCEPTED,   /* passive: waits for the confirmation */
    OFI_CONNECTED,
    OFI_DRAINING, /* graceful disconnect: requests are unfinished, … */
    OFI_LEAVING,  /* … or sent data are not acknowledged */
    OFI_CLOSED,
};

struct ofi_conn;

struct ofi_op { /* context of a completion */
    struct ofi_conn *conn;
    enum { OFI_REQUEST, OFI_RECEIVE, OFI_MARKER } kind;
};

struct ofi_range {       /* core_mr.tp */
    struct fid_mr *fid;  /* NULL: no peer may access it … */
    uint64_t withdrawal; /* … since this withdrawal; 0: from the beginning */
};

#define OFI_WAITS_SENT   1u /* for its completion by libfabric */
#define OFI_WAITS_MARKER 2u /* and for that of a marker: burst.c */

struct ofi_request { /* core_request.tp */
    struct ofi_op op;
    uint64_t remote_address;
    uint32_t remote_key;
    unsigned waits; /* for OFI_WAITS_… */
};

struct ofi_marker {
    struct ofi_op op;
    bool under_way;
    uint64_t end; /* tells of the requests before this one */
};
#define OFI_MARKERS 4

#define OFI_NONE_HELD UINT64_MAX

struct ofi_early { /* a receive that completed before the connection did */
    struct ofi_early *next;
    DAT_DTO_COMPLETION_STATUS status;
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
    struct fi_info *info;    /* of a request that has arrived */
    int fd;                  /* its socket; -1: not known */
    int guess;               /* a descriptor near fd */
    bool replied;            /* passive: the answer has been sent */
    size_t unread;           /* bytes, when the peer's close was seen */
    uint64_t answered;       /* ns: when the peer's system last owed nothing */
    uint64_t begun;          /* ns */
    struct ofi_wire *wire;   /* attributes.c; NULL: not asked for yet */
    /* set by any thread, for the IA's thread to act upon */
    atomic_bool aborted;   /* a local error: break it */
    atomic_bool failed;    /* the network reported an error */
    atomic_bool confirmed; /* OFI_CONFIRM has arrived */
    atomic_bool bye;       /* OFI_BYE has arrived */
    atomic_bool stuck;     /* libfabric had no room for a request */
    /* under ep->lock */
    struct fid_ep *fid;
    bool open;             /* requests may be given to libfabric */
    bool live;             /* receives may be completed */
    unsigned reads;        /* unfinished */
    unsigned injected;     /* since the last request that libfabric completes */
    uint64_t next_request; /* the first that libfabric does not have yet */
    bool inside;           /* OFI_ENTER was sent, OFI_LEFT was not */
    unsigned volunteers;   /* messages that may still carry OFI_LEFT */
    bool asked_of;         /* the peer waits for OFI_LEFT … */
    uint64_t asked_at;     /* … for the requests before this one */
    unsigned burst;        /* requests posted since a consumer's poll, … */
    uint64_t burst_polls;  /* … which had this number */
    bool corked;           /* see burst.c; then it is in ofi_ia.corked */
    uint64_t held;         /* the request that waits for ofi_append */
    struct ofi_conn *next_corked;
    bool unmarked; /* a marker is to follow */
    struct ofi_marker markers[OFI_MARKERS];
    struct ofi_op receive;
    struct ofi_early *early, **early_end;
    /* under cq_lock: the peer's RDMA to memory here (access.c) */
    bool peer_inside;
    uint64_t asked; /* OFI_ASK was sent at this withdrawal; 0: no answer due */
    uint64_t left;  /* RDMA before this withdrawal is over */
    _Atomic uint64_t counted; /* writes of the peer */
};

struct ofi_listener {          /* sp->tp */
    struct ofi_listener *next; /* ofi_ia.listeners */
    struct core_sp *sp;        /* NULL: retired */
    struct fid_pep *pep;
    uint16_t port;
    int fd;         /* -1: not known */
    uint64_t until; /* ns: when a retired one is closed */
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
    struct fid_pep *rejecter; /* rejects requests of any service point */
    struct fid_mr *control;
    uint64_t control_word; /* peers write it; it is never read */
    bool talks;            /* control messages (OFI_CONTROL) can be sent */
    bool local_keys;       /* FI_MR_LOCAL */
    /* connections, under ia->lock; and by number, under cq_lock, too */
    struct ofi_conn *conns;
    struct ofi_conn *by_id[OFI_MAX_EPS];
    int last_accepted; /* descriptor */
    struct ofi_listener *listeners;
    uint32_t last_id;
    uint64_t withdrawals; /* of ranges */
    pthread_mutex_t cq_lock;
    atomic_uint cq_wanted;  /* threads that must have it: polls leave it */
    atomic_uint open_conns; /* 0: a poll has nothing to do */
    /* the thread */
    pthread_t thread;
    void *(*thread_main)(void *oia);   /* ofi_loop */
    void (*issue)(struct ofi_conn *c); /* ofi_issue, for burst.c */
    bool thread_runs, stop;
    int epoll_fd, wake_fd, link_fd, eq_fd, cq_fd;
    uint64_t look_at;       /* ns: when it meant to look at connections */
    _Atomic uint64_t polls; /* of consumers, so far */
    _Atomic(struct ofi_conn *) corked; /* ended under cq_lock */
    atomic_bool away;                  /* it leaves the CQ to consumers, … */
    atomic_bool rests; /* … and sleeps until no consumer watches the CQ */
    /* the signal of the CQ, under cq_lock (signal.c) */
    int signal_fd; /* -1: not known */
    uint64_t signal_data;
    bool muted;
    unsigned unslept; /* polls since the last unmuting */
    /* sleepers */
    atomic_uint sleepers; /* wait for completions on bells */
    atomic_bool watched;  /* another one waits for the CQ's descriptor */
    int nudge_fd;         /* wakes that one */
    unsigned in_vain;     /* its wakes without a completion, in a row */
    _Atomic uint32_t bell[64];
};

static inline struct ofi_ia *ofi_ia(struct core_ia *ia)
{
    return ia->tp;
}

/* Do consumers read the CQ by polling, and does none sleep? */
static inline bool ofi_consumers_poll(const struct ofi_ia *oia)
{
    return atomic_load(&oia->away) && !atomic_load(&oia->watched) &&
           !atomic_load(&oia->rests);
}

/* Sends a control message; ep->lock is held. 0 or -errno. */
static inline ssize_t ofi_say(const struct ofi_conn *c, uint64_t what)
{
    static const uint64_t nothing;
    return fi_inject_writedata(c->fid, &nothing, sizeof nothing,
                               OFI_CONTROL | what | c->peer_id, 0,
                               c->peer_control, OFI_CONTROL_KEY);
}

/* device.c. Finds the interface of the IA and its address. -1 after one line on
 * stderr. */
int ofi_device_find(struct ofi_ia *oia);
/* A socket that is readable when an interface has changed, or -1. */
int ofi_device_watch(void);
/* Reads the changes into oia->link_up. */
void ofi_device_changed(struct ofi_ia *oia);
/* The adapter that the interface is a port of. */
void ofi_device_adapter(const struct ofi_ia *oia, char *name, size_t size);

/* fabric.c */
DAT_RETURN ofi_fabric_open(struct ofi_ia *oia);
void ofi_fabric_close(struct ofi_ia *oia);
/* A copy of the IA's fi_info for an endpoint of that local port. */
struct fi_info *ofi_fabric_info(struct ofi_ia *oia, uint16_t port);

/* range.c */
DAT_RETURN ofi_mr_publish(struct core_ia *ia, struct core_mr *mr);
bool ofi_mr_withdraw(struct core_ia *ia, struct core_mr *mr);

/* access.c; the caller of the first four holds ep->lock, of the fifth cq_lock,
 * of the others ia->lock */
/* An RDMA request follows. 0 or -errno. */
ssize_t ofi_access_enter(struct ofi_conn *c);
/* Can this message carry OFI_LEFT? And, it was sent with these data. */
bool ofi_access_leaves(const struct ofi_conn *c, const struct core_dto *dto);
void ofi_access_sent(struct ofi_conn *c, uint64_t data);
/* Answers the peer's OFI_ASK, if there is one and its RDMA is over. */
void ofi_access_answer(struct ofi_conn *c);
/* A control message of the peer about access. */
void ofi_access_heard(struct ofi_conn *c, uint64_t data);
/* May a peer still access a range that was withdrawn by then? It is asked; its
 * answer arrives in the CQ. */
bool ofi_access_ask(struct ofi_ia *oia, uint64_t withdrawal);
/* Has this side unfinished requests from or to that range? */
bool ofi_access_own(struct ofi_ia *oia, uint32_t key);

/* connection.c; ia->lock is held */
struct ofi_conn *ofi_conn_new(struct ofi_ia *oia, enum ofi_state state);
/* Opens libfabric's endpoint for the EP, and gives it the EP's receives. 0 or
 * -errno. */
int ofi_conn_attach(struct ofi_conn *c, struct core_ep *ep,
                    struct fi_info *info);
void ofi_conn_established(struct ofi_conn *c, const void *private_data,
                          DAT_COUNT size);
/* Delivers what has arrived, ends the connection, and tells the consumer. */
void ofi_conn_end(struct ofi_conn *c, DAT_EVENT_NUMBER event,
                  const void *private_data, DAT_COUNT size);
void ofi_conn_free(struct ofi_conn *c);
void ofi_conn_say(struct ofi_conn *c, uint64_t what);
/* The peer or the network has ended it. */
void ofi_conn_ended(struct ofi_conn *c);
/* Sets the deadline for setting it up, and wakes the thread for it. */
void ofi_conn_mind(struct ofi_conn *c, uint64_t ns);
/* Acts upon flags of other threads and upon deadlines; returns when to look
 * again. */
uint64_t ofi_conn_look(struct ofi_conn *c, uint64_t now);
void ofi_conn_forked(struct ofi_conn *c);
void ofi_disconnect(struct core_ep *ep, bool graceful);
void ofi_ep_release(struct core_ep *ep);
void ofi_abort(struct core_ep *ep);

/* connect.c */
DAT_RETURN ofi_listen(struct core_sp *sp);
void ofi_unlisten(struct core_sp *sp);
DAT_RETURN ofi_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data);
DAT_RETURN ofi_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data);
void ofi_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);
void ofi_cm_forked(struct ofi_ia *oia);
/* Reads the EQ until it is empty. False: it was. ia->lock is held. */
bool ofi_cm_events(struct ofi_ia *oia);
/* Closes the retired listeners that are due; returns when the next one is. */
uint64_t ofi_listeners_look(struct ofi_ia *oia, uint64_t now);

/* transfer.c */
DAT_RETURN ofi_post(struct core_ep *ep, const struct core_dto *dto);
DAT_RETURN ofi_recv_post(struct core_ep *ep, const struct core_wqe *w);
uint64_t ofi_writes_counted(struct core_ep *ep);
/* Gives a receive to libfabric; ep->lock is held. 0 or -errno. */
int ofi_recv_hand(struct ofi_conn *c, const struct core_wqe *w);
/* Gives waiting requests to libfabric; ep->lock is held. */
void ofi_issue(struct ofi_conn *c);
void ofi_receive_early(struct ofi_conn *c);
/* Reads the CQ until it is empty or so many completions were read; cq_lock is
 * held. */
void ofi_drain_most(struct ofi_ia *oia, size_t most);
/* Reads the CQ once. *any: it was not empty. True: the thread may sleep on its
 * descriptor. */
bool ofi_look(struct ofi_ia *oia, bool *any);
void ofi_advance(struct ofi_ia *oia, bool sure);
void ofi_progress(struct core_ia *ia, bool sure); /* a consumer's poll */

/* burst.c */
/* A request is about to be given to libfabric; ep->lock is held. */
void ofi_burst_posts(struct ofi_conn *c);
/* Makes the send that is held longer. */
bool ofi_append(struct core_ep *ep, const DAT_LMR_TRIPLET *seg);
/* Sends what is held and what TCP has collected; cq_lock is held. */
void ofi_bursts_end(struct ofi_ia *oia);
/* Sends the marker that is to follow; without room it sets stuck. */
void ofi_burst_mark(struct ofi_conn *c);
/* A marker has ended: so many requests are done. */
void ofi_burst_marked(struct ofi_conn *c, struct ofi_op *op);

/* loop.c: the thread's function */
void *ofi_loop(void *oia);

/* thread.c */
/* Reasons to wake it: in an epoll event, with the connection's id above. */
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
/* The IA's thread breaks the connection, after an error of libfabric. */
void ofi_break_off(struct ofi_conn *c);
/* Wakes it, once, when the CQ is not empty. */
void ofi_thread_await_cq(struct ofi_ia *oia);
/* Wakes it when the peer closes the connection. */
void ofi_thread_watch(struct ofi_conn *c);
void ofi_thread_forked(struct ofi_ia *oia);

/* socket.c */
/* The socket of a connected endpoint, sought near the guess first; -1: it has
 * no TCP socket. */
int ofi_socket_find(struct fid_ep *fid, int guess);
/* The same for a service point. Sockets that it accepts are read with a short
 * timeout. */
int ofi_socket_find_listening(struct fid_pep *fid, int guess);
/* Ends the sockets of a service point that the EQ watches: the one that
 * listens, and those that libfabric has accepted whose requests have not
 * arrived. False: all had ended. ia->lock is held. */
bool ofi_socket_end_service(struct ofi_ia *oia, struct fid_pep *fid);
/* The number that the next descriptor would have. */
int ofi_socket_next(void);
/* Bytes sent that the peer's system has not acknowledged; 0: none, or not
 * known.
 */
size_t ofi_socket_unsent(int fd);
size_t ofi_socket_unread(int fd);
/* Must the peer's system acknowledge something, and has it acknowledged nothing
 * for so long? */
bool ofi_socket_owed(int fd, unsigned ms);

struct ofi_acked {
    bool owed;          /* the peer's system must acknowledge something */
    unsigned heard_ms;  /* since it last acknowledged something */
    unsigned answer_ms; /* the longest time that an answer takes */
    uint64_t bytes;     /* that it has acknowledged, or sent */
};
/* False: not known. */
bool ofi_socket_acked(int fd, struct ofi_acked *acked);

/* attributes.c */
void ofi_ep_attributes(struct core_ep *ep, DAT_EP_ATTR *attr);

/* signal.c; cq_lock is held */
void ofi_signal_find(struct ofi_ia *oia);
/* A consumer polls the CQ. */
void ofi_signal_polled(struct ofi_ia *oia);
/* Before any thread sleeps on the CQ. */
void ofi_signal_unmute(struct ofi_ia *oia);

/* sleep.c */
void ofi_arm(struct core_ia *ia, uint64_t bell);
int ofi_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns);
/* Wakes the consumer that watches the CQ. */
void ofi_nudge(struct ofi_ia *oia);
void ofi_ring(struct core_ia *ia, uint64_t bells);

#endif
