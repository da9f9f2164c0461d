/* SPDX-License-Identifier: BSD-3-Clause */
/* Counted writes (providers/core/extensions.h): the peer's EP counts them, and
 * the count stays when the connection has ended. */
#include "providers/core/extensions.h"
#include "util.h"

#define BYTES 4096
#define SHORT 20 /* writes */

static void post_write(end_t *me, const end_t *peer, uint64_t number,
                       size_t bytes, int flags)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 0, bytes);
    DAT_RMR_TRIPLET to = remote(&peer->mem, 0, bytes);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(number), &to,
                                  (DAT_COMPLETION_FLAGS)flags));
}

static uint64_t count_of(const end_t *end)
{
    DAT_UINT64 count = 99;
    DAT_OK(dapl_writes_counted(end->ep, &count));
    return count;
}

static void skip_if_missing(end_t *me, end_t *peer)
{
    if (provider_attribute(me->ia, DAPL_COUNTED_WRITES))
        return;
    end_close(me);
    end_close(peer);
    skip();
}

static void counted(void **state)
{
    end_t me, peer;
    DAT_EVENT event;
    ends_open(&me, &peer, MEMORY_MEMFD, BYTES);
    skip_if_missing(&me, &peer);
    assert_int_equal(count_of(&me), 0);
    end_connect_both(&me, &peer);
    for (unsigned i = 0; i < SHORT; i++)
        post_write(&me, &peer, i, 8,
                   DAPL_WRITE_COUNTED_FLAG | DAT_COMPLETION_SUPPRESS_FLAG);
    post_write(&me, &peer, 100, BYTES, DAT_COMPLETION_DEFAULT_FLAG);
    post_write(&me, &peer, 101, 0, DAPL_WRITE_COUNTED_FLAG);
    post_write(&me, &peer, 102, BYTES, DAPL_WRITE_COUNTED_FLAG);
    EXPECT_DTO(me.request, 100, DAT_DTO_SUCCESS, BYTES);
    EXPECT_DTO(me.request, 101, DAT_DTO_SUCCESS, 0);
    EXPECT_DTO(me.request, 102, DAT_DTO_SUCCESS, BYTES);
    for (unsigned i = 0; count_of(&peer) <= SHORT && i < WAIT_MS; i++) {
        dat_evd_dequeue(peer.recv, &event); /* for progress */
        poll_pause();
    }
    assert_int_equal(count_of(&peer), SHORT + 1);
    assert_int_equal(count_of(&me), 0);
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    assert_int_equal(count_of(&peer), SHORT + 1);
    DAT_OK(dat_ep_reset(peer.ep));
    assert_int_equal(count_of(&peer), 0);
    ends_close(&me, &peer);
}

/* All that has arrived is counted when the connection ends abruptly, also what
 * the target has not polled for. */
static void ended(void **state)
{
    end_t me, peer;
    ends_open(&me, &peer, MEMORY_MEMFD, BYTES);
    skip_if_missing(&me, &peer);
    end_connect_both(&me, &peer);
    _Atomic uint64_t *from = (void *)me.mem.data, *to = (void *)peer.mem.data;
    *to = 0;
    for (uint64_t i = 1; i <= SHORT; i++) {
        *from = i;
        post_write(&me, &peer, i, 8,
                   DAPL_WRITE_COUNTED_FLAG | DAT_COMPLETION_SUPPRESS_FLAG);
    }
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    assert_int_equal(*to, count_of(&peer));
    ends_close(&me, &peer);
}

static void refused(void **state)
{
    end_t me, peer;
    ends_open(&me, &peer, MEMORY_MEMFD, BYTES);
    skip_if_missing(&me, &peer);
    end_connect_both(&me, &peer);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.mem, 0, 8);
    DAT_FAILS(
        dat_ep_post_rdma_read(me.ep, 1, &seg, cookie(1), &to,
                              (DAT_COMPLETION_FLAGS)DAPL_WRITE_COUNTED_FLAG),
        DAT_INVALID_PARAMETER);
    DAT_FAILS(dapl_writes_counted(me.ep, NULL), DAT_INVALID_PARAMETER);
    ends_close(&me, &peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted),
        cmocka_unit_test(ended),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
