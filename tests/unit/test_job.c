/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: ranks, all-gather, failing ranks, signals, orphans. No rails. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/dapl_rail.h"

/* The ranks write this for the test. */
struct kvs {
    volatile int value[1024];
    volatile pid_t pid[1024];
};

static struct kvs *board;

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int run(unsigned nranks, int grace_ms, drail_rank_main_t rank_main,
               drail_error_t *err)
{
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    cfg.nranks = nranks;
    cfg.grace_ms = grace_ms;
    cfg.error = err;
    memset(board, 0, sizeof *board);
    memset(err, 0, sizeof *err);
    return drail_job_run(&cfg, rank_main, NULL);
}

static void nap(int ms)
{
    struct timespec ts = {.tv_sec = ms / 1000,
                          .tv_nsec = (ms % 1000) * 1000000L};
    nanosleep(&ts, NULL);
}

/* ------------------------------------------------------------ all-gather */

static int gather_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job), size = drail_job_size(job);
    for (size_t bytes = 0; bytes <= 65536; bytes = bytes ? bytes * 4 : 1) {
        unsigned char *mine = malloc(bytes + 1);
        unsigned char *all = malloc(bytes * size + 1);
        memset(mine, (int)(rank * 7 + bytes) & 0xff, bytes);
        if (drail_job_allgather(job, mine, bytes, all, -1))
            return 1;
        for (unsigned r = 0; r < size; r++)
            for (size_t i = 0; i < bytes; i++)
                if (all[r * bytes + i] != (unsigned char)(r * 7 + bytes))
                    return 2;
        free(mine);
        free(all);
    }
    for (int i = 0; i < 200; i++) {
        unsigned all[64];
        unsigned mine = rank * 1000 + (unsigned)i;
        if (drail_job_allgather(job, &mine, sizeof mine, all, 5000))
            return 3;
        for (unsigned r = 0; r < size; r++)
            if (all[r] != r * 1000 + (unsigned)i)
                return 4;
    }
    if (drail_job_barrier(job, -1))
        return 5;
    board->value[rank] = 1;
    return 0;
}

static void allgather(void **state)
{
    drail_error_t err;
    for (unsigned n = 1; n <= 5; n += 2) {
        assert_int_equal(run(n, 2000, gather_main, &err), 0);
        for (unsigned r = 0; r < n; r++)
            assert_int_equal(board->value[r], 1);
    }
}

static int mismatch_main(drail_job_t *job, void *arg)
{
    char mine[64] = {0}, all[256];
    size_t bytes = drail_job_rank(job) == 1 ? 8 : 4;
    if (drail_job_allgather(job, mine, bytes, all, 5000) != DRAIL_EINVAL)
        return 1;
    if (drail_job_allgather(job, mine, 65537, all, 5000) != DRAIL_EINVAL)
        return 2;
    /* and the channel still works */
    return drail_job_barrier(job, 5000) ? 3 : 0;
}

static void sizes_differ(void **state)
{
    drail_error_t err;
    assert_int_equal(run(3, 2000, mismatch_main, &err), 0);
}

static int late_main(drail_job_t *job, void *arg)
{
    if (drail_job_rank(job) == 0) {
        nap(600);
        return drail_job_barrier(job, 5000) == DRAIL_EPEER ? 0 : 1;
    }
    double begin = now();
    int rc = drail_job_barrier(job, 200);
    double took = now() - begin;
    return rc == DRAIL_ETIMEOUT && took > 0.15 && took < 0.5 ? 0 : 2;
}

static void barrier_times_out(void **state)
{
    drail_error_t err;
    assert_int_equal(run(2, 2000, late_main, &err), 0);
}

/* ----------------------------------------------------------- failed ranks */

static int status_main(drail_job_t *job, void *arg)
{
    return drail_job_rank(job) == 1 ? 7 : 0;
}

static void exit_status(void **state)
{
    drail_error_t err;
    assert_int_equal(run(3, 2000, status_main, &err), DRAIL_EJOB);
    assert_int_equal(err.code, DRAIL_EJOB);
    assert_non_null(strstr(err.text, "rank 1"));
    assert_non_null(strstr(err.text, "status 7"));
}

