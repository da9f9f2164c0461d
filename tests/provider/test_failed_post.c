/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of a receiver. When a request of its own fails, messages that have
 * arrived before are still received, as their senders were told. When a receive
 * finds no room for its event, no later message is received. */
#include "peer.h"

#define BYTES 64

static void a_message_before_it(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET in = local(&b.mem, 0, 8), out = local(&a.mem, 0, 8);
    DAT_RMR_TRIPLET nowhere = remote(&a.mem, 0, 8);
    nowhere.rmr_context++;
    fill(a.mem.data, 8, 1);
    DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(1), 0));
    DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(1), 0));
    EXPECT_DTO(a.request, 1, DAT_DTO_SUCCESS, 8);

    DAT_OK(dat_ep_post_rdma_write(b.ep, 1, &in, cookie(2), &nowhere, 0));
    EXPECT_DTO(b.request, 2, DAT_DTO_ERR_REMOTE_ACCESS, 0);
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, 8);
    assert_memory_equal(b.mem.data, a.mem.data, 8);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_BROKEN);
    ends_close(&a, &b);
}

static void none_after_one_that_was_lost(void **state)
{
    enum { ROOM = 2, MESSAGES = ROOM + 2 };
    end_t a, b;
    DAT_EP_PARAM small;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    DAT_OK(dat_evd_create(b.ia, ROOM, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                          &small.recv_evd_handle));
    DAT_OK(dat_ep_modify(b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &small));
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET in = local(&b.mem, 0, 8), out = local(&a.mem, 0, 8);
    for (uint64_t i = 0; i < MESSAGES; i++)
        DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(i), 0));
    for (uint64_t i = 0; i < MESSAGES - 1; i++)
        DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(i), 0));
    for (uint64_t i = 0; i < ROOM; i++)
        EXPECT_DTO(small.recv_evd_handle, i, DAT_DTO_SUCCESS, 8);
    DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(MESSAGES), 0));
    EXPECT_DTO(small.recv_evd_handle, MESSAGES, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_BROKEN);
    end_close(&a);
    DAT_OK(dat_ep_free(b.ep));
    b.ep = DAT_HANDLE_NULL;
    DAT_OK(dat_evd_free(small.recv_evd_handle));
    end_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_before_it),
        cmocka_unit_test(none_after_one_that_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
