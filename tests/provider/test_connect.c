/* SPDX-License-Identifier: BSD-3-Clause */
/* Service points, connection requests, and the states of an Endpoint. */
#include "peer.h"

#include <unistd.h>

static DAT_EP_STATE ep_state(const end_t *end)
{
    DAT_EP_STATE ep_state;
    DAT_BOOLEAN recv_idle, request_idle;
    DAT_OK(dat_ep_get_status(end->ep, &ep_state, &recv_idle, &request_idle));
    return ep_state;
}

static DAT_IA_ADDRESS_PTR address_of(const end_t *end)
{
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(end->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    return attr.ia_address_ptr;
}

static DAT_COUNT max_private_data(const end_t *end)
{
    DAT_PROVIDER_ATTR attr;
    DAT_OK(dat_ia_query(end->ia, NULL, 0, NULL,
                        DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE, &attr));
    return attr.max_private_data_size;
}

static DAT_RETURN connect_with(const end_t *end, DAT_CONN_QUAL qual,
                               int timeout_ms, void *data, DAT_COUNT size)
{
    return dat_ep_connect(end->ep, address_of(end), qual,
                          (DAT_TIMEOUT)timeout_ms * 1000, size, data,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_CR_HANDLE next_request(const end_t *end)
{
    DAT_EVENT event = EXPECT_EVENT(end->cr, DAT_CONNECTION_REQUEST_EVENT);
    DAT_CR_ARRIVAL_EVENT_DATA *cr = &event.event_data.cr_arrival_event_data;
    assert_ptr_equal(cr->sp_handle.psp_handle, end->psp);
    assert_int_equal(cr->conn_qual, end->qual);
    return cr->cr_handle;
}

static void open_two(end_t *a, end_t *b)
{
    end_open(a, NULL);
    end_open(b, NULL);
}

/* ------------------------------------------------------ service points --- */

static void psp_life(void **state)
{
    end_t end;
    DAT_PSP_HANDLE psp, second;
    DAT_PSP_PARAM param;
    end_open(&end, NULL);
    DAT_OK(
        dat_psp_create(end.ia, 0x1234567, end.cr, DAT_PSP_CONSUMER_FLAG, &psp));
    DAT_OK(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
    assert_int_equal(param.conn_qual, 0x1234567);
    assert_ptr_equal(param.evd_handle, end.cr);
    assert_int_equal(param.psp_flags, DAT_PSP_CONSUMER_FLAG);

    DAT_FAILS(dat_psp_create(end.ia, 0x1234567, end.cr, DAT_PSP_CONSUMER_FLAG,
                             &second),
              DAT_CONN_QUAL_IN_USE);
    DAT_FAILS(
        dat_psp_create(end.ia, 77, end.recv, DAT_PSP_CONSUMER_FLAG, &second),
        DAT_INVALID_HANDLE);
    DAT_FAILS(dat_evd_free(end.cr), DAT_INVALID_STATE);
    DAT_OK(dat_psp_free(psp));
    DAT_FAILS(dat_psp_free(psp), DAT_INVALID_HANDLE);
    /* free again at once */
    DAT_OK(
        dat_psp_create(end.ia, 0x1234567, end.cr, DAT_PSP_CONSUMER_FLAG, &psp));
    DAT_OK(dat_psp_free(psp));
    end_close(&end);
}

/* A qualifier belongs to the IA, whichever process opened it. */
static void conn_qual_of_another_process(void **state)
{
    peer_t peer;
    end_t end;
    DAT_PSP_HANDLE psp;
    peer_start(&peer, &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, 64,
                                        DAT_MEM_PRIV_ALL_FLAG});
    end_open(&end, NULL);
    DAT_FAILS(dat_psp_create(end.ia, peer.end.qual, end.cr,
                             DAT_PSP_CONSUMER_FLAG, &psp),
              DAT_CONN_QUAL_IN_USE);
    peer_kill(&peer); /* and it is free again when its owner died, … */
    DAT_RETURN status = DAT_CONN_QUAL_IN_USE;
    /* … but a test beside this one may be given it for a while */
    for (int i = 0; i < WAIT_MS && DAT_GET_TYPE(status) == DAT_CONN_QUAL_IN_USE;
         i++) {
        if (i)
            poll_pause();
        status = dat_psp_create(end.ia, peer.end.qual, end.cr,
                                DAT_PSP_CONSUMER_FLAG, &psp);
    }
    DAT_OK(status);
    DAT_OK(dat_psp_free(psp));
    end_close(&end);
}

static void psp_any_are_different(void **state)
{
    enum { N = 20 };
    end_t end;
    DAT_PSP_HANDLE psp[N];
    DAT_CONN_QUAL qual[N];
    end_open(&end, NULL);
    for (int i = 0; i < N; i++) {
        DAT_OK(dat_psp_create_any(end.ia, &qual[i], end.cr,
                                  DAT_PSP_CONSUMER_FLAG, &psp[i]));
        for (int j = 0; j < i; j++)
            assert_true(qual[i] != qual[j]);
    }
    for (int i = 0; i < N; i++)
        DAT_OK(dat_psp_free(psp[i]));
    end_close(&end);
}

static void rsp_takes_one_request(void **state)
{
    end_t a, b;
    DAT_RSP_HANDLE rsp;
    DAT_RSP_PARAM param;
    DAT_CR_PARAM cr_param;
    open_two(&a, &b);
    DAT_OK(dat_psp_free(b.psp));
    b.psp = NULL;
    DAT_OK(dat_rsp_create(b.ia, b.qual, b.ep, b.cr, &rsp));
    assert_int_equal(ep_state(&b), DAT_EP_STATE_RESERVED);
    DAT_OK(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
    assert_ptr_equal(param.ep_handle, b.ep);
    assert_int_equal(param.conn_qual, b.qual);
    DAT_FAILS(dat_ep_free(b.ep), DAT_INVALID_STATE);

    DAT_OK(end_connect(&a, b.qual));
    DAT_EVENT event = EXPECT_EVENT(b.cr, DAT_CONNECTION_REQUEST_EVENT);
    DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
    DAT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &cr_param));
    assert_ptr_equal(cr_param.local_ep_handle, b.ep);
    assert_ptr_equal(
        event.event_data.cr_arrival_event_data.sp_handle.rsp_handle, rsp);
    DAT_OK(dat_cr_accept(cr, b.ep, 0, NULL));
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    /* one request is what it is for: its qualifier is free */
    DAT_OK(dat_psp_create(b.ia, b.qual, b.cr, DAT_PSP_CONSUMER_FLAG, &b.psp));
    DAT_OK(dat_rsp_free(rsp));
    DAT_FAILS(dat_rsp_free(rsp), DAT_INVALID_HANDLE);
    ends_close(&a, &b);
}

static void rsp_freed_releases_its_ep(void **state)
{
    end_t end;
    DAT_RSP_HANDLE rsp, second;
    end_open(&end, NULL);
    DAT_FAILS(dat_rsp_create(end.ia, end.qual, end.ep, end.cr, &rsp),
              DAT_CONN_QUAL_IN_USE);
    DAT_OK(dat_psp_free(end.psp));
    end.psp = NULL;
    DAT_OK(dat_rsp_create(end.ia, end.qual, end.ep, end.cr, &rsp));
    DAT_FAILS(dat_rsp_create(end.ia, end.qual + 1, end.ep, end.cr, &second),
              DAT_INVALID_STATE);
    DAT_OK(dat_rsp_free(rsp));
    assert_int_equal(ep_state(&end), DAT_EP_STATE_UNCONNECTED);
    end_close(&end);
}

/* --------------------------------------------------- accept and reject --- */

static void accept_with_private_data(void **state)
{
    end_t a, b;
    DAT_CR_PARAM param;
    unsigned char ask[4096], answer[4096];
    open_two(&a, &b);
    DAT_COUNT max = max_private_data(&a);
    assert_in_range(max, 1, sizeof ask);
    for (DAT_COUNT size = 0; size <= max; size += size < max - 7 ? 7 : 1) {
        fill(ask, sizeof ask, 1 + (uint64_t)size);
        fill(answer, sizeof answer, 1000 + (uint64_t)size);
        DAT_OK(connect_with(&a, b.qual, WAIT_MS, ask, size));
        DAT_CR_HANDLE cr = next_request(&b);
        DAT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
        assert_int_equal(param.private_data_size, size);
        assert_memory_equal(param.private_data, ask, (size_t)size);
        DAT_OK(dat_cr_accept(cr, b.ep, size, answer));
        EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
        DAT_EVENT event =
            EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
        DAT_CONNECTION_EVENT_DATA *data = &event.event_data.connect_event_data;
        assert_ptr_equal(data->ep_handle, a.ep);
        assert_int_equal(data->private_data_size, size);
        assert_memory_equal(data->private_data, answer, (size_t)size);
        assert_int_equal(ep_state(&a), DAT_EP_STATE_CONNECTED);

        DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
        EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        DAT_OK(dat_ep_reset(a.ep));
        DAT_OK(dat_ep_reset(b.ep));
    }
    ends_close(&a, &b);
}

static void private_data_too_long(void **state)
{
    end_t a, b;
    unsigned char data[8192] = {0};
    open_two(&a, &b);
    DAT_COUNT max = max_private_data(&a);
    DAT_FAILS(connect_with(&a, b.qual, WAIT_MS, data, max + 1),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(connect_with(&a, b.qual, WAIT_MS, data, -1),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(connect_with(&a, b.qual, WAIT_MS, NULL, 8),
              DAT_INVALID_PARAMETER);
    assert_int_equal(ep_state(&a), DAT_EP_STATE_UNCONNECTED);

    DAT_OK(end_connect(&a, b.qual));
    DAT_CR_HANDLE cr = next_request(&b);
    DAT_FAILS(dat_cr_accept(cr, b.ep, max + 1, data), DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_cr_reject(cr, max + 1, data), DAT_INVALID_PARAMETER);
    DAT_OK(dat_cr_accept(cr, b.ep, 0, NULL)); /* still pending */
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    ends_close(&a, &b);
}

static void reject_with_private_data(void **state)
{
    end_t a, b;
    unsigned char no[16];
    open_two(&a, &b);
    fill(no, sizeof no, 5);
    DAT_OK(end_connect(&a, b.qual));
    DAT_CR_HANDLE cr = next_request(&b);
    DAT_FAILS(dat_cr_handoff(cr, b.qual), DAT_NOT_IMPLEMENTED);
    DAT_OK(dat_cr_reject(cr, sizeof no, no));
    DAT_EVENT event = EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_PEER_REJECTED);
    DAT_CONNECTION_EVENT_DATA *data = &event.event_data.connect_event_data;
    assert_int_equal(data->private_data_size, sizeof no);
    assert_memory_equal(data->private_data, no, sizeof no);
    DAT_FAILS(dat_cr_reject(cr, 0, NULL), DAT_INVALID_HANDLE);

    /* the endpoint can try again after a reset */
    DAT_OK(dat_ep_reset(a.ep));
    end_connect_both(&a, &b);
    ends_close(&a, &b);
}

static void no_such_service(void **state)
{
    end_t end;
    end_open(&end, NULL);
    DAT_OK(end_connect(&end, 0xdeadbeef));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    assert_int_equal(ep_state(&end), DAT_EP_STATE_DISCONNECTED);
    end_close(&end);
}

static void no_such_address(void **state)
{
    end_t end;
    struct sockaddr nowhere = {.sa_family = 250, .sa_data = "nowhere"};
    end_open(&end, NULL);
    DAT_RETURN rc =
        dat_ep_connect(end.ep, &nowhere, 1, WAIT_MS * 1000, 0, NULL,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    if (rc == DAT_SUCCESS)
        EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_UNREACHABLE);
    else
        DAT_FAILS(rc, DAT_INVALID_ADDRESS);
    end_close(&end);
}

static void nobody_answers(void **state)
{
    end_t a, b;
    open_two(&a, &b);
    DAT_OK(connect_with(&a, b.qual, 100, NULL, 0));
    assert_int_equal(ep_state(&a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_TIMED_OUT);
    /* a late acceptor is told */
    DAT_RETURN rc = dat_cr_accept(next_request(&b), b.ep, 0, NULL);
    if (rc == DAT_SUCCESS)
        EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    ends_close(&a, &b);
}

static void many_requests_wait(void **state)
{
    enum { N = 32 };
    end_t server, client;
    DAT_EP_HANDLE ep[N], accepted[N];
    DAT_IA_ADDRESS_PTR address;
    open_two(&server, &client);
    address = address_of(&client);
    for (int i = 0; i < N; i++) {
        DAT_OK(dat_ep_create(client.ia, client.pz, client.recv, client.request,
                             client.conn, NULL, &ep[i]));
        DAT_OK(dat_ep_connect(ep[i], address, server.qual, WAIT_MS * 1000,
                              sizeof i, &i, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
    }
    bool seen[N] = {false};
    for (int i = 0; i < N; i++) {
        DAT_CR_PARAM param;
        DAT_CR_HANDLE cr = next_request(&server);
        DAT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
        int who = *(int *)param.private_data;
        assert_in_range(who, 0, N - 1);
        assert_false(seen[who]);
        seen[who] = true;
        DAT_OK(dat_ep_create(server.ia, server.pz, server.recv, server.request,
                             server.conn, NULL, &accepted[i]));
        DAT_OK(dat_cr_accept(cr, accepted[i], 0, NULL));
    }
    for (int i = 0; i < N; i++) {
        EXPECT_EVENT(client.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
        EXPECT_EVENT(server.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
    for (int i = 0; i < N; i++) {
        DAT_OK(dat_ep_free(ep[i]));
        DAT_OK(dat_ep_free(accepted[i]));
    }
    ends_close(&client, &server);
}

/* ------------------------------------------------------ endpoint states --- */

static void ep_query(void **state)
{
    end_t a, b;
    DAT_EP_PARAM param;
    open_two(&a, &b);
    end_connect_both(&a, &b);
    DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));
    assert_ptr_equal(param.pz_handle, a.pz);
    assert_ptr_equal(param.recv_evd_handle, a.recv);
    assert_ptr_equal(param.request_evd_handle, a.request);
    assert_ptr_equal(param.connect_evd_handle, a.conn);
    assert_null(param.srq_handle);
    assert_int_equal(param.ep_state, DAT_EP_STATE_CONNECTED);
    assert_int_equal(param.remote_port_qual, b.qual);
    assert_non_null(param.remote_ia_address_ptr);
    assert_int_equal(param.ep_attr.service_type, DAT_SERVICE_TYPE_RC);
    assert_true(param.ep_attr.max_message_size > 0);
    assert_true(param.ep_attr.max_recv_dtos > 0);
    assert_true(param.ep_attr.max_request_dtos > 0);
    ends_close(&a, &b);
}

static void ep_attributes(void **state)
{
    end_t end;
    DAT_EP_PARAM param;
    end_open(&end, NULL);
    DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
    param.ep_attr.max_recv_dtos = 33;
    param.ep_attr.max_request_dtos = 77;
    DAT_OK(dat_ep_modify(end.ep,
                         DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                             DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                         &param));
    DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
    assert_true(param.ep_attr.max_recv_dtos >= 33);
    assert_true(param.ep_attr.max_request_dtos >= 77);

    /* an endpoint with attributes asked for, and with too much asked for */
    DAT_EP_ATTR attr = param.ep_attr;
    DAT_EP_HANDLE ep;
    DAT_OK(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.conn, &attr,
                         &ep));
    DAT_OK(dat_ep_free(ep));
    attr.max_request_dtos = 1 << 30;
    assert_true(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.conn,
                              &attr, &ep) != DAT_SUCCESS);
    end_close(&end);
}

static void ep_modify_needs_unconnected(void **state)
{
    end_t a, b;
    DAT_EP_PARAM param;
    open_two(&a, &b);
    end_connect_both(&a, &b);
    DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));
    DAT_FAILS(dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param),
              DAT_INVALID_STATE);
    ends_close(&a, &b);
}

static void operations_in_wrong_states(void **state)
{
    end_t a, b;
    DAT_LMR_TRIPLET iov;
    DAT_RMR_TRIPLET target;
    end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&b, NULL);
    iov = local(&a.mem, 0, 8);
    target = remote(&a.mem, 64, 8);

    DAT_FAILS(dat_ep_post_send(a.ep, 1, &iov, cookie(1), 0), DAT_INVALID_STATE);
    DAT_FAILS(dat_ep_post_rdma_write(a.ep, 1, &iov, cookie(1), &target, 0),
              DAT_INVALID_STATE);
    DAT_FAILS(dat_ep_post_rdma_read(a.ep, 1, &iov, cookie(1), &target, 0),
              DAT_INVALID_STATE);
    DAT_FAILS(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG),
              DAT_INVALID_STATE);
    DAT_OK(dat_ep_reset(a.ep)); /* unconnected already */

    end_connect_both(&a, &b);
    DAT_FAILS(end_connect(&a, b.qual), DAT_INVALID_STATE);
    DAT_FAILS(dat_ep_reset(a.ep), DAT_INVALID_STATE);

    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    assert_int_equal(ep_state(&a), DAT_EP_STATE_DISCONNECTED);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG)); /* no effect */
    DAT_FAILS(end_connect(&a, b.qual), DAT_INVALID_STATE);
    /* posted on a disconnected endpoint: completes, flushed */
    DAT_OK(dat_ep_post_send(a.ep, 1, &iov, cookie(2), 0));
    EXPECT_DTO(a.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    DAT_OK(dat_ep_post_recv(a.ep, 1, &iov, cookie(3), 0));
    EXPECT_DTO(a.recv, 3, DAT_DTO_ERR_FLUSHED, 0);
    ends_close(&a, &b);
}

