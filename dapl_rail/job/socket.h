/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole messages over a stream socket, before a deadline. */
#ifndef DRAIL_JOB_SOCKET_H
#define DRAIL_JOB_SOCKET_H

#include <stddef.h>

#include "dapl_rail/job/job.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/socket_options.h"

struct timed_socket {
    int fd;
    const drail_job_t *job;   /* its interruption ends a wait; its transports
                                 make progress meanwhile; or NULL */
    struct deadline deadline; /* for all messages together */
};

/* By the machine's clock; a negative time means never. */
struct deadline deadline_in(int ms);
/* The same, but not later than the whole. */
struct deadline deadline_sooner(int ms, struct deadline *whole);
/* Call it after each wait: how many ms to wait in poll() next, at most most_ms;
 * 0: the deadline has passed. */
int deadline_ms(struct deadline *d, int most_ms);

/* Waits until the socket is ready; sends or receives all bytes. 0, DRAIL_EINTR,
 * DRAIL_ETIMEOUT or DRAIL_EPEER. */
int socket_ready(struct timed_socket *s, short events);
int socket_send(struct timed_socket *s, const void *data, size_t bytes);
int socket_recv(struct timed_socket *s, void *data, size_t bytes);

#endif
