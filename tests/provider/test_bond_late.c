/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond handles events of its members late: its threads have no core, or one
 * member is slower than the other. */
#include <stdatomic.h>

#include "dapl_rail/platform/busywait.h"
#include "providers/core/extensions.h"
#include "util.h"

#define BYTES 64
/* They wake the bond's thread as often as 1024 EPs of eight members, which end
 * at the same time. */
#define CALLS 10000
/* The bond waits for a late member for 200 ms. */
#define PATIENCE_NS 150000000

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-two", "a b"},
};

/* --------------------------------------------- between bond and members --- */

static DAT_EVD_HANDLE connections, completions; /* of a, of the first bond that
                                                   was opened */
static atomic_bool stops;    /* the thread that takes its connection events */
static atomic_bool stopped;  /* that thread has an event */
static atomic_bool lags;     /* completions of a are not seen */
static atomic_bool no_syncs; /* no write is complete when it is posted */

STAND_IN DAT_RETURN dat_evd_create(DAT_IA_HANDLE ia, DAT_COUNT qlen,
                                   DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
                                   DAT_EVD_HANDLE *evd)
{
    DAT_RETURN ret = real(dat_evd_create)(ia, qlen, cno, flags, evd);
    if (ret != DAT_SUCCESS || strcmp(ia_of(*evd), "a"))
        return ret;
    if (!connections && flags & DAT_EVD_CR_FLAG)
        connections = *evd;
    if (!completions && flags & DAT_EVD_DTO_FLAG)
        completions = *evd;
    return ret;
}

STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    DAT_RETURN ret = real(dat_evd_wait)(evd, us, threshold, event, more);
    if (!stops || evd != connections || ret != DAT_SUCCESS)
        return ret;
    for (stopped = true; stops;)
        pause_ms(1);
    return ret;
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    return lags && evd == completions ? DAT_CLASS_ERROR | DAT_QUEUE_EMPTY
                                      : real(dat_evd_dequeue)(evd, event);
}

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *seg,
                                           DAT_DTO_COOKIE cookie_,
                                           const DAT_RMR_TRIPLET *there,
                                           DAT_COMPLETION_FLAGS flags)
{
    return no_syncs && flags & DAPL_RDMA_SYNC_FLAG
               ? DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES
               : real(dat_ep_post_rdma_write)(ep, n, seg, cookie_, there,
                                              flags);
}

/* ---------------------------------------------------------------- tests --- */

/* The stand-ins act on the first end. */
static void both_open(end_t *me, end_t *peer)
{
    connections = completions = DAT_HANDLE_NULL;
    setenv("TEST_IA", "bond-two", 1);
    ends_open(me, peer, MEMORY_MEMFD, BYTES);
}

static void await_stopped(void)
{
    while (!stopped)
        pause_ms(1);
    stopped = false;
}

/* The end of a member's connection is not lost. */
static void many_calls(void **state)
{
    end_t me, peer;
    both_open(&me, &peer);
    end_connect_both(&me, &peer);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, BYTES);
    DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(1),
                            DAT_COMPLETION_DEFAULT_FLAG));
    stops = true;
    for (unsigned i = 0; i < CALLS; i++)
        DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
    await_stopped();
    DAT_OK(dat_ep_disconnect(peer.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    stops = false;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_DTO(me.request, 1, DAT_DTO_ERR_FLUSHED, 0);
    ends_close(&me, &peer);
}

/* A request for a service point that is gone is not offered at another one. */
static void old_service_point(void **state)
{
    end_t me, peer;
    both_open(&me, &peer);
    stops = true;
    DAT_OK(end_connect(&peer, me.qual));
    await_stopped();
    DAT_OK(dat_psp_free(me.psp));
    DAT_OK(dat_psp_create(me.ia, me.qual + 100, me.cr, DAT_PSP_CONSUMER_FLAG,
                          &me.psp));
    stops = false;
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_PEER_REJECTED);
    expect_silence(me.cr, 1);
    ends_close(&me, &peer);
}

/* The peer sees a write, and disconnects. The bond learns that over one member
 * before the other one reports the write. The write is not flushed. False: the
 * pause was so long that the bond may have given the other one up. */
static bool write_is_last(void)
{
    end_t me, peer;
    DAT_EVENT event;
    both_open(&me, &peer);
    memset(peer.mem.data, 0, 8);
    memset(me.mem.data, 1, 8);
    end_connect_both(&me, &peer);
    pause_ms(200); /* for both members to join */
    lags = no_syncs = true;
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.mem, 0, 8);
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &seg, cookie(1), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    while (!atomic_load((_Atomic uint64_t *)peer.mem.data))
        dat_evd_dequeue(me.request, &event);
    const uint64_t began = busywait_now_ns();
    DAT_OK(dat_ep_disconnect(peer.ep, DAT_CLOSE_GRACEFUL_FLAG));
    pause_ms(50);
    lags = no_syncs = false;
    const bool in_time = busywait_now_ns() - began < PATIENCE_NS;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    if (in_time)
        EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, 8);
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&me, &peer);
    return in_time;
}

static void last_write(void **state)
{
    unsigned tries = 1;
    while (!write_is_last())
        assert_true(++tries < 10);
}

/* The first link is lost before the peer has introduced itself, so no other
 * link can join. The consumer learns that the attempt failed. */
static void unknown_peer(void **state)
{
    end_t me, peer;
    both_open(&me, &peer);
    lags = true;
    DAT_OK(end_connect(&me, peer.qual));
    DAT_OK(dat_cr_accept(end_asked(&peer), peer.ep, 0, NULL));
    pause_ms(50);
    DAT_OK(dat_ep_disconnect(peer.ep, DAT_CLOSE_ABRUPT_FLAG));
    pause_ms(50);
    lags = false;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&me, &peer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_calls),
        cmocka_unit_test(old_service_point),
        cmocka_unit_test(last_write),
        cmocka_unit_test(unknown_peer),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}
