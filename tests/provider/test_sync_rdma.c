/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronous RDMA (providers/core/extensions.h): complete when posted, without
 * an event; or refused, and then nothing has moved. */
#include "providers/core/extensions.h"
#include "util.h"

#define BYTES 65536

static const DAT_COMPLETION_FLAGS sync_flag =
    (DAT_COMPLETION_FLAGS)DAPL_RDMA_SYNC_FLAG;

static DAT_RETURN access(end_t *me, const end_t *peer, bool reads, size_t bytes,
                         DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 0, bytes);
    DAT_RMR_TRIPLET to = remote(&peer->mem, 0, bytes);
    return (reads ? dat_ep_post_rdma_read : dat_ep_post_rdma_write)(
        me->ep, 1, &seg, cookie(1), &to, flags);
}

static void open_both(end_t *me, end_t *peer)
{
    ends_open(me, peer, MEMORY_MEMFD, BYTES);
    if (!provider_attribute(me->ia, DAPL_SYNC_RDMA)) {
        end_close(me);
        end_close(peer);
        skip();
    }
    end_connect_both(me, peer);
    fill(me->mem.data, BYTES, 1);
    fill(peer->mem.data, BYTES, 2);
}

static void at_once(void **state)
{
    end_t me, peer;
    open_both(&me, &peer);
    for (size_t bytes = 8; bytes <= BYTES; bytes *= 8) {
        fill(me.mem.data, BYTES, bytes);
        DAT_OK(access(&me, &peer, false, bytes, sync_flag));
        assert_memory_equal(peer.mem.data, me.mem.data, bytes);
        fill(peer.mem.data, BYTES, bytes + 1);
        DAT_OK(access(&me, &peer, true, bytes, sync_flag));
        assert_memory_equal(peer.mem.data, me.mem.data, bytes);
    }
    expect_silence(me.request, 20);
    ends_close(&me, &peer);
}

/* An earlier request is unfinished: the peer has no receive for it. */
static void behind_another(void **state)
{
    unsigned char before[BYTES];
    end_t me, peer;
    open_both(&me, &peer);
    memcpy(before, peer.mem.data, BYTES);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8), into = local(&peer.mem, 0, 8);
    DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(2),
                            DAT_COMPLETION_DEFAULT_FLAG));
    DAT_FAILS(access(&me, &peer, false, BYTES, sync_flag),
              DAT_INSUFFICIENT_RESOURCES);
    assert_memory_equal(peer.mem.data, before, BYTES);
    DAT_OK(dat_ep_post_recv(peer.ep, 1, &into, cookie(3),
                            DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(peer.recv, 3, DAT_DTO_SUCCESS, 8);
    EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, 8);
    DAT_OK(access(&me, &peer, false, BYTES, sync_flag));
    ends_close(&me, &peer);
}

/* A request that would fail breaks nothing. */
static void wrong_key(void **state)
{
    end_t me, peer;
    open_both(&me, &peer);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.mem, 0, 8);
    to.rmr_context += 1;
    DAT_FAILS(dat_ep_post_rdma_write(me.ep, 1, &seg, cookie(1), &to, sync_flag),
              DAT_INSUFFICIENT_RESOURCES);
    expect_silence(me.conn, 20);
    DAT_OK(access(&me, &peer, false, BYTES, sync_flag));
    ends_close(&me, &peer);
}

static void ended(void **state)
{
    end_t me, peer;
    open_both(&me, &peer);
    DAT_OK(dat_ep_disconnect(peer.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_FAILS(access(&me, &peer, false, 8, sync_flag),
              DAT_INSUFFICIENT_RESOURCES);
    expect_silence(me.request, 20);
    ends_close(&me, &peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_once),
        cmocka_unit_test(behind_another),
        cmocka_unit_test(wrong_key),
        cmocka_unit_test(ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
