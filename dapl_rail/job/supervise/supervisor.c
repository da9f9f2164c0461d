/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/supervise/supervisor.h"
#include "dapl_rail/job/socket.h"

#define FLUSH_MS 1000

static void our_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

void hub_signals_take(sigset_t *old)
{
    sigset_t set;
    our_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, old);
}

static bool read_signals(const struct hub *hub)
{
    struct signalfd_siginfo info;
    bool any = false;
    while (read(hub->signals, &info, sizeof info) == sizeof info)
        any = true;
    return any;
}

void hub_signals_give(struct hub *hub, const sigset_t *old)
{
    if (read_signals(hub)) /* what has come for us is ours */
        atomic_store(&hub->interrupted, true);
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static void stop(struct hub *hub)
{
    atomic_store_explicit(&hub->stop, true, memory_order_release);
}

static void hang_up(struct hub *hub)
{
    hub->hang_up.at_ns = NEVER;
    stop(hub);
    oob_server_hang_up(&hub->server);
}

/* Also if this rank waits for the reply to an all-gather. Where it is just
 * saying something, rank 0 sees nothing but its end. */
static void tell_interrupted(struct hub *hub)
{
    const struct oob_header word = {.status = OOB_INTERRUPTED};
    if (!pthread_mutex_trylock(&hub->speaking)) {
        send(hub->watched, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
        pthread_mutex_unlock(&hub->speaking);
    }
    shutdown(hub->watched, SHUT_WR);
}

static void interrupt(struct hub *hub)
{
    /* before this rank can say anything else */
    if (hub->serves)
        oob_server_break(&hub->server, DRAIL_EINTR, 0, OOB_LOST);
    else if (hub->watched >= 0)
        tell_interrupted(hub);
    atomic_store(&hub->interrupted, true);
    stop(hub);
    if (hub->serves)
        hang_up(hub);
}

/* After the first failure the ranks get some time to end by themselves; not
 * after an interruption. */
static void enforce(struct hub *hub)
{
    if (!hub->serves || !hub->server.broken.status ||
        hub->hang_up.at_ns == NEVER)
        return;
    if (hub->server.broken.status == DRAIL_EINTR)
        hang_up(hub);
    else if (!hub->hang_up.at_ns)
        hub->hang_up = deadline_in(hub->grace_ms);
    else if (!deadline_ms(&hub->hang_up, 1))
        hang_up(hub);
}

static unsigned look_for(struct hub *hub)
{
    unsigned n = hub->serves ? hub->server.nranks : 1;
    if (hub->serves)
        for (unsigned i = 0; i < n; i++)
            hub->polls[i] = oob_server_want(&hub->server, i);
    else
        hub->polls[0] =
            (struct pollfd){.fd = hub->watched, .events = POLLRDHUP};
    hub->polls[n] = (struct pollfd){.fd = hub->signals, .events = POLLIN};
    hub->polls[n + 1] = (struct pollfd){.fd = hub->quit, .events = POLLIN};
    return n;
}

static void handle(struct hub *hub, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (hub->polls[i].fd < 0 || !hub->polls[i].revents)
            continue;
        if (hub->serves) {
            oob_server_event(&hub->server, i, hub->polls[i].revents);
        } else {
            hub->watched = -1;
            stop(hub);
        }
    }
    /* after the events, which are of a server that has not hung up yet */
    if (hub->polls[n].revents && read_signals(hub))
        interrupt(hub);
    enforce(hub);
}

static void *serve(void *arg)
{
    struct hub *hub = arg;
    struct deadline until = {0}; /* when it is to quit */
    for (;;) {
        unsigned n = look_for(hub);
        bool timed =
            until.at_ns || (hub->hang_up.at_ns && hub->hang_up.at_ns != NEVER);
        poll(hub->polls, n + (until.at_ns ? 1 : 2), timed ? TURN_MS : -1);
        if (!until.at_ns && hub->polls[n + 1].revents)
            until = deadline_in(FLUSH_MS);
        handle(hub, n);
        if (until.at_ns && (!hub->serves || oob_server_idle(&hub->server) ||
                            !deadline_ms(&until, 1)))
            return NULL;
    }
}

static int start(struct hub *hub)
{
    sigset_t all, old, set;
    our_signals(&set);
    hub->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    hub->quit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (hub->signals < 0 || hub->quit < 0)
        return DRAIL_ENOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    hub->process = getpid();
    hub->running = !pthread_create(&hub->thread, NULL, serve, hub);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return hub->running ? 0 : DRAIL_ENOMEM;
}

int hub_open(struct hub *hub, unsigned rank, unsigned size, const int *fds,
             int grace_ms)
{
    *hub = (struct hub){.serves = rank == 0,
                        .speaking = PTHREAD_MUTEX_INITIALIZER,
                        .watched = rank ? fds[0] : -1,
                        .signals = -1,
                        .quit = -1,
                        .grace_ms = grace_ms};
    hub->polls = calloc(size + 2, sizeof *hub->polls);
    int rc = hub->polls ? 0 : DRAIL_ENOMEM;
    if (hub->serves && oob_server_open(&hub->server, size))
        rc = DRAIL_ENOMEM;
    for (unsigned r = 0; hub->serves && r < size; r++) {
        if (hub->server.ranks)
            hub->server.ranks[r].fd = fds[r];
        else
            close(fds[r]);
    }
    return rc ? rc : start(hub);
}

void hub_close(struct hub *hub)
{
    if (hub->running && hub->process == getpid()) {
        eventfd_write(hub->quit, 1);
        pthread_join(hub->thread, NULL);
    }
    if (hub->serves)
        oob_server_close(&hub->server);
    if (hub->signals >= 0)
        close(hub->signals);
    if (hub->quit >= 0)
        close(hub->quit);
    free(hub->polls);
}