/* Rank 1 dies; the others' all-gather fails at once, not by its timeout. */
static int crash_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job);
    board->pid[rank] = getpid();
    if (rank == 1) {
        nap(100);
        kill(getpid(), SIGKILL);
    }
    board->value[rank] = drail_job_barrier(job, 20000);
    return 0;
}

static void crash(void **state)
{
    drail_error_t err;
    double begin = now();
    assert_int_equal(run(3, 2000, crash_main, &err), DRAIL_EJOB);
    assert_true(now() - begin < 15);
    assert_non_null(strstr(err.text, "rank 1"));
    assert_non_null(strstr(err.text, "signal 9"));
    assert_int_equal(board->value[0], DRAIL_EPEER);
    assert_int_equal(board->value[2], DRAIL_EPEER);
}

/* The others do not end: first SIGTERM, then SIGKILL, in bounded time. */
static int stubborn_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job);
    board->pid[rank] = getpid();
    if (rank == 0)
        return 3;
    for (int i = 0; i < 60; i++)
        nap(1000);
    return 0;
}

static void grace(void **state)
{
    drail_error_t err;
    double begin = now();
    assert_int_equal(run(3, 200, stubborn_main, &err), DRAIL_EJOB);
    assert_true(now() - begin < 30);
    assert_non_null(strstr(err.text, "rank 0"));
    for (int r = 1; r < 3; r++)
        assert_true(kill(board->pid[r], 0) < 0 && errno == ESRCH);
}

/* ---------------------------------------------------------------- signals */

static int interrupted_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job);
    board->pid[rank] = getpid();
    if (rank == 0) {
        board->value[rank] = drail_job_barrier(job, 20000);
        return 0;
    }
    while (!drail_job_interrupted(job))
        nap(10000); /* the signal ends it early */
    board->value[rank] = 1;
    return 0;
}

static pid_t signal_soon(pid_t target, int sig)
{
    pid_t pid = fork();
    if (pid == 0) {
        nap(300);
        kill(target, sig);
        _exit(0);
    }
    return pid;
}

static void signal_to_caller(int sig)
{
    drail_error_t err;
    double begin = now();
    pid_t helper = signal_soon(getpid(), sig);
    assert_int_equal(run(2, 2000, interrupted_main, &err), DRAIL_EINTR);
    assert_true(now() - begin < 9);
    assert_int_equal(board->value[0], DRAIL_EINTR);
    assert_int_equal(board->value[1], 1);
    waitpid(helper, NULL, 0);
}

static void sigint(void **state)
{
    signal_to_caller(SIGINT);
}

static void sigterm(void **state)
{
    signal_to_caller(SIGTERM);
}

static volatile sig_atomic_t caught;

static void on_usr(int sig)
{
    caught = sig;
}

static int nothing_main(drail_job_t *job, void *arg)
{
    return 0;
}

/* The caller's handlers and its other children are left alone. */
static void caller_is_undisturbed(void **state)
{
    drail_error_t err;
    struct sigaction act = {.sa_handler = on_usr}, before;
    sigset_t mask;
    sigaction(SIGINT, &act, &before);
    pid_t other = fork();
    if (other == 0)
        _exit(5);
    nap(50);
    assert_int_equal(run(2, 2000, nothing_main, &err), 0);
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(WEXITSTATUS(status), 5);
    raise(SIGINT);
    assert_int_equal(caught, SIGINT);
    sigaction(SIGINT, &before, NULL);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
    assert_false(sigismember(&mask, SIGCHLD));
}

/* A signal to one rank ends the whole job. */
static int forwarded_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job);
    board->pid[rank] = getpid();
    if (rank == 1 && drail_job_barrier(job, 5000) == 0)
        kill(board->pid[0], SIGTERM);
    if (rank == 0)
        drail_job_barrier(job, 5000);
    for (int i = 0; i < 500 && !drail_job_interrupted(job); i++)
        nap(10);
    board->value[rank] = drail_job_interrupted(job);
    return 0;
}

static void signal_to_a_rank(void **state)
{
    drail_error_t err;
    assert_int_equal(run(2, 2000, forwarded_main, &err), DRAIL_EINTR);
    assert_int_equal(board->value[0], 1);
    assert_int_equal(board->value[1], 1);
}

