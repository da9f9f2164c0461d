/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of requests.h share. */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "mpi/requests/requests.h"

enum stage {
    STAGE_IDLE,      /* persistent, and inactive */
    STAGE_QUEUED,    /* to begin */
    STAGE_UNDER_WAY, /* by libdcoll */
    STAGE_MOVED,     /* its data have come, or it has failed */
    STAGE_DONE,      /* they are where they belong */
};

struct request {
    struct request *next; /* of its bucket */
    MPI_Request handle;   /* the program's */
    struct layer_comm *c;
    MPI_Comm comm;        /* whose handler is told of errors */
    bool persistent, given_up;
    bool skipped; /* a call that this rank does not make: nobody's request */
    _Atomic int stage; /* from under way to moved by any thread */
    TAILQ_ENTRY(request) link, of_comm;
    struct request_work work;
    dcoll_request_t *q;
    int rc;            /* of libdcoll */
    int error;         /* of MPI */
    MPI_Request check; /* verify: the same by the MPI below; or none */
    MPI_Comm apart;    /* … of persistent ones, whose starts have no order */
};

TAILQ_HEAD(request_list, request);

#define SHAPES 64 /* that are known to have missed */

/* Of a non-blocking call that was left for being not prepared. The same on all
 * ranks. */
struct shape {
    bool irregular;
    dcoll_call_t call; /* whatever its buffers */
    int misses;        /* hopeless: it can't be prepared */
};

/* Of a communicator. */
struct requests {
    LIST_ENTRY(requests) link;
    struct layer_comm *c;
    bool guarded;         /* its rails, also while the program is elsewhere */
    pthread_mutex_t lock; /* the team is in use; and for these lists: */
    struct request_list queue, under_way;
    struct request_list persistent; /* as they were made, also given up: until
                                       they are on all ranks */
    unsigned inits, starts; /* of persistent ones, so far */
    bool seldom;            /* … on some rank too few starts: see agree() */
    struct shape shapes[SHAPES];
    unsigned latest; /* shape, which replaces the eldest */
    unsigned wanted; /* shapes that are to be prepared */
};

/* ---- handles.c ---- */

void handle_enter(struct request *r);
/* If it is there. */
void handle_leave(struct request *r);
/* What there is of a communicator, one after the other; after: NULL, or one of
 * them. */
struct request *handle_next(const struct layer_comm *c,
                            const struct request *after);

/* ---- turns.c ---- */

/* Its own, made at its first call of that kind. NULL: no memory. */
struct requests *requests_of(struct layer_comm *c);
/* Ends the program: the others would wait for this rank for ever. */
void team_no_memory(const struct layer_comm *c);
/* For a call that may wait, and that comes behind what is queued. */
void team_take(struct requests *s);
/* For what waits for nobody. */
void team_take_now(struct requests *s);
void team_give(struct requests *s);
/* By who has it: */
void team_begin_queued(struct requests *s);
/* What dcoll says of a call that this rank makes: an error of it alone is told
 * to the others, who would wait for it. */
void team_refused(struct layer_comm *c, int rc);
void team_advance(struct requests *s);
/* One that was under way has ended. */
void team_settle(struct requests *s, struct request *r, int rc);
/* Behind the others, which may begin at once. */
void team_queue(struct requests *s, struct request *r);
/* The communicator is going to end: nobody advances its calls any more. */
void team_leave(struct requests *s);
/* Of irregular blocks that are not to agree on bounds first. */
const char *team_algorithm(const struct layer_comm *c);

/* ---- requests.c ---- */

/* Its handle is a request that never starts. NULL: no memory. */
struct request *request_new(struct layer_comm *c, MPI_Comm comm,
                            struct request_work work);
/* Without its handle. */
void request_destroy(struct request *r);
/* An MPI error. */
int request_fill(struct request *r);
/* verify: the same by the MPI below. */
int request_begin_check(struct request *r);

#endif
