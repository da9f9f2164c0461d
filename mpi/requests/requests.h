/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that do not block, by libdcoll: what other folders use.
 *
 * The MPI_Request that the program gets is a persistent request of the MPI
 * below that is never started, so the MPI below sees it as inactive. Functions
 * for requests (calls/completion.c) can therefore pass on arrays with requests
 * of both sides. handle_map.c finds a request of libdcoll by this handle.
 *
 * A non-blocking call must not wait for other ranks. Blocking calls prepare
 * what it needs; until then the MPI below makes it. Calls begin in the order in
 * which the program made them. Progress is made by all calls of the layer that
 * wait, test or block, and otherwise by the progress thread, which never calls
 * MPI.
 */
#ifndef MPI_REQUESTS_H
#define MPI_REQUESTS_H

#include "mpi/comm/comm.h"

struct request;
struct regular;
struct irregular;
struct exchange;

/* ---- request.c ---- */

/* The data of a call: one of these, the other is NULL. */
struct request_work {
    struct regular *regular;
    struct irregular *irregular;
};
void request_work_free(struct request_work *work);

/* Begins a non-blocking call. The request owns @work. An MPI error. */
int request_begin(struct layer_comm *c, const struct layer_call *call,
                  struct request_work work, MPI_Request *handle);
/* This rank does not make a call that the others make: its arguments are
 * wrong. */
void requests_skip(struct layer_comm *c);
/* Started, and not finished since? Non-blocking ones always are. */
bool request_is_active(const struct request *r);
/* Makes progress. Complete, or inactive? */
bool request_is_done(struct request *r);
/* Returns when it is done. */
void request_wait(struct request *r);
/* Between two looks at it: the MPI below makes progress; sleeps if there have
 * been many. */
void request_pause(struct request *r, unsigned *looks);
/* It is done: *handle becomes MPI_REQUEST_NULL, or a persistent request
 * inactive. Its MPI error, which the handler has been told of. */
int request_finish(struct request *r, MPI_Request *handle);
/* An MPI error for an error of libdcoll, of a call that can't be left. */
int request_error(const struct layer_comm *c, int rc);

/* ---- persistent.c ---- */

/* Makes a persistent request, collectively. @can: this rank has had memory so
 * far. *taken, the same on all ranks: it is made, and owns *work; else the
 * caller frees *work and leaves the call. An MPI error. */
int request_init(struct layer_comm *c, const struct layer_call *call,
                 struct request_work *work, bool can, bool *taken,
                 MPI_Request *handle);
/* This rank alone can't make it: the others, if they make it, get an error. */
void request_init_skip(struct layer_comm *c);
/* Has the program started too few of its persistent requests to pay for them?
 * The same on all ranks. */
bool requests_start_seldom(const struct layer_comm *c);
/* An MPI error. */
int request_start(struct request *r);
/* The program frees it. */
int request_free(struct request *r, MPI_Request *handle);

/* The program has freed the communicator, and may have requests of it left. */
void requests_detach(struct layer_comm *c);
bool requests_are_left(struct layer_comm *c);
/* Frees what is left, before the team ends. */
void requests_end(struct layer_comm *c);

/* ---- queue.c ---- */

/* Blocking calls of a team. They wait until all non-blocking ones that were
 * made before have begun. Errors of libdcoll. */
int team_run(struct layer_comm *c, const dcoll_call_t *call);
int team_exchange(struct layer_comm *c, const struct exchange *exchange);
/* dcoll_team_skip, dcoll_team_give_up: for calls that this rank can't make. */
void team_skip(struct layer_comm *c);
void team_give_up(const struct layer_comm *c, const char *why);
/* Ends the team as its communicator is revoked: its error is REVOKED. */
#define REVOKED DRAIL_EINTR
void team_revoke(const struct layer_comm *c);
/* A team over several rails: if one is lost, this rank sends lost data again
 * even while the program is elsewhere. */
void queue_guard(struct layer_comm *c);
/* Makes progress on all communicators whose teams are not in use. */
void queues_advance(void);

/* ---- prepare.c ---- */

/* In a collective call that may block: prepares calls that have been missed. */
void requests_prepare(struct layer_comm *c);
/* Can libdcoll begin this non-blocking call without waiting for other ranks? 0;
 * DRAIL_ENOTSUP: no, on all ranks, and the miss is noted; or an error.
 * *counted: by the call of counted_shape(). */
int requests_may_begin(struct layer_comm *c, const struct layer_call *call,
                       int64_t bytes, bool *counted);

/* ---- handle_map.c ---- */

/* NULL: a request of the MPI below. */
struct request *request_of(MPI_Request handle);
/* Has libdcoll any request? */
bool requests_exist(void);

/* ---- progress_thread.c ---- */

/* It runs while calls are under way, or teams are guarded. */
void progress_thread_add_call(void);
void progress_thread_end_call(void);
void progress_thread_add_guarded(void);
void progress_thread_end_guarded(void);
/* Is the caller this thread? */
bool progress_thread_is_self(void);
/* Stops it for good. */
void progress_thread_stop(void);

#endif
