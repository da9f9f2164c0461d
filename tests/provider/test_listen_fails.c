/* SPDX-License-Identifier: BSD-3-Clause */
/* A service point that can't be watched is not created, and its descriptor is
 * forgotten: another file may get the number. */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int refused = -1; /* the descriptor that was not watched, … */
static bool refuses;     /* … or the next one */

STAND_IN int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
    if (op == EPOLL_CTL_ADD && refuses) {
        refuses = false;
        refused = fd;
        errno = ENOSPC; /* the user's limit of watches */
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, op, fd, event);
}

static bool child_has(int fd)
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(fcntl(fd, F_GETFD) < 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

static void descriptor_is_forgotten(void **state)
{
    end_t end;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
    end_open(&end, NULL); /* listens already */
    refuses = true;
    DAT_FAILS(
        dat_psp_create_any(end.ia, &qual, end.cr, DAT_PSP_CONSUMER_FLAG, &psp),
        DAT_INSUFFICIENT_RESOURCES);
    assert_true(refused >= 0);
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int same = dup2(other, refused);
    assert_int_equal(same, refused);
    assert_true(child_has(same));
    close(same);
    if (other != same)
        close(other);
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptor_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
