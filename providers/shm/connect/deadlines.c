/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlines of connections, and what the thread does from time to time: connect
 * again, drain, listen again. The time in which this process or the machine
 * stood still does not count against a connection that is being made.
 */
#include "dapl_rail/platform/standstill.h"
#include "providers/shm/connect/active_side.h"
#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/deadlines.h"
#include "providers/shm/connect/events.h"
#include "providers/shm/connect/passive_side.h"
#include "providers/shm/connect/watch.h"
#include "providers/shm/message/data.h"

#define LONGEST_MS 3600000

static void on_deadline(struct shm_conn *c)
{
    switch (c->state) {
    case SHM_CONN_CONNECTING:
    case SHM_CONN_REQUESTED:
        shm_conn_end(c, DAT_CONNECTION_EVENT_TIMED_OUT, NULL, 0);
        break;
    case SHM_CONN_DRAINING:
        shm_disconnect(c->ep, true);
        break;
    case SHM_CONN_LINGERING:
        shm_progress(c->ep, true);
        shm_on_disconnect(c);
        break;
    case SHM_CONN_ENDING:
        shm_conn_end_on(c);
        break;
    default:
        shm_on_late(c);
    }
}

/* Do the managers make it? An offer is the consumer's to answer. */
static bool is_being_made(const struct shm_conn *c)
{
    return c->state <= SHM_CONN_ACCEPTED && c->state != SHM_CONN_OFFERED;
}

static bool awaits_message(const struct shm_conn *c)
{
    return is_being_made(c) && c->state != SHM_CONN_CONNECTING;
}

/* Is it time to read sockets without an event? Now and then, and always before
 * a connection is given up because no message came. */
static bool should_hear(const struct shm_ia *sia, uint64_t now)
{
    bool due = sia->hear_at <= now;
    for (const struct shm_conn *c = sia->conns; c && !due; c = c->next)
        due = awaits_message(c) && c->deadline <= now;
    return due;
}

static void hear(struct shm_ia *sia, uint64_t now)
{
    sia->hear_at = now + STANDSTILL_LOOK_NS;
    for (int fd = 0; fd < sia->watch_size; fd++)
        if (sia->watch[fd].conn && awaits_message(sia->watch[fd].conn))
            shm_on_readable(sia, fd);
}

int shm_deadlines_meet(struct shm_ia *sia)
{
    uint64_t now = busywait_now_ns(), next = UINT64_MAX;
    uint64_t still = standstill_since(sia->look_at, now);
    if (should_hear(sia, now))
        hear(sia, now);
    if (sia->accept_at && sia->accept_at <= now)
        shm_passive_listen_again(sia);
    else if (sia->accept_at)
        next = sia->accept_at;
    for (struct shm_conn *c = sia->conns, *n; c; c = n) {
        n = c->next;
        bool retry = c->state == SHM_CONN_CONNECTING;
        if (is_being_made(c) && c->deadline != UINT64_MAX)
            c->deadline += still;
        if (c->deadline <= now) {
            on_deadline(c);
            next = now + SHM_RETRY_NS; /* other deadlines: next time */
            continue;
        }
        if (retry)
            shm_active_try(c);
        if (retry && next > now + SHM_RETRY_NS)
            next = now + SHM_RETRY_NS;
        if (is_being_made(c) && next > now + STANDSTILL_LOOK_NS)
            next = now + STANDSTILL_LOOK_NS;
        if (c->deadline < next)
            next = c->deadline;
    }
    sia->look_at = next;
    if (next == UINT64_MAX)
        return -1;
    uint64_t ms = next <= now ? 0 : (next - now + 999999) / 1000000;
    return ms > LONGEST_MS ? LONGEST_MS : (int)ms;
}
