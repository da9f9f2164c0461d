/* SPDX-License-Identifier: BSD-3-Clause */
/* The pid of a dead peer may belong to another process: private memory is then
 * no longer accessed, even if the connection manager has not noticed the death.
 * Here it never notices, and the kernel would access any process by that pid.
 */
#include "peer.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BYTES   4096
#define BOUND_S 5 /* a peer's death shows much sooner */

/* The connection manager starves only from a wait: what it is reading may end
 * with the peer's end. */
enum { RUNS, WAITS, STARVES };
static atomic_int manager;
static atomic_bool pid_is_anothers;
static atomic_uint starved, vm_calls; /* counted by the stand-ins */

static bool turn(int from, int to)
{
    return atomic_compare_exchange_strong(&manager, &from, to);
}

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max,
                        int timeout)
{
    atomic_store(&manager, WAITS);
    int n = (int)syscall(SYS_epoll_pwait, fd, events, max, timeout, NULL, 8);
    for (; !turn(WAITS, RUNS); atomic_fetch_add(&starved, 1))
        poll_pause();
    return n;
}

static ssize_t vm_call(long number, pid_t pid, const struct iovec *here,
                       unsigned long n_here, const struct iovec *there,
                       unsigned long n_there, unsigned long flags)
{
    ssize_t bytes = 0;
    atomic_fetch_add(&vm_calls, 1);
    if (!atomic_load(&pid_is_anothers))
        return syscall(number, pid, here, n_here, there, n_there, flags);
    for (unsigned long i = 0; i < n_there; i++)
        bytes += (ssize_t)there[i].iov_len;
    return bytes;
}

STAND_IN ssize_t process_vm_writev(pid_t pid, const struct iovec *here,
                                   unsigned long n_here,
                                   const struct iovec *there,
                                   unsigned long n_there, unsigned long flags)
{
    return vm_call(SYS_process_vm_writev, pid, here, n_here, there, n_there,
                   flags);
}

STAND_IN ssize_t process_vm_readv(pid_t pid, const struct iovec *here,
                                  unsigned long n_here,
                                  const struct iovec *there,
                                  unsigned long n_there, unsigned long flags)
{
    return vm_call(SYS_process_vm_readv, pid, here, n_here, there, n_there,
                   flags);
}

static DAT_DTO_COMPLETION_STATUS write_once(end_t *me, const peer_t *peer)
{
    DAT_LMR_TRIPLET from = local(&me->mem, 0, BYTES);
    DAT_RMR_TRIPLET to = remote(&peer->end.mem, 0, BYTES);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &from, cookie(1), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    DAT_EVENT e = EXPECT_EVENT(me->request, DAT_DTO_COMPLETION_EVENT);
    return e.event_data.dto_completion_event_data.status;
}

static void a_dead_peers_pid(void **state)
{
    peer_t peer;
    end_t me;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, BYTES,
                                DAT_MEM_PRIV_ALL_FLAG});
    assert_int_equal(write_once(&me, &peer), DAT_DTO_SUCCESS);
    assert_int_not_equal(atomic_load(&vm_calls), 0); /* else by no pid */

    for (int i = 0; !turn(WAITS, STARVES); i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    peer_kill(&peer);
    atomic_store(&pid_is_anothers, true);
    time_t end = time(NULL) + BOUND_S;
    DAT_DTO_COMPLETION_STATUS status;
    while ((status = write_once(&me, &peer)) == DAT_DTO_SUCCESS &&
           time(NULL) < end)
        poll_pause();
    for (int i = 0; !atomic_load(&starved); i++) {
        assert_true(i < WAIT_MS); /* else it was not starved */
        poll_pause();
    }
    atomic_store(&pid_is_anothers, false);
    atomic_store(&manager, WAITS);
    assert_int_equal(status, DAT_DTO_ERR_TRANSPORT);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    end_close(&me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_peers_pid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
