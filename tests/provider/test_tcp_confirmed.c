/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The passive side's thread finds late that the active side has confirmed the
 * connection. A message that arrives meanwhile is delivered, however the
 * connection ends: its sender may have the completion already.
 */
#include "tcp.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by both ends. */
static struct shared {
    _Atomic DAT_CONN_QUAL qual; /* 0: not yet */
    atomic_bool completed;      /* the active side's send */
} * shared;
static atomic_bool hold, held; /* the IA's thread */
static pthread_t self;

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
    /* libfabric's calls do not wait, and hold the IA's lock */
    while (hold && ms && !pthread_equal(pthread_self(), self)) {
        held = true;
        poll_pause();
    }
    return real(epoll_wait)(fd, events, most, ms);
}

static void confirm_and_send(end_t *me, DAT_COMPLETION_FLAGS flags)
{
    while (!shared->qual)
        poll_pause();
    end_open_memory(me, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(me, shared->qual));
    EXPECT_EVENT(me->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    DAT_LMR_TRIPLET iov = local(&me->mem, 0, 64);
    DAT_OK(dat_ep_post_send(me->ep, 1, &iov, cookie(1), flags));
}

static void dies(void *arg)
{
    end_t me;
    confirm_and_send(&me, DAT_COMPLETION_SUPPRESS_FLAG);
    _exit(0);
}

static void completes(void *arg)
{
    end_t me;
    confirm_and_send(&me, DAT_COMPLETION_DEFAULT_FLAG);
    EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, 64);
    shared->completed = true;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&me);
}

static void hears_both(void *arg)
{
    end_t me;
    while (!shared->qual)
        poll_pause();
    end_open(&me, NULL);
    DAT_OK(end_connect(&me, shared->qual));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&me);
}

static void fails(void *arg)
{
    end_t me;
    confirm_and_send(&me, DAT_COMPLETION_DEFAULT_FLAG);
    DAT_EVENT event = EXPECT_EVENT(me.request, DAT_DTO_COMPLETION_EVENT);
    assert_int_not_equal(event.event_data.dto_completion_event_data.status,
                         DAT_DTO_SUCCESS);
    shared->completed = true;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    end_close(&me);
}

/* Does the answer lie in the peer's socket? */
static bool answered(unsigned port)
{
    char line[512];
    bool found = false;
    FILE *all = fopen("/proc/net/tcp", "r");
    assert_non_null(all);
    while (!found && fgets(line, sizeof line, all)) {
        unsigned remote_port, unread;
        found = sscanf(line, "%*s %*s %*8[^:]:%x %*s %*8[^:]:%x", &remote_port,
                       &unread) == 2 &&
                remote_port == port && unread;
    }
    fclose(all);
    return found;
}

/* Accepts, with a receive, while the peer is stopped, so that it can't confirm.
 */
static pid_t accept_stopped(end_t *me, void (*active)(void *arg), size_t bytes)
{
    int status;
    shared = shared_memory(sizeof *shared);
    self = pthread_self();
    pid_t peer = spawn(active, NULL);
    end_open_memory(me, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET iov = local(&me->mem, 0, bytes);
    DAT_OK(dat_ep_post_recv(me->ep, 1, &iov, cookie(7), 0));
    shared->qual = me->qual;
    DAT_CR_HANDLE cr = end_asked(me);
    assert_int_equal(kill(peer, SIGSTOP), 0);
    assert_int_equal(waitpid(peer, &status, WUNTRACED), peer);
    DAT_OK(dat_cr_accept(cr, me->ep, 0, NULL));
    return peer;
}

/* The same, and holds the thread before the peer goes on. */
static pid_t accept_held(end_t *me, void (*active)(void *arg), size_t bytes)
{
    pid_t peer = accept_stopped(me, active, bytes);
    while (!answered((uint16_t)me->qual))
        poll_pause();
    held = false;
    hold = true;
    while (!held)
        poll_pause();
    assert_int_equal(kill(peer, SIGCONT), 0);
    return peer;
}

static void confirmation_and_death_at_once(void **state)
{
    end_t me;
    int status;
    pid_t peer = accept_held(&me, dies, 64);
    assert_int_equal(waitpid(peer, &status, 0), peer);
    assert_int_equal(status, 0);
    hold = false;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_DTO(me.recv, 7, DAT_DTO_SUCCESS, 64);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    end_close(&me);
    shared_free(shared, sizeof *shared);
}

/* The consumer disconnects an EP that it does not know to be connected. */
static void disconnected_before_established(void **state)
{
    end_t me;
    DAT_EVENT event;
    pid_t peer = accept_held(&me, completes, 64);
    while (!shared->completed)
        DAT_FAILS(dat_evd_dequeue(me.recv, &event), DAT_QUEUE_EMPTY);
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_ABRUPT_FLAG));
    hold = false;
    EXPECT_DTO(me.recv, 7, DAT_DTO_SUCCESS, 64);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    join(peer);
    end_close(&me);
    shared_free(shared, sizeof *shared);
}

/* The same as soon as it has accepted. */
static void disconnected_before_confirmed(void **state)
{
    end_t me;
    pid_t peer = accept_stopped(&me, hears_both, 64);
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    assert_int_equal(kill(peer, SIGCONT), 0);
    join(peer);
    EXPECT_DTO(me.recv, 7, DAT_DTO_ERR_FLUSHED, 0);
    end_close(&me);
    shared_free(shared, sizeof *shared);
}

/* The message is longer than its receive, which says so. */
static void too_long_before_established(void **state)
{
    end_t me;
    DAT_EVENT event;
    pid_t peer = accept_held(&me, fails, 63);
    while (!shared->completed)
        DAT_FAILS(dat_evd_dequeue(me.recv, &event), DAT_QUEUE_EMPTY);
    hold = false;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_DTO(me.recv, 7, DAT_DTO_ERR_LOCAL_LENGTH, 0);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    join(peer);
    end_close(&me);
    shared_free(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confirmation_and_death_at_once),
        cmocka_unit_test(disconnected_before_established),
        cmocka_unit_test(disconnected_before_confirmed),
        cmocka_unit_test(too_long_before_established),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
