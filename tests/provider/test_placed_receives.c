/* SPDX-License-Identifier: BSD-3-Clause */
/* Placed receives: a message goes where the consumer says while it polls. */
#include "util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "providers/core/extensions.h"

#define BYTES 65536
#define HEAD  24 /* bytes that the receive gets in any case */
#define PLACE 8192

/* What answer() returns and checks, and how it was called last. */
static struct {
    unsigned char place[PLACE];
    bool refuses;
    unsigned calls;
    uint64_t cookie;
    size_t bytes;
    pthread_t thread;
    const unsigned char *head; /* of the receive, and what it must be */
    const unsigned char *sent;
} asked;

static void *answer(DAT_DTO_COOKIE cookie, size_t bytes)
{
    asked.calls++;
    asked.cookie = cookie.as_64;
    asked.bytes = bytes;
    asked.thread = pthread_self();
    if (asked.head)
        assert_memory_equal(asked.head, asked.sent, HEAD);
    return asked.refuses ? NULL : asked.place;
}

static bool is_offered(DAT_IA_HANDLE ia)
{
    const char *value = provider_attribute(ia, DAPL_PLACES_RECEIVES);
    return value && !strcmp(value, "TRUE");
}

/* b places. Skips the test where that is not offered. */
static void open_both(end_t *a, end_t *b)
{
    memset(&asked, 0, sizeof asked);
    ends_open(a, b, MEMORY_MALLOC, BYTES);
    if (!is_offered(b->ia)) {
        DAT_FAILS(dapl_place(b->ep, HEAD, answer), DAT_NOT_IMPLEMENTED);
        ends_close(a, b);
        skip();
    }
    DAT_OK(dapl_place(b->ep, HEAD, answer));
    end_connect_both(a, b);
    fill(a->mem.data, BYTES, 1);
}

static void post_recv(const end_t *b, uint64_t id)
{
    /* in two segments, of which the first is longer than the head */
    DAT_LMR_TRIPLET to[2] = {local(&b->mem, 0, 64),
                             local(&b->mem, 4096, PLACE)};
    memset(b->mem.data, 0, 64);
    memset(b->mem.data + 4096, 0, PLACE);
    DAT_OK(dat_ep_post_recv(b->ep, 2, to, cookie(id), 0));
}

static void post_send(const end_t *a, size_t bytes, uint64_t id)
{
    DAT_LMR_TRIPLET from = local(&a->mem, 0, bytes);
    DAT_OK(dat_ep_post_send(a->ep, 1, &from, cookie(id), 0));
}

/* Polls until a message of so many bytes has come. */
static void poll_for(const end_t *b, uint64_t id, size_t bytes)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto;
    DAT_EVENT event;
    time_t end = time(NULL) + WAIT_MS / 1000;
    while (dat_evd_dequeue(b->recv, &event) != DAT_SUCCESS)
        assert_true(time(NULL) <= end);
    dto = &event.event_data.dto_completion_event_data;
    assert_int_equal(dto->status, DAT_DTO_SUCCESS);
    assert_int_equal(dto->user_cookie.as_64, id);
    assert_int_equal(dto->transfered_length, bytes);
}

/* The receive has all of the message. */
static void is_received(const end_t *a, const end_t *b, size_t bytes)
{
    size_t head = bytes < 64 ? bytes : 64;
    assert_memory_equal(b->mem.data, a->mem.data, head);
    assert_memory_equal(b->mem.data + 4096, a->mem.data + head, bytes - head);
}

/* The receive has the head, the place the rest. */
static void is_placed(const end_t *a, const end_t *b, size_t bytes)
{
    static const unsigned char nothing[PLACE];
    assert_memory_equal(b->mem.data, a->mem.data, HEAD);
    assert_memory_equal(b->mem.data + HEAD, nothing, 64 - HEAD);
    assert_memory_equal(b->mem.data + 4096, nothing, PLACE);
    assert_memory_equal(asked.place, a->mem.data + HEAD, bytes - HEAD);
    assert_memory_equal(asked.place + bytes - HEAD, nothing,
                        PLACE - (bytes - HEAD));
}

static void goes_where_it_is_placed(void **state)
{
    static const size_t sizes[] = {0, 1, HEAD, 100, 256, 1000, 4096, PLACE};
    end_t a, b;
    open_both(&a, &b);
    asked.head = b.mem.data;
    asked.sent = a.mem.data;
    for (uint64_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i / 2];
        asked.refuses = i % 2;
        asked.calls = 0;
        memset(asked.place, 0, PLACE);
        post_recv(&b, i);
        post_send(&a, bytes, i);
        poll_for(&b, i, bytes);
        EXPECT_DTO(a.request, i, DAT_DTO_SUCCESS, bytes);
        if (asked.calls && !asked.refuses)
            is_placed(&a, &b, bytes);
        else
            is_received(&a, &b, bytes);
        /* the interface promises no call, but the provider makes it */
        assert_int_equal(asked.calls, bytes >= 256);
        if (asked.calls) {
            assert_int_equal(asked.cookie, i);
            assert_int_equal(asked.bytes, bytes);
        }
    }
    ends_close(&a, &b);
}

