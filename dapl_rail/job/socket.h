/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole messages over a stream socket, within a time. */
#ifndef DRAIL_JOB_STREAM_H
#define DRAIL_JOB_STREAM_H

#include <stddef.h>

#include "dapl_rail/job/job.h"
#include "dapl_rail/platform/deadline.h"

struct stream {
    int fd;
    const drail_job_t *job;   /* whose interruption ends a wait, and whose
                                 transports go on meanwhile; or NULL */
    struct deadline deadline; /* of all that is said over it */
};

/* By the machine's clock; never for a negative time. */
struct deadline deadline_in(int ms);
/* The same within a longer one. */
struct deadline deadline_sooner(int ms, struct deadline *whole);
/* A turn has ended: milliseconds to wait in poll(), at most so many; 0: it is
 * over. */
int deadline_ms(struct deadline *d, int most_ms);

/* Of a TCP connection: short messages go at once, and a host that has vanished
 * ends it after half a minute. */
void stream_tune(int fd);

/* Until the socket is ready. 0, DRAIL_EINTR, DRAIL_ETIMEOUT or DRAIL_EPEER, as
 * all of these. */
int stream_ready(struct stream *s, short events);
int stream_send(struct stream *s, const void *data, size_t bytes);
int stream_recv(struct stream *s, void *data, size_t bytes);

#endif
