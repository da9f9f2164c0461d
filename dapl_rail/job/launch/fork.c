/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks the ranks of a job and supervises them: the parent serves the
 * out-of-band all-gather, passes signals on, and ends what must end. Processes
 * of this machine, so by its clock, whatever the platform's shows.
 */
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/supervise/oob.h"

#define TERM_MS 1000 /* from SIGTERM to SIGKILL */
#define UNKNOWN -1   /* exit status of one whom somebody else waited for */

struct child {
    pid_t pid; /* 0: has been waited for */
};

/* What the supervisor shows all ranks, in memory that they share. */
struct shown {
    _Atomic bool stop_all;
    _Atomic bool ended[DRAIL_MAX_RANKS];
};

struct supervisor {
    const drail_job_config_t *cfg;
    struct child *children;
    unsigned nchildren, alive;
    struct oob_server oob;
    struct pollfd *polls;
    int signals; /* signalfd */
    sigset_t old_mask;
    struct sigaction old_chld;
    struct shown *shown;
    int rc;
    uint64_t term_ns, kill_ns; /* when to send them, 0: not */
};

/* ------------------------------------------------------------ the ranks */

/*
 * In a rank, a signal only has to end a blocking call: the supervisor has
 * set the flag already. One that a process sent to this rank alone goes to the
 * supervisor first; what the terminal sends (si_code > 0) it gets anyway.
 */
static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    int saved = errno;
    if (info->si_code <= 0 && info->si_pid != getppid() && getppid() > 1)
        kill(getppid(), SIGTERM);
    errno = saved;
}

static void __attribute__((noreturn))
rank_run(struct supervisor *s, pid_t parent, drail_job_t *job,
         drail_rank_main_t rank_main, void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    close(s->signals);
    oob_server_close(&s->oob);
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGCHLD, &s->old_chld, NULL);
    /* a caller that blocks them, as some batch systems do, is interrupted by
     * the supervisor's descriptor, but a rank only by its handler */
    sigdelset(&s->old_mask, SIGINT);
    sigdelset(&s->old_mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
    int status = rank_main(job, arg);
    fflush(NULL);
    /* _exit skips what OpenMP runtimes do at exit; LLVM's removes a file */
    omp_pause_resource_all(omp_pause_hard);
    _exit(status & 0xff);
}

static int rank_start(struct supervisor *s, const drail_job_t *pattern,
                      unsigned rank, drail_rank_main_t rank_main, void *arg)
{
    int pair[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return error_set(s->cfg->error, DRAIL_EJOB, "rank %u: socketpair: %s",
                         rank, strerror(errno));
    pid_t pid = fork();
    if (pid < 0) {
        error_set(s->cfg->error, DRAIL_EJOB, "rank %u: fork: %s%s", rank,
                  strerror(errno),
                  errno == EAGAIN ? " (processes of this user: ulimit -u)"
                                  : "");
        close(pair[0]);
        close(pair[1]);
        return DRAIL_EJOB;
    }
    if (pid == 0) {
        drail_job_t job = *pattern;
        struct oob_channel channel = {.job = &job, .fd = pair[1]};
        close(pair[0]);
        job.rank = rank;
        job.allgather = oob_allgather;
        job.context = &channel;
        rank_run(s, parent, &job, rank_main, arg);
    }
    close(pair[1]);
    s->oob.ranks[rank].fd = pair[0];
    s->children[rank].pid = pid;
    s->nchildren = rank + 1;
    s->alive++;
    return 0;
}

/* ------------------------------------------------------- the supervisor */

static void signal_all(struct supervisor *s, int sig)
{
    for (unsigned i = 0; i < s->nchildren; i++)
        if (s->children[i].pid)
            kill(s->children[i].pid, sig);
}

static void interrupt(struct supervisor *s)
{
    if (atomic_exchange(&s->shown->stop_all, true))
        return;
    s->rc = DRAIL_EINTR;
    error_set(s->cfg->error, DRAIL_EINTR, "interrupted by a signal");
    signal_all(s, SIGTERM);
    oob_server_break(&s->oob, DRAIL_EINTR, 0, OOB_LOST);
    s->term_ns = 0;
    s->kill_ns =
        platform_now(&platform_machine) + (uint64_t)s->cfg->grace_ms * MS;
}

static void read_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            interrupt(s);
}

