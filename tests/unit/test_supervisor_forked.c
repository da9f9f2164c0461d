/* SPDX-License-Identifier: BSD-3-Clause */
/* A child that gives back what it has of its parent's launch leaves the
 * parent's thread to the parent. */
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/job/supervise/supervisor.h"

static void nap_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static void is_the_parents(void **state)
{
    struct supervisor supervisor;
    sigset_t old;
    int pair[2], status = -1;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    supervisor_signals_take(&old);
    assert_int_equal(supervisor_open(&supervisor, 0, 1, &pair[0], 1000), 0);
    pid_t pid = fork();
    if (!pid) {
        alarm(10);
        supervisor_close(&supervisor);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (unsigned i = 0; i < 10; i++) {
        nap_ms(20);
        assert_int_not_equal(pthread_tryjoin_np(supervisor.thread, NULL), 0);
    }
    supervisor_close(&supervisor);
    supervisor_signals_give(&supervisor, &old);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_parents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
