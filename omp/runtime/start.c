/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's start and end. With one rank, main is called and that is all.
 * With several, drail_job_run() has this process be a rank, or fork them. A
 * rank's first thread only waits, on the system's stack; a thread of its own,
 * on a shared stack, runs main (rank 0) or serves it. So variables of main and
 * threadprivate ones, which lie there, are shared.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "omp/runtime/system/descriptors.h"
#include "omp/runtime/system/environment.h"
#include "omp/runtime/fail.h"
#include "omp/runtime/files.h"
#include "omp/runtime/icv.h"
#include "omp/runtime/library_heap.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/program_data.h"
#include "omp/runtime/statistics/stats.h"
#include "omp/runtime/team.h"
#include "omp/wrapper/program.h"

/* for the other ranks, when one has failed */
enum { GRACE_MS = 500 };

struct program {
    int (*main)(int, char **, char **);
    int argc;
    char **argv, **envp;
    bool is_served; /* as a rank but 0, to the end */
    bool is_forked; /* its ranks are; no launcher has started them */
};

/* How the program has ended. Ranks that were forked share it with the process
 * that has forked them. */
struct outcome {
    bool is_over;
    int status;
    _Atomic int failed; /* fail_once() */
};
static struct outcome *outcome;

/* Ends the rank's own thread within exit(), without what else a thread does at
 * its end. The first thread waits for it before the stack goes. */
static void __attribute__((noreturn)) end_thread(void)
{
    for (;;)
        syscall(SYS_exit, 0);
}

/* The last of the functions that run at exit, as it was registered first. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    if (memory_ranks() == 1) {
        stats_print();
        return;
    }
    fflush(NULL);
    if (memory_rank())
        fail(FAILED,
             "exit(%d) was called in this rank; only rank 0 can end "
             "the program",
             status);
    outcome->status = status;
    outcome->is_over = true;
    if (team_dismiss()) {
        stats_print();
        end_thread();
    }
    /* within a region: the other ranks find out, and need not tell. What they
     * have written to this rank's files before counts. */
    files_drain();
    fflush(NULL);
    outcome->failed = FAILED;
    _exit(status);
}

__attribute__((constructor)) static void register_at_exit(void)
{
    on_exit(at_exit, NULL);
}

/* Other ranks may read the arguments. */
static char **shared_arguments(int argc, char **argv)
{
    char **copy = memory_malloc(((size_t)argc + 1) * sizeof *copy);
    for (int i = 0; copy && i < argc; i++)
        copy[i] = railomp_strndup(argv[i], SIZE_MAX);
    if (copy)
        copy[argc] = NULL;
    return copy ? copy : argv;
}

static void *thread_main(void *argument)
{
    struct program *p = argument;
    if (memory_rank()) {
        team_serve();
        p->is_served = true;
        stats_print();
        return NULL;
    }
    exit(p->main(p->argc, shared_arguments(p->argc, p->argv), p->envp));
}

static void run_thread(struct program *p)
{
    pthread_t id;
    int rc = memory_thread(&id, 0, thread_main, p);
    if (rc)
        fail(FAILED, "the program's thread can't be started: %s", strerror(rc));
    pthread_join(id, NULL);
    if (!p->is_served && !outcome->is_over)
        fail(NOT_SERVED, "pthread_exit in the program's first thread is not "
                         "served on several ranks: call exit, or return");
}

/* Ranks of a launcher may run different files. Rank 0 says so. */
static void check_program(drail_job_t *job)
{
    const uint64_t mine = program_sum();
    const unsigned ranks = drail_job_size(job);
    uint64_t *all = malloc(ranks * sizeof *all);
    if (!all || drail_job_allgather(job, &mine, sizeof mine, all, -1))
        fail(FAILED, "%s", all ? drail_job_last_error(job) : "out of memory");
    unsigned r = 1;
    while (r < ranks && all[r] == all[0])
        r++;
    free(all);
    if (r == ranks)
        return;
    /* rank 0 must not end before the other ranks know it, too */
    drail_job_barrier(job, -1);
    if (drail_job_rank(job))
        _exit(NOT_SERVED);
    fail(NOT_SERVED,
         "rank %u runs another program: all ranks must run the same file", r);
}

/* From now on these end the process, as they end a program of one process.
 * libdapl_rail would have them end waits only. */
static void signals_end(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static int rank_main(drail_job_t *job, void *context)
{
    struct program *p = context;
    fail_as(drail_job_rank(job));
    if (p->is_forked)
        signals_end();
    check_program(job);
    settings_read(drail_job_size(job),
                  drail_job_local_size(job, drail_job_rank(job)));
    memory_open(job);
    environment_begin();
    files_begin();
    library_heap_share();
    descriptors_of_runtime();
    run_thread(p);
    memory_close();
    return 0;
}

/* RAILOMP_RANKS, for a program that no launcher has started. */
static unsigned asked_ranks(void)
{
    const char *value = getenv("RAILOMP_RANKS");
    char *end;
    if (!value)
        return 1;
    errno = 0;
    const unsigned long ranks = strtoul(value, &end, 10);
    if (end == value || *end || errno || *value == '-' || !ranks ||
        ranks > DRAIL_MAX_RANKS)
        fail(NOT_SERVED, "RAILOMP_RANKS '%s' is wrong (allowed: 1 to %u)",
             value, DRAIL_MAX_RANKS);
    return (unsigned)ranks;
}

/* Runs the job's ranks; this process ends with the program's status. */
static void __attribute__((noreturn))
run_ranks(drail_job_config_t *job, struct program *program)
{
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        fail(FAILED, "out of memory");
    fail_once(&outcome->failed);
    int rc = drail_job_run(job, rank_main, program);
    if (rc == DRAIL_EINTR && program->is_forked && !outcome->is_over)
        raise(SIGTERM);
    if (rc && !outcome->is_over)
        fail_open(rc, job->error->text);
    drail_launch_close(job->launch);
    fflush(NULL);
    _exit(outcome->status);
}

/* The launcher's processes are ranks of this runtime, so MPI would wait for
 * ranks that never call it. */
static void check_launched(void)
{
    if (dlsym(RTLD_DEFAULT, "MPI_Init"))
        fail(NOT_SERVED,
             "a launcher has started several ranks of a program with MPI: its "
             "main would run in rank 0 only; start one process, or compile it "
             "with gcc -fopenmp");
}

int railomp_main(int (*program)(int, char **, char **), int argc, char **argv,
                 char **envp)
{
    struct program p = {
        .main = program, .argc = argc, .argv = argv, .envp = envp};
    drail_job_config_t job;
    drail_error_t error = {0};
    descriptors_of_program();
    drail_job_config_init(&job);
    job.error = &error;
    job.grace_ms = GRACE_MS;
    const int rc = drail_launch_open(&job, &job.launch);
    if (rc)
        fail_open(rc, error.text);
    const unsigned launched = drail_launch_size(job.launch);
    if (launched > 1)
        check_launched();
    p.is_forked = !launched;
    if (p.is_forked)
        job.nranks = asked_ranks();
    if (launched ? launched > 1 : job.nranks > 1)
        run_ranks(&job, &p);
    drail_launch_close(job.launch);
    settings_read(1, 1);
    memory_alone();
    return program(argc, argv, envp);
}
