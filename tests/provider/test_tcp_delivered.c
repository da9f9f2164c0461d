/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over TCP, too, a completion means that the peer has the data, not that the
 * systems between keep them. A stopped peer receives nothing.
 */
#include "tcp.h"

#include <signal.h>
#include <sys/wait.h>

static const peer_options_t in_a_process = {PEER_PROCESS, MEMORY_MALLOC, 4096,
                                            DAT_MEM_PRIV_ALL_FLAG};

/* A write without an event, one with; and a message that has no receive. */
static void post_some(end_t *me, const peer_t *peer)
{
    DAT_LMR_TRIPLET here = local(&me->mem, 0, 8);
    DAT_RMR_TRIPLET there = remote(&peer->end.mem, 0, 8);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &here, cookie(0), &there,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &here, cookie(1), &there, 0));
    DAT_OK(dat_ep_post_send(me->ep, 1, &here, cookie(2), 0));
}

static void stopped_peer(end_t *me, peer_t *peer)
{
    peer_start(peer, &in_a_process);
    end_open_memory(me, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(peer, me);
    assert_int_equal(kill(peer->pid, SIGSTOP), 0);
    int status;
    assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
    assert_true(WIFSTOPPED(status));
}

static void posted_to_stopped_peer(end_t *me, peer_t *peer)
{
    stopped_peer(me, peer);
    post_some(me, peer);
    expect_silence(me->request, 100);
}

static void goes_on(void **state)
{
    peer_t peer;
    end_t me;
    posted_to_stopped_peer(&me, &peer);
    assert_int_equal(kill(peer.pid, SIGCONT), 0);
    EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, 8);
    expect_silence(me.request, 100); /* there is no receive */
    peer_post_recv(&peer, 0, 8, 3);
    EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, 8);
    peer_close(&peer, &me);
}

/* A write of nothing tells, too, that all before it is there. */
static void nothing_tells_of_all_before(void **state)
{
    peer_t peer;
    end_t me;
    stopped_peer(&me, &peer);
    DAT_LMR_TRIPLET here = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.end.mem, 0, 8), none = {0};
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &here, cookie(0), &to,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_OK(dat_ep_post_rdma_write(me.ep, 0, NULL, cookie(1), &none, 0));
    expect_silence(me.request, 100);
    assert_int_equal(kill(peer.pid, SIGCONT), 0);
    EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, 0);
    peer_close(&peer, &me);
}

/* Requests that the peer has not acknowledged are flushed, in order. */
static void dies(void **state)
{
    peer_t peer;
    end_t me;
    posted_to_stopped_peer(&me, &peer);
    peer_kill(&peer);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_DTO(me.request, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(me.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    end_close(&me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on),
        cmocka_unit_test(nothing_tells_of_all_before),
        cmocka_unit_test(dies),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
