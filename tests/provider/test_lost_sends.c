/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver disconnects in the middle of a stream: every message whose send
 * has completed was received. */
#include "peer.h"

#include <pthread.h>
#include <stdatomic.h>

#define MESSAGES 4096 /* receives posted before */
#define ROUNDS   10

typedef struct disconnecting {
    end_t *end;
    DAT_CLOSE_FLAGS flags;
    atomic_uint sent;
    unsigned after; /* so many are sent */
} disconnecting_t;

static void *disconnect(void *arg)
{
    disconnecting_t *d = arg;
    while (atomic_load(&d->sent) < d->after)
        sched_yield();
    DAT_OK(dat_ep_disconnect(d->end->ep, d->flags));
    return NULL;
}

static void open_deep(end_t *end)
{
    DAT_EP_PARAM param;
    end_open_memory(end, MEMORY_MEMFD, 4096, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(dat_ep_query(end->ep, DAT_EP_FIELD_ALL, &param));
    param.ep_attr.max_recv_dtos = param.ep_attr.max_request_dtos = MESSAGES;
    DAT_OK(dat_ep_modify(end->ep,
                         DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                             DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                         &param));
    DAT_OK(dat_evd_resize(end->recv, 2 * MESSAGES));
    DAT_OK(dat_evd_resize(end->request, 2 * MESSAGES));
}

/* The number of successes there, and of all. */
static unsigned successes(DAT_EVD_HANDLE evd, unsigned *all)
{
    unsigned n = 0;
    DAT_EVENT event;
    for (*all = 0; dat_evd_dequeue(evd, &event) == DAT_SUCCESS; ++*all)
        n += event.event_data.dto_completion_event_data.status ==
             DAT_DTO_SUCCESS;
    return n;
}

static void one_round(DAT_CLOSE_FLAGS flags, unsigned after)
{
    end_t from, to;
    open_deep(&from);
    open_deep(&to);
    end_connect_both(&from, &to);
    DAT_LMR_TRIPLET in = local(&to.mem, 0, 8), out = local(&from.mem, 0, 8);
    for (unsigned i = 0; i < MESSAGES; i++)
        DAT_OK(dat_ep_post_recv(to.ep, 1, &in, cookie(i), 0));

    disconnecting_t d = {.end = &to, .flags = flags, .after = after};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, disconnect, &d), 0);
    DAT_EVENT event;
    while (dat_evd_dequeue(from.conn, &event) != DAT_SUCCESS) {
        unsigned n = atomic_load(&d.sent);
        if (n < MESSAGES && !dat_ep_post_send(from.ep, 1, &out, cookie(n), 0))
            atomic_store(&d.sent, n + 1);
    }
    pthread_join(thread, NULL);
    assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(to.conn, DAT_CONNECTION_EVENT_DISCONNECTED);

    unsigned all, received = successes(to.recv, &all);
    assert_int_equal(all, MESSAGES);
    unsigned told = successes(from.request, &all);
    assert_int_equal(all, atomic_load(&d.sent));
    if (told > received)
        fail_msg("%u of %u sends that succeeded were not received",
                 told - received, told);
    ends_close(&from, &to);
}

static void abruptly(void **state)
{
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++)
        one_round(DAT_CLOSE_ABRUPT_FLAG,
                  (unsigned)(random_next(&seed) % (MESSAGES / 2)));
}

static void gracefully(void **state)
{
    uint64_t seed = 2;
    for (int round = 0; round < ROUNDS; round++)
        one_round(DAT_CLOSE_GRACEFUL_FLAG,
                  (unsigned)(random_next(&seed) % (MESSAGES / 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(abruptly),
        cmocka_unit_test(gracefully),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
