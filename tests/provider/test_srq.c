/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#include "util.h"

#define BYTES 65536

typedef struct fixture {
    end_t a, b; /* senders */
    end_t s;    /* the server; its own EP is not used */
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE ep[2]; /* connected to a and b */
} fixture_t;

static void accept_next(fixture_t *f, end_t *client, DAT_EP_HANDLE *ep)
{
    DAT_OK(end_connect(client, f->s.qual));
    DAT_CR_HANDLE cr = end_asked(&f->s);
    DAT_OK(dat_ep_create_with_srq(f->s.ia, f->s.pz, f->s.recv, f->s.request,
                                  f->s.conn, f->srq, NULL, ep));
    DAT_OK(dat_cr_accept(cr, *ep, 0, NULL));
    EXPECT_EVENT(f->s.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(client->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void open_three(fixture_t *f, DAT_COUNT depth)
{
    memset(f, 0, sizeof *f);
    ends_open(&f->a, &f->b, MEMORY_MALLOC, BYTES);
    end_open_memory(&f->s, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    DAT_SRQ_ATTR attr = {depth, 4, DAT_SRQ_LW_DEFAULT};
    DAT_OK(dat_srq_create(f->s.ia, f->s.pz, &attr, &f->srq));
    accept_next(f, &f->a, &f->ep[0]);
    accept_next(f, &f->b, &f->ep[1]);
}

static void close_three(fixture_t *f)
{
    DAT_OK(dat_ep_free(f->ep[0]));
    DAT_OK(dat_ep_free(f->ep[1]));
    DAT_OK(dat_srq_free(f->srq));
    ends_close(&f->a, &f->b);
    end_close(&f->s);
}

static void post_recv(fixture_t *f, uint64_t id)
{
    DAT_LMR_TRIPLET iov = local(&f->s.mem, id * 256, 256);
    DAT_OK(dat_srq_post_recv(f->srq, 1, &iov, cookie(id)));
}

/* The send is complete when it has been received, not before: nobody knows
 * whose receive a message will take. */
static DAT_DTO_COMPLETION_EVENT_DATA send_from(fixture_t *f, end_t *end,
                                               uint64_t id, size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(&end->mem, id, bytes);
    DAT_OK(dat_ep_post_send(end->ep, 1, &iov, cookie(id), 0));
    DAT_DTO_COMPLETION_EVENT_DATA dto =
        EXPECT_DTO(f->s.recv, id, DAT_DTO_SUCCESS, bytes);
    EXPECT_DTO(end->request, id, DAT_DTO_SUCCESS, bytes);
    return dto;
}

static void two_endpoints_share(void **state)
{
    fixture_t f;
    open_three(&f, 64);
    for (uint64_t i = 0; i < 64; i++)
        post_recv(&f, i);
    fill(f.a.mem.data, BYTES, 1);
    fill(f.b.mem.data, BYTES, 2);
    for (uint64_t i = 0; i < 64; i++) {
        int which = (int)(i * 7 % 3 == 0);
        end_t *from = which ? &f.b : &f.a;
        size_t bytes = 1 + i * 3;
        DAT_DTO_COMPLETION_EVENT_DATA dto = send_from(&f, from, i, bytes);
        assert_ptr_equal(dto.ep_handle, f.ep[which]);
        assert_memory_equal(f.s.mem.data + i * 256, from->mem.data + i, bytes);
    }
    close_three(&f);
}

/* A send that finds no receive waits until one is posted. */
static void senders_wait_for_receives(void **state)
{
    fixture_t f;
    open_three(&f, 64);
    DAT_LMR_TRIPLET iov = local(&f.a.mem, 0, 100);
    DAT_OK(dat_ep_post_send(f.a.ep, 1, &iov, cookie(1), 0));
    expect_silence(f.s.recv, 20);
    post_recv(&f, 9);
    EXPECT_DTO(f.s.recv, 9, DAT_DTO_SUCCESS, 100);
    EXPECT_DTO(f.a.request, 1, DAT_DTO_SUCCESS, 100);
    close_three(&f);
}

/* A message that nobody has received when the connection ends was not sent: two
 * senders may have counted on the same receive. */
static void not_received_is_not_sent(void **state)
{
    fixture_t f;
    open_three(&f, 64);
    DAT_LMR_TRIPLET iov = local(&f.a.mem, 0, 100);
    DAT_OK(dat_ep_post_send(f.a.ep, 1, &iov, cookie(1), 0));
    expect_silence(f.a.request, 20);
    DAT_OK(dat_ep_disconnect(f.ep[0], DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_DTO(f.a.request, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_EVENT(f.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    close_three(&f);
}

static void query_counts(void **state)
{
    fixture_t f;
    DAT_SRQ_PARAM param;
    open_three(&f, 32);
    for (uint64_t i = 0; i < 10; i++)
        post_recv(&f, i);
    DAT_OK(dat_srq_query(f.srq, DAT_SRQ_FIELD_ALL, &param));
    assert_ptr_equal(param.pz_handle, f.s.pz);
    assert_int_equal(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
    assert_true(param.max_recv_dtos >= 32);
    assert_true(param.max_recv_iov >= 4);
    assert_int_equal(param.available_dto_count, 10);
    send_from(&f, &f.a, 0, 8);
    DAT_OK(dat_srq_query(f.srq, DAT_SRQ_FIELD_ALL, &param));
    assert_int_equal(param.available_dto_count, 9);
    close_three(&f);
}

static void low_watermark(void **state)
{
    fixture_t f;
    open_three(&f, 32);
    for (uint64_t i = 0; i < 5; i++)
        post_recv(&f, i);
    DAT_OK(dat_srq_set_lw(f.srq, 3));
    for (uint64_t i = 0; i < 4; i++)
        send_from(&f, &f.a, i, 8);
    /* once, when fewer than three were left */
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(f.s.async, WAIT_MS * 1000, 1, &event, &more));
    assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle,
                     f.srq);
    assert_int_equal(event.event_data.asynch_error_event_data.reason,
                     DAT_SRQ_LOW_WATERMARK_EVENT);
    expect_silence(f.s.async, 10);
    close_three(&f);
}

static void resize(void **state)
{
    fixture_t f;
    DAT_SRQ_PARAM param;
    open_three(&f, 8);
    for (uint64_t i = 0; i < 8; i++)
        post_recv(&f, i);
    DAT_FAILS(dat_srq_resize(f.srq, 4), DAT_INVALID_STATE);
    DAT_OK(dat_srq_resize(f.srq, 100));
    DAT_OK(dat_srq_query(f.srq, DAT_SRQ_FIELD_ALL, &param));
    assert_true(param.max_recv_dtos >= 100);
    for (uint64_t i = 8; i < 100; i++)
        post_recv(&f, i);
    for (uint64_t i = 0; i < 100; i++)
        send_from(&f, i % 2 ? &f.a : &f.b, i, 30);
    close_three(&f);
}

static void full_and_bad_posts(void **state)
{
    fixture_t f;
    DAT_RETURN rc = DAT_SUCCESS;
    int posted = 0;
    open_three(&f, 8);
    DAT_LMR_TRIPLET iov = local(&f.s.mem, 0, 8);
    while (posted < 100000 &&
           !(rc = dat_srq_post_recv(f.srq, 1, &iov, cookie(0))))
        posted++;
    DAT_FAILS(rc, DAT_INSUFFICIENT_RESOURCES);
    assert_true(posted >= 8);
    DAT_FAILS(dat_srq_post_recv(f.srq, -1, &iov, cookie(0)),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_srq_post_recv(f.srq, 1000, &iov, cookie(0)),
              DAT_INVALID_PARAMETER);
    /* the endpoint's own queue is not there */
    assert_int_not_equal(dat_ep_post_recv(f.ep[0], 1, &iov, cookie(0), 0),
                         DAT_SUCCESS);
    DAT_FAILS(dat_srq_free(f.srq), DAT_INVALID_STATE);
    close_three(&f);
}

/* When one endpoint breaks, the receives stay for the other. */
static void survives_a_broken_endpoint(void **state)
{
    fixture_t f;
    open_three(&f, 32);
    for (uint64_t i = 0; i < 4; i++)
        post_recv(&f, i);
    DAT_OK(dat_ep_disconnect(f.a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(f.s.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (uint64_t i = 0; i < 4; i++)
        send_from(&f, &f.b, i, 20);
    close_three(&f);
}

static void create_bad_arguments(void **state)
{
    end_t end;
    DAT_SRQ_HANDLE srq;
    DAT_SRQ_ATTR attr = {0, 1, DAT_SRQ_LW_DEFAULT};
    end_open(&end, NULL);
    DAT_FAILS(dat_srq_create(end.ia, end.pz, &attr, &srq),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_srq_create(end.ia, end.pz, NULL, &srq),
              DAT_INVALID_PARAMETER);
    attr.max_recv_dtos = 8;
    DAT_FAILS(dat_srq_create(end.ia, end.recv, &attr, &srq),
              DAT_INVALID_HANDLE);
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_endpoints_share),
        cmocka_unit_test(senders_wait_for_receives),
        cmocka_unit_test(not_received_is_not_sent),
        cmocka_unit_test(query_counts),
        cmocka_unit_test(low_watermark),
        cmocka_unit_test(resize),
        cmocka_unit_test(full_and_bad_posts),
        cmocka_unit_test(survives_a_broken_endpoint),
        cmocka_unit_test(create_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
