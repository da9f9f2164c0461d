/* SPDX-License-Identifier: BSD-3-Clause */
/* A request that fails ends the connection; what has arrived before is received
 * all the same: its sender was told so. */
#include "peer.h"

#define BYTES 64

static void a_message_before_it(void **state)
{
    (void)state;
    end_t a, b;
    end_open_memory(&a, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    end_open_memory(&b, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
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
    end_close(&a);
    end_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
