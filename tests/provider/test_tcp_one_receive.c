/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message waits for its receive, and another thread fills the receive as soon
 * as libfabric has it: before the call that posts it has returned.
 */
#include "tcp.h"

#include <pthread.h>
#include <stdatomic.h>

#define MESSAGES 8
#define LOOKS    100 /* of the other thread, in which it finds the message */

static const peer_options_t in_a_process = {PEER_PROCESS, MEMORY_MALLOC, 64,
                                            DAT_MEM_PRIV_ALL_FLAG};

static struct {
    pthread_t thread;
    atomic_bool stop;
    atomic_uint looks;
} other;

static _Thread_local bool posting;

/* The provider calls it when it has let go of its locks. */
STAND_IN int pthread_setcancelstate(int state, int *old)
{
    if (posting && !old)
        for (unsigned first = other.looks; other.looks - first < LOOKS;)
            ;
    return real(pthread_setcancelstate)(state, old);
}

/* There is nothing on this EVD, but looking moves all that the IA has. */
static void *look_for_requests(void *arg)
{
    const end_t *me = arg;
    DAT_EVENT event;
    for (; !other.stop; other.looks++)
        assert_true(DAT_GET_TYPE(dat_evd_dequeue(me->request, &event)) ==
                    DAT_QUEUE_EMPTY);
    return NULL;
}

static void filled_at_once(void **state)
{
    peer_t peer;
    end_t me;
    peer_start(&peer, &in_a_process);
    end_open_memory(&me, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&peer, &me);
    DAT_LMR_TRIPLET here = local(&me.mem, 0, 8);
    assert_int_equal(
        pthread_create(&other.thread, NULL, look_for_requests, &me), 0);
    for (unsigned i = 0; i < MESSAGES; i++)
        peer_post_send(&peer, 0, 8, i, DAT_COMPLETION_SUPPRESS_FLAG);
    for (unsigned i = 0; i < MESSAGES; i++) {
        posting = true;
        DAT_OK(dat_ep_post_recv(me.ep, 1, &here, cookie(i), 0));
        posting = false;
        EXPECT_DTO(me.recv, i, DAT_DTO_SUCCESS, 8);
    }
    other.stop = true;
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_at_once),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
