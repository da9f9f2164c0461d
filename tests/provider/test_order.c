/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions come in the order of posting, even if a connection ends in
 * between; messages sent before the end come before it. */
#include "peer.h"

#include <pthread.h>
#include <stdatomic.h>

/* ------------------------------------------------------------- flushed --- */

static void *disconnect(void *arg)
{
    end_t *end = arg;
    dat_ep_disconnect(end->ep, DAT_CLOSE_ABRUPT_FLAG);
    return NULL;
}

/* The peer disconnects while requests are pending and more are posted. */
static void flushed_in_order(void **state)
{
    enum { ROUNDS = 100, PENDING = 200, DEPTH = 4000 };
    DAT_EP_PARAM param;
    for (int round = 0; round < ROUNDS; round++) {
        end_t a, b;
        DAT_EVENT event;
        DAT_COUNT more;
        pthread_t thread;
        uint64_t n = 0, after = 0;
        end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
        end_open(&b, NULL);
        DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));
        param.ep_attr.max_request_dtos = DEPTH;
        DAT_OK(
            dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param));
        DAT_OK(dat_evd_resize(a.request, 2 * DEPTH));
        end_connect_both(&a, &b);
        DAT_LMR_TRIPLET iov = local(&a.mem, 0, 8);
        for (; n < PENDING; n++)
            DAT_OK(dat_ep_post_send(a.ep, 1, &iov, cookie(n), 0));
        assert_int_equal(pthread_create(&thread, NULL, disconnect, &b), 0);
        while (n < DEPTH && after < 20) {
            DAT_OK(dat_ep_post_send(a.ep, 1, &iov, cookie(n++), 0));
            after += after || !dat_evd_dequeue(a.conn, &event);
        }
        pthread_join(thread, NULL);
        for (uint64_t i = 0; i < n; i++) {
            DAT_OK(dat_evd_wait(a.request, WAIT_MS * 1000, 1, &event, &more));
            assert_int_equal(
                event.event_data.dto_completion_event_data.user_cookie.as_64,
                i);
            assert_int_equal(event.event_data.dto_completion_event_data.status,
                             DAT_DTO_ERR_FLUSHED);
        }
        ends_close(&a, &b);
    }
}

/* An RDMA write, which may have been carried out, behind a send that has not
 * been received. */
static void flushed_behind_a_failed_one(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, 4096);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET from = local(&a.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&b.mem, 8, 8);
    DAT_OK(dat_ep_post_send(a.ep, 1, &from, cookie(1), 0));
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &from, cookie(2), &to, 0));
    expect_silence(a.request, 20);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_DTO(a.request, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(a.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    ends_close(&a, &b);
}

/* ------------------------------------------------------ link model: due --- */

/* The link is taken for long by writes; a message behind it is delivered late,
 * but before the news that its sender has disconnected. */
static void delivered_before_disconnection(DAT_CLOSE_FLAGS how)
{
    enum { BYTES = 1 << 20, WRITES = 64, N = 3 };
    end_t a, b;
    end_open_on(&a, "ultra24-a0", NULL);
    end_open_on(&b, "ultra24-a0", NULL);
    region_create(&a.mem, MEMORY_MEMFD, BYTES, a.ia, a.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    region_create(&b.mem, MEMORY_MEMFD, BYTES, b.ia, b.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET all = local(&a.mem, 0, BYTES), few = local(&a.mem, 0, 64);
    DAT_LMR_TRIPLET in = local(&b.mem, 0, 64);
    DAT_RMR_TRIPLET to = remote(&b.mem, 0, BYTES);
    for (uint64_t i = 0; i < N; i++)
        DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(i), 0));
    for (int i = 0; i < WRITES; i++)
        DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &all, cookie(0), &to,
                                      DAT_COMPLETION_SUPPRESS_FLAG));
    for (uint64_t i = 0; i < N; i++)
        DAT_OK(dat_ep_post_send(a.ep, 1, &few, cookie(i),
                                DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_OK(dat_ep_disconnect(a.ep, how));
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (uint64_t i = 0; i < N; i++) {
        DAT_EVENT event;
        DAT_OK(dat_evd_dequeue(b.recv, &event));
        assert_int_equal(
            event.event_data.dto_completion_event_data.user_cookie.as_64, i);
        assert_int_equal(event.event_data.dto_completion_event_data.status,
                         DAT_DTO_SUCCESS);
    }
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

static void graceful_disconnection(void **state)
{
    delivered_before_disconnection(DAT_CLOSE_GRACEFUL_FLAG);
}

static void abrupt_disconnection(void **state)
{
    delivered_before_disconnection(DAT_CLOSE_ABRUPT_FLAG);
}

/* ---------------------------------------------------- two threads poll --- */

static atomic_bool polled_enough;

/* A poll of the EVD of requests also finds messages, for the other EVD. */
static void *poll_requests(void *arg)
{
    end_t *end = arg;
    DAT_EVENT event;
    while (!polled_enough)
        assert_int_equal(DAT_GET_TYPE(dat_evd_dequeue(end->request, &event)),
                         DAT_QUEUE_EMPTY);
    return NULL;
}

static void received_in_order(void **state)
{
    enum { N = 50000, AHEAD = 100 };
    end_t a, b;
    pthread_t thread;
    DAT_EVENT event;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET out = local(&a.mem, 0, 8), in = local(&b.mem, 0, 8);
    uint64_t posted = 0, sent = 0, got = 0;
    assert_int_equal(pthread_create(&thread, NULL, poll_requests, &b), 0);
    while (got < N) {
        for (; posted < got + AHEAD; posted++)
            DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(posted), 0));
        for (; sent < posted && sent < N; sent++)
            DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(sent),
                                    DAT_COMPLETION_SUPPRESS_FLAG));
        while (dat_evd_dequeue(b.recv, &event) == DAT_SUCCESS)
            assert_int_equal(
                event.event_data.dto_completion_event_data.user_cookie.as_64,
                got++);
    }
    polled_enough = true;
    pthread_join(thread, NULL);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushed_in_order),
        cmocka_unit_test(flushed_behind_a_failed_one),
        cmocka_unit_test(graceful_disconnection),
        cmocka_unit_test(abrupt_disconnection),
        cmocka_unit_test(received_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
