/* SPDX-License-Identifier: BSD-3-Clause */
/* EPs without the EVD that an operation needs. */
#include "util.h"

/* Without a recv EVD there is nowhere to tell of a message: an EP with a
 * shared receive queue is not configured then, and can't be connected. */
static void srq_without_recv_evd(void **state)
{
    NEEDS(max_srqs);
    end_t a, b;
    DAT_SRQ_ATTR attr = {.max_recv_dtos = 4, .max_recv_iov = 1};
    DAT_SRQ_HANDLE srq;
    DAT_EP_PARAM param;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    DAT_OK(dat_srq_create(b.ia, b.pz, &attr, &srq));
    DAT_OK(dat_ep_free(b.ep));
    DAT_OK(dat_ep_create_with_srq(b.ia, b.pz, DAT_HANDLE_NULL, b.request,
                                  b.conn, srq, NULL, &b.ep));
    DAT_OK(dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &param));
    assert_int_equal(param.ep_state, DAT_EP_STATE_UNCONFIGURED_UNCONNECTED);
    DAT_FAILS(end_connect(&b, a.qual), DAT_INVALID_STATE);
    DAT_OK(end_connect(&a, b.qual));
    DAT_CR_HANDLE cr = end_asked(&b);
    DAT_FAILS(dat_cr_accept(cr, b.ep, 0, NULL), DAT_INVALID_STATE);

    /* with one it can */
    param.recv_evd_handle = b.recv;
    DAT_OK(dat_ep_modify(b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param));
    DAT_LMR_TRIPLET in = local(&b.mem, 0, 64), out = local(&a.mem, 0, 64);
    DAT_OK(dat_srq_post_recv(srq, 1, &in, cookie(1)));
    DAT_OK(dat_cr_accept(cr, b.ep, 0, NULL));
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(2), 0));
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, 64);
    DAT_OK(dat_ep_free(b.ep));
    b.ep = NULL;
    DAT_OK(dat_srq_free(srq));
    ends_close(&a, &b);
}

static void bind_without_request_evd(void **state)
{
    NEEDS(max_rmrs);
    end_t a, b;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
    end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&b, NULL);
    DAT_OK(dat_ep_free(a.ep));
    DAT_OK(dat_ep_create(a.ia, a.pz, a.recv, DAT_HANDLE_NULL, a.conn, NULL,
                         &a.ep));
    end_connect_both(&a, &b);
    DAT_OK(dat_rmr_create(a.pz, &rmr));
    DAT_LMR_TRIPLET part = local(&a.mem, 0, 64);
    DAT_FAILS(dat_rmr_bind(rmr, a.mem.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                           DAT_VA_TYPE_VA, a.ep, cookie(1), 0, &context),
              DAT_INVALID_STATE);
    DAT_FAILS(dat_ep_post_send(a.ep, 1, &part, cookie(2), 0),
              DAT_INVALID_STATE);
    DAT_OK(dat_rmr_free(rmr));
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(srq_without_recv_evd),
        cmocka_unit_test(bind_without_request_evd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
