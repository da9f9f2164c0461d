/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as processes that this process forks and then supervises
 * (supervise/children.h). */
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/launch/fork.h"
#include "dapl_rail/job/supervise/children.h"

/*
 * In a rank a signal only has to end a blocking call: the parent has set
 * stop_all before it sends one. If another process signals this rank alone, the
 * rank tells its parent. Signals of the terminal (si_code > 0) reach the parent
 * by themselves.
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
rank_run(struct children *c, pid_t parent, drail_job_t *job,
         drail_rank_main_t rank_main, void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    children_leave(c);
    int status = rank_main(job, arg);
    fflush(NULL);
    /* _exit skips what OpenMP runtimes do at exit; LLVM's removes a file */
    omp_pause_resource_all(omp_pause_hard);
    _exit(status & 0xff);
}

/* The next rank; pattern is its job but for what differs by rank. */
static int rank_start(struct children *c, const drail_job_t *pattern,
                      drail_rank_main_t rank_main, void *arg)
{
    unsigned rank = c->count;
    int pair[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return error_set(c->cfg->error, DRAIL_EJOB, "rank %u: socketpair: %s",
                         rank, strerror(errno));
    pid_t pid = fork();
    if (pid < 0) {
        error_set(c->cfg->error, DRAIL_EJOB, "rank %u: fork: %s%s", rank,
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
        rank_run(c, parent, &job, rank_main, arg);
    }
    close(pair[1]);
    children_add(c, pid, pair[0]);
    return 0;
}

int fork_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
               void *arg)
{
    struct children c;
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
    int rc = children_open(&c, cfg);
    pattern.stop_all = &c.shown->stop_all;
    pattern.ended = c.shown->ended;
    fflush(NULL); /* else each rank would write what is buffered again */
    /* Else each rank would wait for threads of the caller's pool. Not "hard":
     * after that LLVM's runtime can't fork. */
    omp_pause_resource_all(omp_pause_soft);
    while (!rc && c.count < cfg->nranks)
        rc = c.rc = rank_start(&c, &pattern, rank_main, arg);
    if (rc)
        children_kill(&c, SIGKILL);
    children_supervise(&c);
    children_close(&c);
    setrlimit(RLIMIT_NOFILE, &files);
    nodes_free(&pattern.nodes);
    return rc ? rc : c.rc;
}