static void status_tells_idle(void **state)
{
    end_t end;
    DAT_EP_STATE ep_state;
    DAT_BOOLEAN recv_idle, request_idle;
    DAT_LMR_TRIPLET iov;
    end_open_memory(&end, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(dat_ep_get_status(end.ep, &ep_state, &recv_idle, &request_idle));
    assert_int_equal(ep_state, DAT_EP_STATE_UNCONNECTED);
    assert_true(recv_idle);
    assert_true(request_idle);
    iov = local(&end.mem, 0, 8);
    DAT_OK(dat_ep_post_recv(end.ep, 1, &iov, cookie(1), 0));
    DAT_OK(dat_ep_get_status(end.ep, &ep_state, &recv_idle, &request_idle));
    assert_false(recv_idle);
    assert_true(request_idle);
    end_close(&end);
}

static void disconnect_flushes(void **state, DAT_CLOSE_FLAGS flags, bool here)
{
    enum { N = 5 };
    end_t a, b;
    DAT_LMR_TRIPLET iov;
    end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&b, NULL);
    end_connect_both(&a, &b);
    iov = local(&a.mem, 0, 64);
    for (uint64_t i = 0; i < N; i++)
        DAT_OK(dat_ep_post_recv(a.ep, 1, &iov, cookie(i), 0));
    DAT_OK(dat_ep_disconnect(here ? a.ep : b.ep, flags));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (uint64_t i = 0; i < N; i++)
        EXPECT_DTO(a.recv, i, DAT_DTO_ERR_FLUSHED, 0);
    expect_silence(a.recv, 10);
    expect_silence(a.conn, 10);
    expect_silence(b.conn, 10);
    DAT_OK(dat_ep_reset(a.ep));
    DAT_OK(dat_ep_reset(b.ep));
    end_connect_both(&b, &a); /* and the other way round */
    ends_close(&a, &b);
}

