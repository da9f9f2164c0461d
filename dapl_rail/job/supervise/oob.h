/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The out-of-band channel of a job: every rank has a stream socket to a server
 * (the parent of forked ranks, or a thread of rank 0), which gathers one
 * contribution of each rank and sends all of them to everybody. A star: fine
 * for some hundreds of ranks; for n of them, n times the result leaves the
 * server's host.
 */
#ifndef DRAIL_OOB_H
#define DRAIL_OOB_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define OOB_LOST INT32_MIN /* as exit: ended without a word */

enum oob_request {
    OOB_GATHER,
    OOB_END,
    OOB_INTERRUPTED, /* by a signal; the rank's last word, also out of turn */
};

struct oob_header {
    int32_t status; /* an enum oob_request; of a reply 0 or a DRAIL_E… */
    uint32_t bytes; /* that follow, per rank */
    uint32_t rank;  /* of a reply with a status: who is to blame */
    int32_t exit;   /* its exit status; or that of the rank that ends */
};

/* The server's side of one rank. */
struct oob_rank {
    int fd; /* -1: gone */
    struct oob_header header;
    size_t received; /* of header and contribution */
    bool waiting;    /* its contribution is complete */
    bool ended;      /* ... and was its end */
    bool replying;
    bool closed; /* has had its last reply */
    struct oob_header reply;
    size_t sent; /* of the reply */
};

struct oob_server {
    unsigned nranks;
    struct oob_rank *ranks;
    /* A rank contributes to the next round only after it has the whole reply
     * of the last, so two buffers do. */
    unsigned char *gather, *reply;
    struct oob_header broken; /* status: everybody is told this */
    bool closing;
};

/* 0 or DRAIL_ENOMEM; oob_server_close in either case. */
int oob_server_open(struct oob_server *s, unsigned nranks);
void oob_server_close(struct oob_server *s);
/* What poll() should look for on this rank's socket; -1 in fd: nothing. */
struct pollfd oob_server_want(const struct oob_server *s, unsigned rank);
void oob_server_event(struct oob_server *s, unsigned rank, short revents);
/* From now on every all-gather fails with code; the first one counts. exit is
 * that of the rank. */
void oob_server_break(struct oob_server *s, int code, unsigned rank, int exit);
/* Tells all ranks what broke the server, whatever they do, and says no more. */
void oob_server_hang_up(struct oob_server *s);
/* Has everybody the whole of his last reply? */
bool oob_server_idle(const struct oob_server *s);

/* Do rank and server agree on what comes next? */
enum oob_step {
    STEP_EVEN,
    STEP_OWED, /* the reply to an all-gather that was given up */
    STEP_LOST, /* no: given up in the middle of a message */
};

/* The rank's side. */
struct oob_channel {
    drail_job_t *job; /* its error says who is to blame */
    int fd;           /* to the server */
    enum oob_step step;
    /* Held while a message is sent, if another thread may send, too; or NULL.
     */
    pthread_mutex_t *speaking;
};

/* A drail_allgather_t, context is a struct oob_channel. */
int oob_allgather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms);
/*
 * This rank takes no further part; waits for the ends of the others. Then
 * another job may begin. 0; DRAIL_EJOB when another rank failed, DRAIL_EPEER
 * when the server is gone, or another code; why: see job.
 */
int oob_end(struct oob_channel *channel, int exit);
/* The same, but waits for nobody: others hear that this rank is gone. Never
 * 0. */
int oob_leave(const struct oob_channel *channel);
/* The connection is at its end: what was the last reply? Never 0. */
int oob_farewell(const struct oob_channel *channel);

#endif
