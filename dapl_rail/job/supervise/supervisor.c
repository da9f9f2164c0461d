/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/socket.h"
#include "dapl_rail/job/supervise/signals.h"
#include "dapl_rail/job/supervise/supervisor.h"

#define FLUSH_MS 1000
#define SEND_MS  300 /* for a request that another thread sends */

void supervisor_signals_take(sigset_t *old)
{
    sigset_t set;
    signals_fill(&set, false);
    pthread_sigmask(SIG_BLOCK, &set, old);
}

void supervisor_signals_give(struct supervisor *s, const sigset_t *old)
{
    if (signals_read(s->signals)) /* else the caller would get them */
        atomic_store(&s->interrupted, true);
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static void stop(struct supervisor *s)
{
    atomic_store_explicit(&s->stop, true, memory_order_release);
}

static void hang_up(struct supervisor *s)
{
    s->hang_up.at_ns = NEVER;
    stop(s);
    oob_server_hang_up(&s->server);
}

/* Also while this rank waits for the reply to an all-gather. If the rank can't
 * end the sending of a request, rank 0 sees only the end of the connection. */
static void send_interrupted(struct supervisor *s)
{
    const struct oob_header request = {.status = OOB_INTERRUPTED};
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SEND_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (!pthread_mutex_clocklock(&s->send_lock, CLOCK_MONOTONIC, &until)) {
        send(s->watched, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL);
        pthread_mutex_unlock(&s->send_lock);
    }
    shutdown(s->watched, SHUT_WR);
}

static void interrupt(struct supervisor *s)
{
    /* rank 0 must learn this before anything else that this rank sends */
    if (s->serves)
        oob_server_break(&s->server, DRAIL_EINTR, 0, OOB_LOST);
    else if (s->watched >= 0)
        send_interrupted(s);
    atomic_store(&s->interrupted, true);
    stop(s);
    if (s->serves)
        hang_up(s);
}

/* After the first failure the ranks get grace_ms to end by themselves; after an
 * interruption they get no time. */
static void enforce(struct supervisor *s)
{
    if (!s->serves || !s->server.broken.status || s->hang_up.at_ns == NEVER)
        return;
    if (s->server.broken.status == DRAIL_EINTR)
        hang_up(s);
    else if (!s->hang_up.at_ns)
        s->hang_up = deadline_in(s->grace_ms);
    else if (!deadline_ms(&s->hang_up, 1))
        hang_up(s);
}

/* Fills polls: n sockets, whose number it returns, then signals and quit. */
static unsigned watch(struct supervisor *s)
{
    unsigned n = s->serves ? s->server.nranks : 1;
    if (s->serves)
        oob_server_watch(&s->server, n, s->polls);
    else
        s->polls[0] = (struct pollfd){.fd = s->watched, .events = POLLRDHUP};
    s->polls[n] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    s->polls[n + 1] = (struct pollfd){.fd = s->quit, .events = POLLIN};
    return n;
}

static void handle(struct supervisor *s, unsigned n)
{
    if (s->serves) {
        oob_server_events(&s->server, n, s->polls);
    } else if (s->polls[0].fd >= 0 && s->polls[0].revents) {
        s->watched = -1;
        stop(s);
    }
    /* last: the events were polled before the server may hang up */
    if (s->polls[n].revents && signals_read(s->signals))
        interrupt(s);
    enforce(s);
}

static void *serve(void *arg)
{
    struct supervisor *s = arg;
    struct deadline quit = {0}; /* at_ns 0: not asked to */
    for (;;) {
        unsigned n = watch(s);
        bool timed =
            quit.at_ns || (s->hang_up.at_ns && s->hang_up.at_ns != NEVER);
        poll(s->polls, n + (quit.at_ns ? 1 : 2), timed ? TURN_MS : -1);
        if (!quit.at_ns && s->polls[n + 1].revents)
            quit = deadline_in(FLUSH_MS);
        handle(s, n);
        if (quit.at_ns && (!s->serves || oob_server_idle(&s->server) ||
                           !deadline_ms(&quit, 1)))
            return NULL;
    }
}

static int start(struct supervisor *s)
{
    sigset_t all, old, set;
    signals_fill(&set, false);
    s->signals = signals_open(&set);
    s->quit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->signals < 0 || s->quit < 0)
        return DRAIL_ENOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    s->process = getpid();
    s->running = !pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return s->running ? 0 : DRAIL_ENOMEM;
}

int supervisor_open(struct supervisor *s, unsigned rank, unsigned size,
                    const int *fds, int grace_ms)
{
    *s = (struct supervisor){.serves = rank == 0,
                             .send_lock = PTHREAD_MUTEX_INITIALIZER,
                             .watched = rank ? fds[0] : -1,
                             .signals = -1,
                             .quit = -1,
                             .grace_ms = grace_ms};
    s->polls = calloc(size + 2, sizeof *s->polls);
    int rc = s->polls ? 0 : DRAIL_ENOMEM;
    if (s->serves && oob_server_open(&s->server, size))
        rc = DRAIL_ENOMEM;
    for (unsigned r = 0; s->serves && r < size; r++) {
        if (s->server.ranks)
            s->server.ranks[r].fd = fds[r];
        else
            close(fds[r]);
    }
    return rc ? rc : start(s);
}

void supervisor_close(struct supervisor *s)
{
    if (s->running && s->process == getpid()) {
        eventfd_write(s->quit, 1);
        pthread_join(s->thread, NULL);
    }
    if (s->serves)
        oob_server_close(&s->server);
    if (s->signals >= 0)
        close(s->signals);
    if (s->quit >= 0)
        close(s->quit);
    free(s->polls);
}
