/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The out-of-band channel of a job: the all-gather of its ranks before they
 * have rails. Each rank has a stream socket to a server: the parent of forked
 * ranks, or a thread of rank 0. The server gathers a contribution of each rank
 * and sends all of them to every rank. This is a star: fine for some hundreds
 * of ranks; with n ranks, n times the result leaves the server's host.
 *
 * In reading order: oob_server.c and oob_rank.c, the two sides; signals.h;
 * children.h and supervisor.h, which run the server and end the ranks: forked
 * ones, and launched ones.
 */
#ifndef DRAIL_OOB_H
#define DRAIL_OOB_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define OOB_LOST INT32_MIN /* exit status of a rank that gave none */

enum oob_request {
    OOB_GATHER,
    OOB_END,
    OOB_INTERRUPTED, /* by a signal; the rank's last request, at any time */
};

struct oob_header {
    int32_t status; /* enum oob_request; in a reply 0 or a DRAIL_E… */
    uint32_t bytes; /* that follow, per rank */
    uint32_t rank;  /* in a reply with a status: the rank that caused it */
    int32_t exit;   /* its exit status, or that of the rank that ends */
};

/* ------------------------------------------------------- the server's side */

/* One rank, as the server sees it. */
struct oob_rank {
    int fd; /* -1: gone */
    struct oob_header header;
    size_t received; /* bytes of header and contribution */
    bool waiting;    /* its request is complete, and not yet answered */
    bool ended;      /* … and was OOB_END */
    bool replying;
    bool closed; /* its last reply has been sent */
    struct oob_header reply;
    size_t sent; /* bytes of the reply */
};

struct oob_server {
    unsigned nranks;
    struct oob_rank *ranks;
    /* Two buffers are enough: a rank contributes to the next round only after
     * it has received all of the last reply. */
    unsigned char *gather, *reply;
    struct oob_header broken; /* if it has a status, it answers every request */
    bool closing;
};

/* 0 or DRAIL_ENOMEM; oob_server_close() in either case. */
int oob_server_open(struct oob_server *s, unsigned nranks);
void oob_server_close(struct oob_server *s);
/* The events of this rank's socket that poll() must wait for; fd -1: none. */
struct pollfd oob_server_want(const struct oob_server *s, unsigned rank);
void oob_server_event(struct oob_server *s, unsigned rank, short revents);
/* The same for ranks 0 … n - 1: fills polls, and handles what poll() found. */
void oob_server_watch(const struct oob_server *s, unsigned n,
                      struct pollfd *polls);
void oob_server_events(struct oob_server *s, unsigned n,
                       const struct pollfd *polls);
/* From now on every all-gather fails with this code, because of this rank and
 * its exit status. The first call counts, or the first with DRAIL_EINTR. */
void oob_server_break(struct oob_server *s, int code, unsigned rank, int exit);
/* Sends the reason of oob_server_break() to all ranks, whether they have asked
 * or not, and then closes the sending side. */
void oob_server_hang_up(struct oob_server *s);
/* Have all replies been sent completely? */
bool oob_server_idle(const struct oob_server *s);

/* --------------------------------------------------------- the rank's side */

/* Do rank and server agree on which message comes next? */
enum oob_step {
    OOB_IN_STEP,
    OOB_REPLY_DUE,   /* the reply to an all-gather that the rank gave up */
    OOB_OUT_OF_STEP, /* the rank gave up in the middle of a message */
};

struct oob_channel {
    drail_job_t *job; /* its error says which rank caused a failure */
    int fd;           /* to the server */
    enum oob_step step;
    /* Held while a message is sent, if another thread sends, too; or NULL. */
    pthread_mutex_t *send_lock;
};

/* A drail_allgather_t; context is a struct oob_channel. */
int oob_allgather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms);
/*
 * This rank ends its part in the job with this exit status, and waits until the
 * other ranks have done so. Then another job may begin. 0; DRAIL_EJOB: another
 * rank failed; DRAIL_EPEER: the server is gone; or another code. The job's
 * error says why.
 */
int oob_end(struct oob_channel *channel, int exit);
/* Ends its part without waiting: the other ranks learn that this rank is gone.
 * Never 0. */
int oob_leave(const struct oob_channel *channel);
/* The connection has ended: the code of the server's last reply. Never 0. */
int oob_last_reply(const struct oob_channel *channel);

#endif
