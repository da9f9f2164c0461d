/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric's tcp writes a byte for each completion, to wake who sleeps on its
 * queue. Where all poll, it need not. Who sleeps is woken.
 */
#include "tcp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES 50u /* of a try: soon over, also on busy cores */
#define ROUNDS   20u
#define SOON_NS  1000000000u
#define ASLEEP   ((struct timespec){.tv_nsec = 10000000})

static atomic_uint bytes_written; /* one at a time */
static atomic_uint mutes;

STAND_IN ssize_t write(int fd, const void *from, size_t bytes)
{
    atomic_fetch_add(&bytes_written, bytes == 1);
    return real(write)(fd, from, bytes);
}

STAND_IN int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
    if (op == EPOLL_CTL_MOD && !event->events)
        atomic_fetch_add(&mutes, 1);
    return real(epoll_ctl)(set, op, fd, event);
}

static void poll_both(end_t *a, end_t *b)
{
    DAT_EVENT event;
    while (dat_evd_dequeue(b->recv, &event) != DAT_SUCCESS)
        dat_evd_dequeue(a->request, &event);
}

/* Sends messages; returns how often a byte was written meanwhile. */
static unsigned try_messages(end_t *a, end_t *b)
{
    atomic_store(&bytes_written, 0);
    for (unsigned i = 0; i < MESSAGES; i++) {
        DAT_LMR_TRIPLET from = local(&a->mem, 0, 8);
        DAT_LMR_TRIPLET to = local(&b->mem, 0, 8);
        DAT_OK(dat_ep_post_recv(b->ep, 1, &to, cookie(i),
                                DAT_COMPLETION_DEFAULT_FLAG));
        DAT_OK(dat_ep_post_send(a->ep, 1, &from, cookie(i),
                                DAT_COMPLETION_SUPPRESS_FLAG));
        poll_both(a, b);
    }
    return atomic_load(&bytes_written);
}

/* It takes some milliseconds until the provider knows that all poll. */
static void silent_while_all_poll(void **state)
{
    time_t until = time(NULL) + 6 * WAIT_MS / 1000;
    end_t a, b;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    end_connect_both(&a, &b);
    while (try_messages(&a, &b) > MESSAGES / 10)
        assert_true(time(NULL) < until);
    ends_close(&a, &b);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void poll_until_muted(DAT_EVD_HANDLE evd)
{
    time_t until = time(NULL) + 6 * WAIT_MS / 1000;
    unsigned before = atomic_load(&mutes);
    DAT_EVENT event;
    while (atomic_load(&mutes) == before) {
        DAT_FAILS(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
        assert_true(time(NULL) < until);
    }
}

typedef struct {
    DAT_EVD_HANDLE evd;
    DAT_RETURN ret;
    uint64_t woken_ns;
} sleeper_t;

static void *sleep_on_evd(void *arg)
{
    sleeper_t *s = arg;
    DAT_EVENT event;
    DAT_COUNT more;
    s->ret = dat_evd_wait(s->evd, WAIT_MS * 1000, 1, &event, &more);
    s->woken_ns = now_ns();
    return NULL;
}

/* Before a thread sleeps, the provider unmutes the signal; another thread's
 * send wakes the sleeper. When all poll again, the signal is muted anew. */
static void unmuted_while_one_sleeps(void **state)
{
    peer_t peer;
    end_t me;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, 4096,
                                DAT_MEM_PRIV_ALL_FLAG});
    for (unsigned i = 0; i < ROUNDS; i++) {
        sleeper_t sleeper = {.evd = me.request};
        pthread_t thread;
        DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
        peer_post_recv(&peer, 0, 8, i);
        poll_until_muted(me.request);
        assert_false(pthread_create(&thread, NULL, sleep_on_evd, &sleeper));
        nanosleep(&ASLEEP, NULL);
        uint64_t began = now_ns();
        DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(i),
                                DAT_COMPLETION_DEFAULT_FLAG));
        pthread_join(thread, NULL);
        DAT_OK(sleeper.ret);
        assert_true(sleeper.woken_ns - began < SOON_NS);
        peer_expect_dto(&peer, EVD_RECV, i, DAT_DTO_SUCCESS, 8);
    }
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_while_all_poll),
        cmocka_unit_test(unmuted_while_one_sleeps),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
