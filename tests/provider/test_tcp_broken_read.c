/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection ends while the answer to a read arrives: libfabric does not use
 * the state of that read again for another request, over any connection.
 */
#include "tcp.h"

#include <stdatomic.h>

#define BYTES    (32u << 20) /* so much takes long enough to be interrupted */
#define SHORT    4096
#define ROUNDS   4
#define MESSAGES 8

static const peer_options_t in_a_process = {PEER_PROCESS, MEMORY_MALLOC, BYTES,
                                            DAT_MEM_PRIV_ALL_FLAG};

/* The contents of the peer's memory, to compare with. */
static unsigned char *filled(peer_t *peer)
{
    unsigned char *all = malloc(GUARD + BYTES);
    assert_non_null(all);
    fill(all, GUARD + BYTES, 1);
    peer_fill(peer, 1);
    return all;
}

/* Has it begun, and not come to its end? */
static bool interrupt_read(end_t *me, const peer_t *peer,
                           const unsigned char *theirs)
{
    _Atomic unsigned char *first = (void *)me->mem.data;
    DAT_LMR_TRIPLET here = local(&me->mem, 0, BYTES);
    DAT_RMR_TRIPLET there = remote(&peer->end.mem, 0, BYTES);
    memset(me->mem.data, ~theirs[0], BYTES);
    DAT_OK(dat_ep_post_rdma_read(me->ep, 1, &here, cookie(1), &there, 0));
    while (*first != theirs[0])
        ;
    DAT_OK(dat_ep_disconnect(me->ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(me->conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(me->request, WAIT_MS * 1000, 1, &event, &more));
    return event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS;
}

static void connect_again(end_t *me, peer_t *peer)
{
    DAT_EVENT event;
    DAT_OK(peer_wait(peer, EVD_CONN, WAIT_MS, &event));
    DAT_OK(dat_ep_reset(me->ep));
    peer_reset(peer);
    peer_connect(peer, me);
}

static size_t bytes_of(unsigned message)
{
    return 100 * (message + 1);
}

static void exchange_messages(end_t *me, peer_t *peer,
                              const unsigned char *theirs)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        DAT_LMR_TRIPLET here = local(&me->mem, i * SHORT, SHORT);
        DAT_OK(dat_ep_post_recv(me->ep, 1, &here, cookie(i), 0));
    }
    for (unsigned i = 0; i < MESSAGES; i++)
        peer_post_send(peer, i * SHORT, bytes_of(i), i, 0);
    for (unsigned i = 0; i < MESSAGES; i++) {
        EXPECT_DTO(me->recv, i, DAT_DTO_SUCCESS, bytes_of(i));
        assert_memory_equal(me->mem.data + i * SHORT, theirs + i * SHORT,
                            bytes_of(i));
    }
}

static void in_the_midst(void **state)
{
    peer_t peer;
    end_t me;
    peer_open(&peer, &me, &in_a_process);
    unsigned char *all = filled(&peer), *theirs = all + GUARD;
    for (unsigned round = 0, tries = 0; round < ROUNDS; tries++) {
        assert_true(tries < 100);
        round += interrupt_read(&me, &peer, theirs);
        connect_again(&me, &peer);
        exchange_messages(&me, &peer, theirs);
    }
    free(all);
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_midst),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
