/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/supervise/children.h"
#include "dapl_rail/job/supervise/signals.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/platform.h"

#define TERM_MS 1000 /* from SIGTERM to SIGKILL */
#define UNKNOWN -1   /* status of a child that another thread waited for */

static uint64_t now(void)
{
    return platform_now(&platform_machine);
}

void children_kill(const struct children *c, int signal)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->pids[i])
            kill(c->pids[i], signal);
}

/* ------------------------------------------------------------ interruption */

static void interrupt(struct children *c)
{
    if (atomic_exchange(&c->shown->stop_all, true))
        return;
    c->rc = DRAIL_EINTR;
    error_set(c->cfg->error, DRAIL_EINTR, "interrupted by a signal");
    children_kill(c, SIGTERM);
    oob_server_break(&c->server, DRAIL_EINTR, 0, OOB_LOST);
    c->term_ns = 0;
    c->kill_ns = now() + (uint64_t)c->cfg->grace_ms * MS;
}

static void read_signals(struct children *c)
{
    if (signals_read(c->signals))
        interrupt(c);
}

/* ---------------------------------------------------------------- failures */

/* The first rank that fails is the error of the job, and starts the time of
 * grace for the others. */
static void rank_failed(struct children *c, unsigned rank, int status)
{
    if (c->rc)
        return;
    c->rc = DRAIL_EJOB;
    if (status == UNKNOWN)
        error_set(c->cfg->error, DRAIL_EJOB,
                  "rank %u was waited for by another part of the program, so "
                  "how it ended is not known",
                  rank);
    else if (WIFSIGNALED(status))
        error_set(c->cfg->error, DRAIL_EJOB,
                  "rank %u was killed by signal %d (%s)", rank,
                  WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        error_set(c->cfg->error, DRAIL_EJOB, "rank %u exited with status %d",
                  rank, WEXITSTATUS(status));
    c->term_ns = now() + (uint64_t)c->cfg->grace_ms * MS;
}

static bool has_ended(pid_t pid, int *status)
{
    pid_t got = waitpid(pid, status, WNOHANG);
    if (got < 0 && errno == ECHILD) {
        *status = UNKNOWN;
        return true;
    }
    return got == pid;
}

static void reap(struct children *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        int status;
        if (!c->pids[i] || !has_ended(c->pids[i], &status))
            continue;
        c->pids[i] = 0;
        atomic_store(&c->shown->ended[i], true);
        c->alive--;
        if (status)
            rank_failed(c, i, status);
        /* a rank that ended well takes no part in all-gathers either */
        oob_server_break(&c->server, DRAIL_EPEER, i,
                         status != UNKNOWN && WIFEXITED(status)
                             ? WEXITSTATUS(status)
                             : OOB_LOST);
    }
}

static void enforce(struct children *c)
{
    uint64_t at = now();
    if (c->term_ns && at >= c->term_ns) {
        children_kill(c, SIGTERM);
        c->term_ns = 0;
        c->kill_ns = at + TERM_MS * MS;
    }
    if (c->kill_ns && at >= c->kill_ns)
        children_kill(c, SIGKILL);
}

void children_supervise(struct children *c)
{
    unsigned n = c->count;
    while (c->alive) {
        oob_server_watch(&c->server, n, c->polls);
        c->polls[n] = (struct pollfd){.fd = c->signals, .events = POLLIN};
        poll(c->polls, n + 1, TURN_MS);
        read_signals(c);
        oob_server_events(&c->server, n, c->polls);
        reap(c);
        enforce(c);
    }
}

/* ------------------------------------------------------------ open, close */

static void restore_signals(const struct children *c)
{
    sigaction(SIGCHLD, &c->old_chld, NULL);
    sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
}

int children_open(struct children *c, const drail_job_config_t *cfg)
{
    *c = (struct children){.cfg = cfg, .signals = -1};
    c->shown = mmap(NULL, sizeof *c->shown, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    c->pids = calloc(cfg->nranks, sizeof *c->pids);
    c->polls = calloc(cfg->nranks + 1, sizeof *c->polls);
    if (c->shown == MAP_FAILED || !c->pids || !c->polls ||
        oob_server_open(&c->server, cfg->nranks))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");

    sigset_t set;
    struct sigaction chld = {.sa_handler = SIG_DFL};
    signals_fill(&set, true);
    sigaction(SIGCHLD, &chld, &c->old_chld);
    sigprocmask(SIG_BLOCK, &set, &c->old_mask);
    c->signals = signals_open(&set);
    if (c->signals >= 0)
        return 0;
    int error = errno;
    restore_signals(c);
    return error_set(cfg->error, DRAIL_EJOB, "signalfd: %s", strerror(error));
}

void children_close(struct children *c)
{
    if (c->signals >= 0) {
        read_signals(c); /* else the caller would get them */
        close(c->signals);
        restore_signals(c);
    }
    if (c->shown != MAP_FAILED)
        munmap(c->shown, sizeof *c->shown);
    oob_server_close(&c->server);
    free(c->pids);
    free(c->polls);
}

void children_leave(struct children *c)
{
    close(c->signals);
    oob_server_close(&c->server);
    /* A caller may block these signals, as some batch systems do. The parent
     * reads them from its descriptor; a child has only its handler. */
    sigdelset(&c->old_mask, SIGINT);
    sigdelset(&c->old_mask, SIGTERM);
    restore_signals(c);
}

void children_add(struct children *c, pid_t pid, int fd)
{
    c->server.ranks[c->count].fd = fd;
    c->pids[c->count++] = pid;
    c->alive++;
}
