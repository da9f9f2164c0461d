/* SPDX-License-Identifier: BSD-3-Clause */
/* A graceful disconnect waits, asleep, until the peer has taken all messages.
 */
#include "peer.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES 64
#define LOOKS 20 /* of a connection manager that is draining */

static atomic_int looks, woken;

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max,
                        int timeout)
{
    int n = (int)syscall(SYS_epoll_pwait, fd, events, max, timeout, NULL, 8);
    atomic_fetch_add(&woken, n > 0);
    atomic_fetch_add(&looks, 1);
    return n;
}

static void nobody_wakes_the_manager(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET in = local(&b.mem, 0, 8), out = local(&a.mem, 0, 8);
    DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(1), 0));
    atomic_store(&woken, 0);
    atomic_store(&looks, 0);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    for (int i = 0; atomic_load(&looks) < LOOKS; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    /* by the disconnect, and by what the connecting left */
    assert_in_range(atomic_load(&woken), 0, LOOKS / 2);

    DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(1), 0));
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, 8);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_DTO(a.request, 1, DAT_DTO_SUCCESS, 8);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_wakes_the_manager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
