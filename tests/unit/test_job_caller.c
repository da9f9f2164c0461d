/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller of a job: its threads, and the state that the job leaves. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "tests/stand_in.h"
#include "dapl_rail/platform/platform.h"

#define PATIENT 30 /* seconds */

static drail_error_t error;

static int run(unsigned nranks, const struct drail_platform *platform,
               drail_rank_main_t rank_main, void *arg)
{
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    cfg.nranks = nranks;
    cfg.error = &error;
    cfg.platform = platform;
    cfg.grace_ms = 100;
    error = (drail_error_t){0};
    return drail_job_run(&cfg, rank_main, arg);
}

/* ------------------------------------------------- children that he reaps */

static bool others_reap;

/* Stands in between library and kernel: somebody else was faster. */
STAND_IN pid_t waitpid(pid_t pid, int *status, int options)
{
    pid_t got = wait4(pid, status, options, NULL);
    return others_reap && got == pid ? wait4(pid, status, options, NULL) : got;
}

static int nothing(drail_job_t *job, void *arg)
{
    return 0;
}

static void reaped_by_others(void **state)
{
    others_reap = true;
    assert_int_equal(run(2, NULL, nothing, NULL), DRAIL_EJOB);
    others_reap = false;
    assert_non_null(strstr(error.text, "rank "));
    assert_non_null(strstr(error.text, "waited for"));
    assert_int_equal(wait4(-1, NULL, WNOHANG, NULL), -1);
    assert_int_equal(errno, ECHILD);
}

/* ------------------------------------------------- a clock that stands still
 */

static uint64_t standstill(const struct drail_platform *p)
{
    return 1;
}

static const struct drail_platform *machine;

static int take_machine(drail_job_t *job, void *arg)
{
    *(const struct drail_platform **)arg = drail_job_platform(job);
    return 0;
}

/* Rank 1 does not come, and does not end by itself. */
static int waits_for_the_other(drail_job_t *job, void *arg)
{
    while (drail_job_rank(job) == 1)
        pause();
    return drail_job_barrier(job, 50) == DRAIL_ETIMEOUT ? 3 : 4;
}

/* Ranks are processes of this machine, and so is their time. */
static void clocks(void **state)
{
    const struct drail_platform **shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    assert_int_equal(run(1, NULL, take_machine, shared), 0);
    machine = *shared; /* a rank is forked: the same address */
    munmap(shared, sizeof *shared);
    struct drail_platform platform = *machine;
    platform.now_ns = standstill;
    assert_int_equal(run(2, &platform, waits_for_the_other, NULL), DRAIL_EJOB);
    assert_non_null(strstr(error.text, "rank 0 exited with status 3"));
}

/* -------------------------------------------------- the limit of open files */

#define FEW 100u

static int has_room(drail_job_t *job, void *arg)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= FEW;
}

static void open_files(void **state)
{
    struct rlimit before, few, after;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){FEW, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(run(2, NULL, has_room, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(after.rlim_cur, FEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_files),
        cmocka_unit_test(reaped_by_others),
        cmocka_unit_test(clocks),
    };
    alarm(PATIENT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
