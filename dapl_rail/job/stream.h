/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole messages over a stream socket, within a time. */
#ifndef DRAIL_JOB_STREAM_H
#define DRAIL_JOB_STREAM_H

#include <stddef.h>

#include "dapl_rail/job/job.h"

struct stream {
    int fd;
    const drail_job_t *job; /* whose interruption ends a wait; or NULL */
    uint64_t deadline_ns;   /* by the machine's clock */
};

/* By the machine's clock; UINT64_MAX for a negative time. */
uint64_t deadline_in(int ms);
/* Milliseconds to wait in poll(): at most so many. */
int deadline_left(uint64_t deadline_ns, int most_ms);

/* Of a TCP connection: short messages go at once, and a host that has vanished
 * ends it after half a minute. */
void stream_tune(int fd);

/* Until the socket is ready. 0, DRAIL_EINTR, DRAIL_ETIMEOUT or DRAIL_EPEER, as
 * all of these. */
int stream_ready(const struct stream *s, short events);
int stream_send(const struct stream *s, const void *data, size_t bytes);
int stream_recv(const struct stream *s, void *data, size_t bytes);

#endif