/* A parent may have blocked these signals, and have ignored SIGCHLD. */
static void signals_inherited(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigset_t set, mask;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &mask);
    sigaction(SIGCHLD, &ignore, &before);
    signal_to_a_rank(state);
    drail_error_t err;
    assert_int_equal(run(2, 2000, nothing_main, &err), 0);
    sigaction(SIGCHLD, &before, &ignore);
    assert_ptr_equal(ignore.sa_handler, SIG_IGN);
    sigprocmask(SIG_SETMASK, &mask, &set);
    assert_true(sigismember(&set, SIGTERM));
}

/* Ranks end with a caller that is killed. */
static int orphan_main(drail_job_t *job, void *arg)
{
    board->pid[drail_job_rank(job)] = getpid();
    for (int i = 0; i < 60; i++)
        nap(1000);
    return 0;
}

static void killed_caller(void **state)
{
    drail_error_t err;
    pid_t caller = fork();
    if (caller == 0) {
        run(2, 2000, orphan_main, &err);
        _exit(0);
    }
    for (int i = 0; i < 500 && !(board->pid[0] && board->pid[1]); i++)
        nap(10);
    assert_true(board->pid[0] > 0 && board->pid[1] > 0);
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    int alive = 2;
    for (int i = 0; i < 200 && alive; i++) {
        alive = 0;
        for (int r = 0; r < 2; r++) {
            /* where nobody reaps orphans they stay as zombies */
            char path[64], line[256] = "";
            snprintf(path, sizeof path, "/proc/%d/stat", board->pid[r]);
            FILE *f = fopen(path, "r");
            if (!f)
                continue;
            if (fgets(line, sizeof line, f) && !strstr(line, ") Z"))
                alive++;
            fclose(f);
        }
        nap(10);
    }
    assert_int_equal(alive, 0);
}

/* ----------------------------------------------------------------- others */

static int node_main(drail_job_t *job, void *arg)
{
    if (drail_job_ppn(job) != 2 || drail_job_size(job) != 5)
        return 1;
    return drail_job_node(job, 4) == 2 && drail_job_node(job, 1) == 0 ? 0 : 2;
}

static void nodes(void **state)
{
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    cfg.nranks = 5;
    cfg.ppn = 2;
    assert_int_equal(drail_job_run(&cfg, node_main, NULL), 0);
}

static void bad_arguments(void **state)
{
    drail_error_t err;
    char allowed[32];
    snprintf(allowed, sizeof allowed, "1 to %u ranks", DRAIL_MAX_RANKS);
    assert_int_equal(run(0, 0, nothing_main, &err), DRAIL_EINVAL);
    assert_non_null(strstr(err.text, allowed));
    assert_int_equal(run(DRAIL_MAX_RANKS + 1, 0, nothing_main, &err),
                     DRAIL_EINVAL);
    assert_int_equal(run(2, -1, nothing_main, &err), DRAIL_EINVAL);
    assert_int_equal(run(2, 0, NULL, &err), DRAIL_EINVAL);
}

static int count_main(drail_job_t *job, void *arg)
{
    board->value[drail_job_rank(job)] = 1;
    return drail_job_barrier(job, 30000) ? 1 : 0;
}

static void many_ranks(void **state)
{
    drail_error_t err;
    assert_int_equal(run(200, 2000, count_main, &err), 0);
    for (int r = 0; r < 200; r++)
        assert_int_equal(board->value[r], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allgather),
        cmocka_unit_test(sizes_differ),
        cmocka_unit_test(barrier_times_out),
        cmocka_unit_test(exit_status),
        cmocka_unit_test(crash),
        cmocka_unit_test(grace),
        cmocka_unit_test(sigint),
        cmocka_unit_test(sigterm),
        cmocka_unit_test(caller_is_undisturbed),
        cmocka_unit_test(signal_to_a_rank),
        cmocka_unit_test(signals_inherited),
        cmocka_unit_test(killed_caller),
        cmocka_unit_test(nodes),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(many_ranks),
    };
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return board == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
