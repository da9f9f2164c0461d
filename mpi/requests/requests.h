/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that do not block. What the program is given as their MPI_Request is a
 * persistent one of the MPI below that is never started: whatever MPI does with
 * it, it is inactive, so that whole arrays of theirs and ours can be handed on,
 * and ours are looked up by it. Its calls of the MPI's requests are taken over
 * for that (waits.c).
 *
 * Non-blocking calls wait for nobody: what they need is prepared in blocking
 * ones, and until then they are left. They begin in the order in which they
 * were made. Progress is made by who waits, tests or makes a blocking call, and
 * by a thread while nobody does (pulse.c), which calls libdcoll only.
 */
#ifndef MPI_REQUESTS_H
#define MPI_REQUESTS_H

#include "mpi/layer.h"

struct request;

/* ---- start.c ---- */

/* Makes a call in one of the forms, in either way. An MPI error. */
int start_call(const struct layer_call *a, MPI_Request *request);
int start_init(const struct layer_call *a, MPI_Info info, MPI_Request *request);

/* ---- below.c ---- */

int below_begin(const struct layer_call *a, MPI_Request *request);
int below_init(const struct layer_call *a, MPI_Info info, MPI_Request *request);

/* ---- large_below.c ---- */

/* The same of calls with large counts. */
int large_below_begin(const struct layer_call *a, MPI_Request *request);
int large_below_init(const struct layer_call *a, MPI_Info info,
                     MPI_Request *request);

/* ---- turns.c ---- */

/* Blocking calls of the team, behind what has been made before. */
int team_run(struct layer_comm *c, const dcoll_call_t *call);
int team_alltoallv(struct layer_comm *c, const dcoll_alltoallv_t *call);
/* As in dcoll.h, for calls that this rank does not make. */
void team_skip(struct layer_comm *c);
void team_give_up(const struct layer_comm *c, const char *why);
/* What a lost rail has carried is sent again, by both of its ends: from now on
 * also while the program is elsewhere. For teams over several rails. */
void team_guard(struct layer_comm *c);
/* Whatever is under way anywhere goes on, but for teams that are in use. */
void requests_advance_all(void);

/* ---- shapes.c ---- */

/* Prepares what non-blocking calls have missed, in a call that may wait, of all
 * ranks. */
void requests_prepare(struct layer_comm *c);
/* May a non-blocking call of this shape be made without waiting for others?
 * 0; DRAIL_ENOTSUP: no, on all ranks, but it will be prepared; or an error. */
int requests_may_begin(struct layer_comm *c, const struct layer_call *a,
                       int64_t bytes);

/* ---- requests.c ---- */

/* What to do. Either one is NULL. */
struct request_work {
    struct ours *ours;
    struct irregular *irregular;
};
void request_work_free(struct request_work *work);

/* Makes a non-blocking call. @work becomes the request's. An MPI error. */
int request_begin(struct layer_comm *c, const struct layer_call *a,
                  struct request_work work, MPI_Request *handle);
/* This rank makes none, as its arguments are wrong. */
void requests_skip(struct layer_comm *c);
/* Has it been started, and not been taken since? A non-blocking one always has.
 */
bool request_is_active(const struct request *r);
/* Makes progress. Complete, or inactive? */
bool request_is_done(struct request *r);
/* Until it is. */
void request_wait(struct request *r);
/* Between two looks at what is under way: the MPI below goes on. */
void request_pause(struct request *r, unsigned *looks);
/* What has been done is taken: *handle becomes MPI_REQUEST_NULL, or the request
 * inactive; its error, of which the handler has been told. */
int request_take(struct request *r, MPI_Request *handle);
/* An error of MPI, of a call that can't be left any more. */
int request_error(const struct layer_comm *c, int rc);

/* ---- persistent.c ---- */

/* Makes one, collectively; can: this rank has had memory so far. *taken: it is
 * ours, on all ranks; else work is to be freed, and the call left. */
int request_init(struct layer_comm *c, const struct layer_call *a,
                 struct request_work *work, bool can, bool *taken,
                 MPI_Request *handle);
/* Have persistent requests of it been started too seldom to be worth it? The
 * same on all ranks. */
bool requests_start_seldom(const struct layer_comm *c);
/* An MPI error. */
int request_start(struct request *r);
/* The program has no more use for it. */
int request_give_up(struct request *r, MPI_Request *handle);
/* The program has freed the communicator, but may have requests of it left. */
void requests_detach(struct layer_comm *c);
/* Has it? */
bool requests_are_left(struct layer_comm *c);
/* Frees them, before its team. */
void requests_end(struct layer_comm *c);

/* ---- handles.c ---- */

/* NULL: it is none of ours. */
struct request *request_of(MPI_Request handle);
/* Is there any? */
bool requests_exist(void);

/* ---- pulse.c ---- */

/* A call has been started, or has ended. */
void pulse_more(void);
void pulse_less(void);
/* There is one more team that is guarded, or one less. */
void pulse_guard(void);
void pulse_unguard(void);
/* Is this its thread? */
bool pulse_is_here(void);
void pulse_end(void);

#endif