/* The first rank that fails gives the job its error and the others a limit. */
static void rank_failed(struct supervisor *s, unsigned rank, int status)
{
    if (s->rc)
        return;
    s->rc = DRAIL_EJOB;
    if (status == UNKNOWN)
        error_set(s->cfg->error, DRAIL_EJOB,
                  "rank %u was waited for by another part of the program, so "
                  "how it ended is not known",
                  rank);
    else if (WIFSIGNALED(status))
        error_set(s->cfg->error, DRAIL_EJOB,
                  "rank %u was killed by signal %d (%s)", rank,
                  WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        error_set(s->cfg->error, DRAIL_EJOB, "rank %u exited with status %d",
                  rank, WEXITSTATUS(status));
    s->term_ns =
        platform_now(&platform_machine) + (uint64_t)s->cfg->grace_ms * MS;
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

static void reap(struct supervisor *s)
{
    for (unsigned i = 0; i < s->nchildren; i++) {
        int status;
        if (!s->children[i].pid || !has_ended(s->children[i].pid, &status))
            continue;
        s->children[i].pid = 0;
        atomic_store(&s->shown->ended[i], true);
        s->alive--;
        if (status)
            rank_failed(s, i, status);
        /* also a rank that ended well can't take part any more */
        oob_server_break(&s->oob, DRAIL_EPEER, i,
                         status != UNKNOWN && WIFEXITED(status)
                             ? WEXITSTATUS(status)
                             : OOB_LOST);
    }
}

static void enforce(struct supervisor *s)
{
    uint64_t now = platform_now(&platform_machine);
    if (s->term_ns && now >= s->term_ns) {
        signal_all(s, SIGTERM);
        s->term_ns = 0;
        s->kill_ns = now + TERM_MS * MS;
    }
    if (s->kill_ns && now >= s->kill_ns)
        signal_all(s, SIGKILL);
}

static void supervise(struct supervisor *s)
{
    unsigned n = s->nchildren;
    while (s->alive) {
        for (unsigned i = 0; i < n; i++)
            s->polls[i] = oob_server_want(&s->oob, i);
        s->polls[n] = (struct pollfd){.fd = s->signals, .events = POLLIN};
        poll(s->polls, n + 1, 100);
        read_signals(s);
        for (unsigned i = 0; i < n; i++)
            if (s->polls[i].fd >= 0 && s->polls[i].revents)
                oob_server_event(&s->oob, i, s->polls[i].revents);
        reap(s);
        enforce(s);
    }
}

static int supervisor_open(struct supervisor *s, const drail_job_config_t *cfg)
{
    memset(s, 0, sizeof *s);
    s->cfg = cfg;
    s->signals = -1;
    s->shown = mmap(NULL, sizeof *s->shown, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    s->children = calloc(cfg->nranks, sizeof *s->children);
    s->polls = calloc(cfg->nranks + 1, sizeof *s->polls);
    if (s->shown == MAP_FAILED || !s->children || !s->polls ||
        oob_server_open(&s->oob, cfg->nranks))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");

    /* blocked and read from a descriptor: the caller's handlers stay */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    struct sigaction chld = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &chld, &s->old_chld);
    sigprocmask(SIG_BLOCK, &set, &s->old_mask);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signals < 0) {
        sigaction(SIGCHLD, &s->old_chld, NULL);
        sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
        return error_set(cfg->error, DRAIL_EJOB, "signalfd: %s",
                         strerror(errno));
    }
    return 0;
}

static void supervisor_close(struct supervisor *s)
{
    if (s->signals >= 0) {
        read_signals(s); /* what has come for us is ours */
        close(s->signals);
        sigaction(SIGCHLD, &s->old_chld, NULL);
        sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
    }
    if (s->shown != MAP_FAILED)
        munmap(s->shown, sizeof *s->shown);
    oob_server_close(&s->oob);
    free(s->children);
    free(s->polls);
}

int fork_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
               void *arg)
{
    struct supervisor s;
    struct rlimit files;
    const struct drail_platform *p =
        cfg->platform ? cfg->platform : &platform_machine;
    drail_job_t pattern = {
        .size = cfg->nranks,
        .platform = p,
        .id = job_random(p),
    };
    if (nodes_make(&pattern.nodes, cfg->nranks, cfg->nodes,
                   cfg->ppn ? cfg->ppn : cfg->nranks))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    getrlimit(RLIMIT_NOFILE, &files);
    job_reserve_files(cfg->nranks); /* the ranks inherit it */
    int rc = supervisor_open(&s, cfg);
    pattern.stop_all = &s.shown->stop_all;
    pattern.ended = s.shown->ended;
    fflush(NULL); /* or every rank would write what is buffered again */
    /* or every rank would wait for threads of the caller's pool */
    omp_pause_resource_all(omp_pause_soft); /* hard: LLVM's can't fork then */
    for (unsigned r = 0; !rc && r < cfg->nranks; r++)
        rc = s.rc = rank_start(&s, &pattern, r, rank_main, arg);
    if (rc)
        signal_all(&s, SIGKILL);
    supervise(&s);
    supervisor_close(&s);
    setrlimit(RLIMIT_NOFILE, &files);
    nodes_free(&pattern.nodes);
    return rc ? rc : s.rc;
}
