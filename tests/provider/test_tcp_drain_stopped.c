/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine stands still while a connection ends gracefully, for longer than
 * the time limit: the peer could not read the data meanwhile. The clock is the
 * test's, and slow, so that a busy machine does not change the outcome.
 */
#include "tcp.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND     1000000000ll
#define SLOW       50
#define STANDSTILL 60 /* seconds */
#define STEP_NS    20000000
#define LOOKS      200 /* of both managers: longer than an ACK may be delayed */
#define BYTES      4096 /* more than is copied at once */

static atomic_int looks;
static atomic_bool hurries; /* each look takes a while, on the clock only */
static atomic_llong ahead_ns;

STAND_IN int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (rc || id != CLOCK_MONOTONIC)
        return rc;
    long long ns = (t->tv_sec * SECOND + t->tv_nsec) / SLOW + ahead_ns;
    *t = (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
    return 0;
}

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
    int n = (int)syscall(SYS_epoll_pwait, fd, events, max, ms, NULL, 8);
    if (ms && atomic_load(&hurries))
        atomic_fetch_add(&ahead_ns, STEP_NS);
    atomic_fetch_add(&looks, ms != 0); /* libfabric does not sleep */
    return n;
}

static void let_them_look(void)
{
    int before = atomic_load(&looks);
    for (int i = 0; atomic_load(&looks) - before < LOOKS; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

/* The message of a has no receive, and a ends. */
static void begin(end_t *a, end_t *b)
{
    ends_open(a, b, MEMORY_MALLOC, BYTES);
    end_connect_both(a, b);
    DAT_LMR_TRIPLET out = local(&a->mem, 0, BYTES);
    DAT_OK(dat_ep_post_send(a->ep, 1, &out, cookie(1), 0));
    DAT_OK(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
    let_them_look();
}

static void taken_after_a_standstill(void **state)
{
    end_t a, b;
    DAT_EVENT event;
    begin(&a, &b);
    atomic_fetch_add(&ahead_ns, STANDSTILL * SECOND);
    let_them_look();
    DAT_FAILS(dat_evd_dequeue(a.conn, &event), DAT_QUEUE_EMPTY);
    DAT_LMR_TRIPLET in = local(&b.mem, 0, BYTES);
    DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(1), 0));
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, BYTES);
    EXPECT_DTO(a.request, 1, DAT_DTO_SUCCESS, BYTES);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

static void never_taken(void **state)
{
    end_t a, b;
    begin(&a, &b);
    atomic_store(&hurries, true);
    EXPECT_DTO(a.request, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    atomic_store(&hurries, false);
    ends_close(&a, &b);
}

int main(void)
{
    tcp_or_skip();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_after_a_standstill),
        cmocka_unit_test(never_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