static void disconnect_gracefully(void **state)
{
    disconnect_flushes(state, DAT_CLOSE_GRACEFUL_FLAG, true);
}

static void disconnect_abruptly(void **state)
{
    disconnect_flushes(state, DAT_CLOSE_ABRUPT_FLAG, true);
}

static void disconnect_by_the_peer(void **state)
{
    disconnect_flushes(state, DAT_CLOSE_GRACEFUL_FLAG, false);
}

/* A graceful disconnect first delivers what was sent. */
static void graceful_disconnect_delivers(void **state)
{
    enum { N = 20 };
    end_t a, b;
    DAT_LMR_TRIPLET iov;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    end_connect_both(&a, &b);
    for (uint64_t i = 0; i < N; i++) {
        iov = local(&b.mem, i * 64, 64);
        DAT_OK(dat_ep_post_recv(b.ep, 1, &iov, cookie(i), 0));
    }
    for (uint64_t i = 0; i < N; i++) {
        iov = local(&a.mem, i * 64, 64);
        DAT_OK(dat_ep_post_send(a.ep, 1, &iov, cookie(i), 0));
    }
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    for (uint64_t i = 0; i < N; i++)
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, 64);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (uint64_t i = 0; i < N; i++)
        EXPECT_DTO(a.request, i, DAT_DTO_SUCCESS, 64);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