/* dat_evd_dequeue finds one message at a time, and each of them is placed. A
 * message that dat_evd_wait finds is not placed, nor are those that it finds
 * behind it. */
static void only_what_is_polled(void **state)
{
    end_t a, b;
    open_both(&a, &b);
    post_recv(&b, 1);
    post_recv(&b, 2);
    post_send(&a, 1000, 1);
    post_send(&a, 1000, 2);
    poll_for(&b, 1, 1000);
    assert_int_equal(asked.calls, 1);
    assert_int_equal(asked.cookie, 1);
    memset(asked.place, 0, PLACE);
    poll_for(&b, 2, 1000);
    is_placed(&a, &b, 1000);
    assert_int_equal(asked.calls, 2);
    assert_int_equal(asked.cookie, 2);

    for (uint64_t id = 3; id <= 4; id++) {
        post_recv(&b, id);
        post_send(&a, 1000, id);
    }
    EXPECT_DTO(b.recv, 3, DAT_DTO_SUCCESS, 1000);
    poll_for(&b, 4, 1000);
    is_received(&a, &b, 1000);
    assert_int_equal(asked.calls, 2);
    ends_close(&a, &b);
}

static void with_a_shared_queue(void **state)
{
    end_t a, b;
    DAT_SRQ_ATTR attr = {8, 4, DAT_SRQ_LW_DEFAULT};
    DAT_SRQ_HANDLE srq;
    NEEDS(max_srqs);
    open_both(&a, &b);
    end_t s = b; /* but with another EP */
    DAT_OK(dat_srq_create(b.ia, b.pz, &attr, &srq));
    DAT_OK(dat_ep_create_with_srq(b.ia, b.pz, b.recv, b.request, b.conn, srq,
                                  NULL, &s.ep));
    DAT_OK(dapl_place(s.ep, HEAD, answer));
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_OK(dat_ep_reset(a.ep));
    end_connect_both(&a, &s);
    DAT_LMR_TRIPLET to[2] = {local(&s.mem, 0, 64), local(&s.mem, 4096, PLACE)};
    memset(s.mem.data, 0, BYTES);
    DAT_OK(dat_srq_post_recv(srq, 2, to, cookie(7)));
    post_send(&a, 3000, 1);
    poll_for(&s, 7, 3000);
    assert_int_equal(asked.calls, 1);
    is_placed(&a, &s, 3000);
    DAT_OK(dat_ep_free(s.ep));
    DAT_OK(dat_srq_free(srq));
    ends_close(&a, &b);
}

static void checks(void **state)
{
    end_t a, b;
    open_both(&a, &b);
    DAT_FAILS(dapl_place(b.ep, HEAD, answer), DAT_INVALID_STATE);
    DAT_OK(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_OK(dat_ep_reset(a.ep));
    DAT_FAILS(dapl_place(a.ep, -1, answer), DAT_INVALID_PARAMETER);
    DAT_FAILS(dapl_place(a.ep, 257, answer), DAT_INVALID_PARAMETER);
    DAT_OK(dapl_place(a.ep, 256, answer));
    DAT_OK(dapl_place(a.ep, 0, NULL));
    DAT_FAILS(dapl_place(DAT_HANDLE_NULL, HEAD, answer), DAT_INVALID_HANDLE);
    ends_close(&a, &b);
}

/* ---------------------------------------------------------- two threads --- */

struct other {
    DAT_EVD_HANDLE evd;
    atomic_bool stop;
};

/* Makes progress of all connections of the IA. */
static void *poll_another(void *arg)
{
    struct other *o = arg;
    DAT_EVENT event;
    while (!atomic_load(&o->stop))
        assert_int_not_equal(dat_evd_dequeue(o->evd, &event), DAT_SUCCESS);
    return NULL;
}

/* Another thread that makes progress of the connection does not ask. */
static void asks_in_the_thread_that_polls(void **state)
{
    enum { ROUNDS = 2000 };
    end_t a, b;
    pthread_t thread;
    open_both(&a, &b);
    struct other o = {.evd = b.request};
    assert_int_equal(pthread_create(&thread, NULL, poll_another, &o), 0);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        asked.calls = 0;
        memset(asked.place, 0, PLACE);
        post_recv(&b, i);
        post_send(&a, 1000, i);
        if (i % 20 == 0)
            poll_pause(); /* the other thread takes it */
        poll_for(&b, i, 1000);
        EXPECT_DTO(a.request, i, DAT_DTO_SUCCESS, 1000);
        if (asked.calls) {
            assert_true(pthread_equal(asked.thread, pthread_self()));
            is_placed(&a, &b, 1000);
        } else {
            is_received(&a, &b, 1000);
        }
    }
    atomic_store(&o.stop, true);
    pthread_join(thread, NULL);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_where_it_is_placed),
        cmocka_unit_test(only_what_is_polled),
        cmocka_unit_test(with_a_shared_queue),
        cmocka_unit_test(checks),
        cmocka_unit_test(asks_in_the_thread_that_polls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
