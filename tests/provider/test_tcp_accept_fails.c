/* SPDX-License-Identifier: BSD-3-Clause */
/* libfabric does not accept a request: its consumer and its peer are told, and
 * nothing of it is left. */
#include "tcp.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum call { NONE, ENDPOINT, ACCEPT };
static _Thread_local enum call failing; /* of this thread, once */

static bool fails(enum call call)
{
    if (failing != call)
        return false;
    failing = NONE;
    return true;
}

/* libfabric sets up the endpoint's socket, … */
STAND_IN int setsockopt(int fd, int level, int name, const void *value,
                        socklen_t size)
{
    if (name != SO_REUSEADDR || !fails(ENDPOINT))
        return real(setsockopt)(fd, level, name, value, size);
    errno = ENOBUFS;
    return -1;
}

/* … and lets the EQ watch it, to send the answer. */
STAND_IN int epoll_ctl(int epoll, int op, int fd, struct epoll_event *e)
{
    if (op != EPOLL_CTL_ADD || !fails(ACCEPT))
        return real(epoll_ctl)(epoll, op, fd, e);
    errno = ENOSPC;
    return -1;
}

static void not_accepted(void **state)
{
    for (enum call call = ENDPOINT; call <= ACCEPT; call++) {
        end_t a, b;
        end_open(&a, NULL);
        end_open(&b, NULL);
        DAT_OK(end_connect(&a, b.qual));
        DAT_CR_HANDLE cr = end_asked(&b);
        failing = call;
        DAT_OK(dat_cr_accept(cr, b.ep, 0, NULL));
        assert_int_equal(failing, NONE);
        EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
        EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
        ends_close(&a, &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(not_accepted)};
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
