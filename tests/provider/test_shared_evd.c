/* SPDX-License-Identifier: BSD-3-Clause */
/* An EVD that several EPs share is polled while EPs of it are made and freed.
 */
#include "util.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { ROUNDS = 200, STEADY = 3 };

typedef struct poller {
    pthread_t thread;
    DAT_EVD_HANDLE evd;
    atomic_bool stop;
    atomic_uint received;
} poller_t;

static void *poll_evd(void *arg)
{
    poller_t *p = arg;
    DAT_EVENT event;
    while (!atomic_load(&p->stop))
        if (dat_evd_dequeue(p->evd, &event) == DAT_SUCCESS &&
            !event.event_data.dto_completion_event_data.status)
            atomic_fetch_add(&p->received, 1);
    return NULL;
}

static DAT_EP_HANDLE ep_new(const end_t *end)
{
    DAT_EP_HANDLE ep;
    DAT_OK(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->conn,
                         NULL, &ep));
    return ep;
}

/* Connects end->ep of both. */
static void exchange(end_t *a, end_t *b, poller_t *poller)
{
    DAT_LMR_TRIPLET in = local(&b->mem, 0, 64), out = local(&a->mem, 0, 64);
    unsigned before = atomic_load(&poller->received);
    end_connect_both(a, b);
    DAT_OK(dat_ep_post_recv(b->ep, 1, &in, cookie(1), 0));
    DAT_OK(dat_ep_post_send(a->ep, 1, &out, cookie(2), 0));
    time_t end = time(NULL) + WAIT_MS / 1000;
    while (atomic_load(&poller->received) == before) {
        assert_true(time(NULL) <= end);
        sched_yield();
    }
    EXPECT_DTO(a->request, 2, DAT_DTO_SUCCESS, 64);
}

static void polled_while_eps_come_and_go(void **state)
{
    end_t a, b;
    DAT_EP_HANDLE steady[2 * STEADY];
    ends_open(&a, &b, MEMORY_MEMFD, 4096);
    poller_t poller = {.evd = b.recv};
    assert_int_equal(pthread_create(&poller.thread, NULL, poll_evd, &poller),
                     0);
    for (int i = 0; i < STEADY; i++) {
        exchange(&a, &b, &poller);
        steady[2 * i] = a.ep;
        steady[2 * i + 1] = b.ep;
        a.ep = ep_new(&a);
        b.ep = ep_new(&b);
    }
    for (int i = 0; i < ROUNDS; i++) {
        exchange(&a, &b, &poller);
        if (i % 2) { /* it ends here, and is used again */
            DAT_OK(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG));
            EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
            DAT_OK(dat_ep_reset(b.ep));
        } else { /* it is gone at once */
            DAT_OK(dat_ep_free(b.ep));
            b.ep = ep_new(&b);
        }
        EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        DAT_OK(dat_ep_reset(a.ep));
    }
    for (int i = 0; i < 2 * STEADY; i++)
        DAT_OK(dat_ep_free(steady[i]));
    atomic_store(&poller.stop, true);
    pthread_join(poller.thread, NULL);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polled_while_eps_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
