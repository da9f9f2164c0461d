/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench/clock.h"
#include "comm.h"

int app_allgather(app_comm_t *c, const void *mine, size_t bytes,
                  const void **all)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                               .send = c->bed->send,
                               .recv = c->bed->recv,
                               .bytes = bytes,
                               .algorithm = c->algorithm};
    uint64_t begin = clock_ns();
    memcpy(c->bed->send, mine, bytes);
    int rc = dcoll_run(c->bed->team, &call);
    c->times.allgather_ns += clock_ns() - begin;
    c->times.allgathers++;
    c->times.allgathers_short += bytes < APP_SHORT_BYTES;
    if (bytes > c->times.longest)
        c->times.longest = bytes;
    *all = c->bed->recv;
    return rc;
}

unsigned app_partner(const app_comm_t *c, unsigned round)
{
    return (round + c->ranks - c->rank) % c->ranks;
}

/* Sends block until they are received: one of the two begins with that. */
int app_exchange(app_comm_t *c, unsigned partner, const void *out, size_t bytes,
                 void *in, size_t capacity, size_t *received)
{
    drail_t *rail = c->bed->rail;
    int rc = 0;
    if (partner == c->rank) {
        memcpy(in, out, bytes);
        *received = bytes;
        return 0;
    }
    uint64_t begin = clock_ns();
    if (c->rank < partner)
        rc = drail_send(rail, partner, out, bytes, NULL);
    if (!rc)
        rc = drail_recv(rail, partner, in, capacity, received, -1);
    if (!rc && c->rank > partner)
        rc = drail_send(rail, partner, out, bytes, NULL);
    c->times.exchange_ns += clock_ns() - begin;
    c->times.sent += bytes;
    c->times.messages++;
    return rc;
}

void app_compute(const app_comm_t *c, double operations)
{
    drail_job_compute(c->job, (uint64_t)(operations / c->rate * 1e9));
}