static void free_while_connected(void **state)
{
    end_t a, b;
    open_two(&a, &b);
    end_connect_both(&a, &b);
    DAT_OK(dat_ep_free(a.ep));
    a.ep = NULL;
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

static void connect_many_times(void **state)
{
    peer_t peer;
    end_t me;
    peer_start(&peer, &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, 64,
                                        DAT_MEM_PRIV_ALL_FLAG});
    end_open(&me, NULL);
    for (int i = 0; i < 100; i++) {
        peer_connect(&peer, &me);
        if (i % 2)
            peer_disconnect(&peer, DAT_CLOSE_GRACEFUL_FLAG);
        else
            DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
        EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        peer_expect_event(&peer, EVD_CONN, DAT_CONNECTION_EVENT_DISCONNECTED);
        DAT_OK(dat_ep_reset(me.ep));
        peer_reset(&peer);
    }
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(psp_life),
        cmocka_unit_test(conn_qual_of_another_process),
        cmocka_unit_test(psp_any_are_different),
        cmocka_unit_test(rsp_takes_one_request),
        cmocka_unit_test(rsp_freed_releases_its_ep),
        cmocka_unit_test(accept_with_private_data),
        cmocka_unit_test(private_data_too_long),
        cmocka_unit_test(reject_with_private_data),
        cmocka_unit_test(no_such_service),
        cmocka_unit_test(no_such_address),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(many_requests_wait),
        cmocka_unit_test(ep_query),
        cmocka_unit_test(ep_attributes),
        cmocka_unit_test(ep_modify_needs_unconnected),
        cmocka_unit_test(operations_in_wrong_states),
        cmocka_unit_test(status_tells_idle),
        cmocka_unit_test(disconnect_gracefully),
        cmocka_unit_test(disconnect_abruptly),
        cmocka_unit_test(disconnect_by_the_peer),
        cmocka_unit_test(graceful_disconnect_delivers),
        cmocka_unit_test(free_while_connected),
        cmocka_unit_test(connect_many_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
