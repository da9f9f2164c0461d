/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing sends: while many are posted, the last one is held, and can be made
 * longer. */
#include "tcp.h"

#include "providers/core/extensions.h"

#define PART  64u
#define PARTS 16u /* of an end's memory */
#define FIRST 5u  /* sends that go at once; then the one that grows */
#define TRIES 1000

static DAT_RETURN post(end_t *end, size_t part, uint64_t id, int flags)
{
    DAT_LMR_TRIPLET from = local(&end->mem, part * PART, PART);
    return dat_ep_post_send(end->ep, 1, &from, cookie(id),
                            (DAT_COMPLETION_FLAGS)flags);
}

static DAT_RETURN append(end_t *end, size_t part)
{
    return post(end, part, 0, DAPL_SEND_APPEND_FLAG);
}

static void expect_first(end_t *b)
{
    for (uint64_t id = 0; id < FIRST; id++)
        EXPECT_DTO(b->recv, id, DAT_DTO_SUCCESS, PART);
}

/* For 5 ms: only while its consumer polls does an IA hold a send. */
static void poll_often(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    for (int ms = 0; ms < 5; ms++)
        for (unsigned n = 0; n < 1000; n++)
            DAT_FAILS(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
}

/* Posts parts 0 and 1 as one send, behind others. */
static void grow(end_t *a, end_t *b)
{
    DAT_LMR_TRIPLET to = local(&b->mem, 0, PART * PARTS);
    for (unsigned tries = 0; tries < TRIES; tries++) {
        for (uint64_t id = 0; id <= FIRST; id++)
            DAT_OK(dat_ep_post_recv(b->ep, 1, &to, cookie(id), 0));
        poll_often(a->recv);
        for (uint64_t id = 0; id < FIRST; id++)
            DAT_OK(post(a, 15, id, DAT_COMPLETION_SUPPRESS_FLAG));
        DAT_OK(post(a, 0, FIRST, DAPL_SEND_GROWS_FLAG));
        if (append(a, 1) == DAT_SUCCESS)
            return;
        expect_first(b);
        EXPECT_DTO(b->recv, FIRST, DAT_DTO_SUCCESS, PART);
        EXPECT_DTO(a->request, FIRST, DAT_DTO_SUCCESS, PART);
    }
    fail();
}

static void open_both(end_t *a, end_t *b)
{
    ends_open(a, b, MEMORY_MALLOC, PART * PARTS);
    fill(a->mem.data, PART * PARTS, 1);
    end_connect_both(a, b);
    assert_string_equal(provider_attribute(a->ia, DAPL_GROWING_SENDS), "TRUE");
}

static void expect_grown(end_t *b, size_t parts)
{
    expect_first(b);
    EXPECT_DTO(b->recv, FIRST, DAT_DTO_SUCCESS, parts * PART);
}

/* Nobody polls or posts at the sender's end. */
static void leaves_by_itself(void **state)
{
    end_t a, b;
    open_both(&a, &b);
    grow(&a, &b);
    size_t parts = append(&a, 2) == DAT_SUCCESS ? 3 : 2;
    expect_grown(&b, parts);
    assert_memory_equal(b.mem.data, a.mem.data, parts * PART);
    EXPECT_DTO(a.request, FIRST, DAT_DTO_SUCCESS, parts * PART);
    ends_close(&a, &b);
}

static void leaves_at_a_poll(void **state)
{
    end_t a, b;
    DAT_EVENT event;
    open_both(&a, &b);
    grow(&a, &b);
    dat_evd_dequeue(a.recv, &event);
    DAT_FAILS(append(&a, 2), DAT_INSUFFICIENT_RESOURCES);
    expect_grown(&b, 2);
    ends_close(&a, &b);
}

static void leaves_before_the_next(void **state)
{
    end_t a, b;
    open_both(&a, &b);
    DAT_LMR_TRIPLET to = local(&b.mem, 0, PART);
    grow(&a, &b);
    DAT_OK(dat_ep_post_recv(b.ep, 1, &to, cookie(FIRST + 1), 0));
    DAT_OK(post(&a, 7, FIRST + 1, DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_FAILS(append(&a, 8), DAT_INSUFFICIENT_RESOURCES);
    expect_grown(&b, 2);
    EXPECT_DTO(b.recv, FIRST + 1, DAT_DTO_SUCCESS, PART);
    assert_memory_equal(b.mem.data, a.mem.data + 7 * PART, PART);
    ends_close(&a, &b);
}

static void is_refused(void **state)
{
    end_t a, b;
    open_both(&a, &b);
    DAT_FAILS(append(&a, 0), DAT_INSUFFICIENT_RESOURCES);
    DAT_FAILS(
        post(&a, 0, 0, DAPL_SEND_APPEND_FLAG | DAT_COMPLETION_SUPPRESS_FLAG),
        DAT_INVALID_PARAMETER);
    DAT_FAILS(post(&a, 0, 0, DAPL_SEND_APPEND_FLAG | DAPL_SEND_GROWS_FLAG),
              DAT_INVALID_PARAMETER);
    grow(&a, &b);
    DAT_FAILS(append(&a, 3), DAT_INSUFFICIENT_RESOURCES); /* 2 is missing */
    a.mem.lmr_context++;
    assert_int_not_equal(append(&a, 2), DAT_SUCCESS);
    a.mem.lmr_context--;
    expect_grown(&b, 2);
    ends_close(&a, &b);
}

static void leaves_before_the_end(void **state)
{
    end_t a, b;
    open_both(&a, &b);
    grow(&a, &b);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    expect_grown(&b, 2);
    EXPECT_DTO(a.request, FIRST, DAT_DTO_SUCCESS, 2 * PART);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

/* The send ends with the connection: once. */
static void ends_with_the_connection(void **state)
{
    end_t a, b;
    DAT_EVENT event;
    DAT_COUNT more;
    open_both(&a, &b);
    grow(&a, &b);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    DAT_OK(dat_evd_wait(a.request, WAIT_MS * 1000, 1, &event, &more));
    assert_int_equal(
        event.event_data.dto_completion_event_data.user_cookie.as_64, FIRST);
    DAT_FAILS(dat_evd_dequeue(a.request, &event), DAT_QUEUE_EMPTY);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_by_itself),
        cmocka_unit_test(leaves_at_a_poll),
        cmocka_unit_test(leaves_before_the_next),
        cmocka_unit_test(is_refused),
        cmocka_unit_test(leaves_before_the_end),
        cmocka_unit_test(ends_with_the_connection),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
