/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not block: what the files of this folder share. */
#ifndef MPI_QUEUE_H
#define MPI_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "mpi/requests/requests.h"

enum stage {
    STAGE_IDLE,      /* persistent, and inactive */
    STAGE_WAITING,   /* not begun */
    STAGE_UNDER_WAY, /* by libdcoll */
    STAGE_MOVED,     /* libdcoll is done, or has failed */
    STAGE_DONE,      /* data are unpacked */
};

struct request {
    struct request *next; /* in handle_map.c */
    MPI_Request handle;   /* the program's */
    struct layer_comm *c;
    _Atomic(MPI_Comm) comm; /* its handler is told of errors */
    bool persistent;
    _Atomic bool given_up; /* the program has freed it: handle_map_remove */
    bool skipped;      /* a place in the order, for a call this rank skips */
    _Atomic int stage; /* any thread sets it to STAGE_MOVED */
    TAILQ_ENTRY(request) link, of_comm;
    struct request_work work;
    dcoll_request_t *dcoll;
    int rc;              /* of libdcoll */
    int error;           /* of MPI */
    MPI_Request check;   /* verify: the same call by the MPI below, unless it is
                            irregular; or null */
    MPI_Comm check_comm; /* … of a persistent one: its starts have no order */
};

TAILQ_HEAD(request_list, request);

#define MISSED_KEPT 64

/* A kind of non-blocking calls that libdcoll could not begin, as it was not
 * prepared. The same on all ranks. */
struct missed_call {
    bool irregular;
    dcoll_call_t call; /* its buffers do not matter */
    size_t *counts;    /* call.counts points here; NULL: it has none */
    int misses;        /* so far; or HOPELESS */
};

/* Of a communicator. */
struct request_queue {
    LIST_ENTRY(request_queue) link;
    struct layer_comm *c;
    bool guarded;         /* queue_guard */
    bool has_skipped;     /* an init: the other ranks may not have made it */
    pthread_mutex_t lock; /* of the team, and of these lists: */
    struct request_list waiting, under_way;
    struct request_list persistent; /* as made; also those given up, until all
                                       ranks have given them up */
    unsigned inits;                 /* of persistent requests, so far, … */
    atomic_uint starts;             /* … and their starts */
    bool seldom;                    /* requests_start_seldom */
    struct missed_call missed[MISSED_KEPT];
    unsigned latest; /* of missed; the next one replaces the oldest */
    unsigned wanted; /* of missed: to be prepared */
};

/* ---- handle_map.c ---- */

void handle_map_add(struct request *r);
/* If it is there. Then it is given up, and the caller no longer uses it if it
 * is persistent: a thread in a collective call may destroy it. */
void handle_map_remove(struct request *r);
/* Has the communicator any? */
bool handle_map_has(const struct layer_comm *c);
/* Errors of its requests go to the handler of MPI_COMM_SELF from now on. */
void handle_map_detach(const struct layer_comm *c);

/* ---- queue.c ---- */

/* The communicator's queue, made at its first request. NULL: no memory; the
 * program is ended, as the other ranks would wait for this one. */
struct request_queue *queue_of(struct layer_comm *c);
void queue_lock(struct request_queue *q);
void queue_unlock(struct request_queue *q);
/* Locks it when all waiting requests have begun: for calls that may block. */
void queue_lock_drained(struct request_queue *q);
/* Before a call that waits for other ranks with the lock. If there are several
 * threads, it returns when all ranks have come: until then other threads of
 * this rank may need the lock. A rank that has_skipped comes, but does not
 * wait. */
void queue_meet(struct request_queue *q);
/* With the lock: makes progress on all requests. */
void queue_advance(struct request_queue *q);
/* With the lock: libdcoll has ended a request. */
void queue_settle(struct request_queue *q, struct request *r, int rc);
/* Puts it behind the waiting ones; it may begin at once. */
void queue_add(struct request_queue *q, struct request *r);
/* The communicator ends: no more progress on it. */
void queue_leave(struct request_queue *q);
/* With the lock: if @rc says that libdcoll refuses this rank's call, the others
 * are told, as they would wait for it. */
void team_skip_refused(struct layer_comm *c, int rc);
/* For irregular calls: the algorithm that needs no common bounds. NULL: any. */
const char *team_algorithm(const struct layer_comm *c);

/* ---- request.c ---- */

/* A new request; its handle never starts. NULL: no memory. */
struct request *request_new(struct layer_comm *c, MPI_Comm comm,
                            struct request_work work);
/* The handle has been freed. */
void request_destroy(struct request *r);
/* The call of libdcoll. NULL: it is a struct exchange. */
const dcoll_call_t *request_call(const struct request *r);
/* Packs the data to send. An MPI error. */
int request_pack(struct request *r);
/* verify: begins the same call by the MPI below. */
int request_begin_check(struct request *r);

#endif
