/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The out-of-band channel of a job: every rank has a stream socket to the
 * supervising parent, which gathers one contribution of each rank and sends
 * all of them to everybody.
 */
#ifndef DRAIL_OOB_H
#define DRAIL_OOB_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct oob_header {
    int32_t status; /* reply: 0 or a DRAIL_E… */
    uint32_t bytes; /* that follow, per rank */
};

/* The supervisor's side of one rank. */
struct oob_rank {
    int fd; /* -1: gone */
    struct oob_header header;
    size_t received; /* of header and contribution */
    bool waiting;    /* its contribution is complete */
    bool replying;
    size_t sent; /* of the reply */
};

struct oob_server {
    unsigned nranks;
    struct oob_rank *ranks;
    unsigned waiting;
    /* A rank contributes to the next round only after it has the whole reply
     * of the last, so two buffers do. */
    unsigned char *gather, *reply;
    struct oob_header reply_header;
    int broken; /* a rank is gone: everybody is told this */
};

/* 0 or DRAIL_ENOMEM; oob_server_close in either case. */
int oob_server_open(struct oob_server *s, unsigned nranks);
void oob_server_close(struct oob_server *s);
/* What poll() should look for on this rank's socket; -1 in fd: nothing. */
struct pollfd oob_server_want(const struct oob_server *s, unsigned rank);
void oob_server_event(struct oob_server *s, unsigned rank, short revents);
/* From now on every all-gather fails with code. */
void oob_server_break(struct oob_server *s, int code);

/* The rank's side. */
struct oob_channel {
    const drail_job_t *job;
    int fd; /* to the supervisor */
};

/* A drail_allgather_t, context is a struct oob_channel. */
int oob_allgather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms);

#endif
