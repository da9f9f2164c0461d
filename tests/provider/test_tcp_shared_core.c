/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A consumer that shares its core polls seldom, but all the time that it has
 * the core. The IA's thread leaves its messages to it, instead of waking up for
 * each, which would take even more of the core.
 */
#include "tcp.h"
#include "tests/sanitizers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>

#define MESSAGES   20
#define FEW        5   /* wake-ups, for so many */
#define WANTED     10  /* rounds with so few, … */
#define ROUNDS     600 /* … of so many: others disturb some */
#define POLLS      8
#define MANY_POLLS 1000
#define NAP_NS     200000 /* of others on the core */

static const peer_options_t in_a_process = {PEER_PROCESS, MEMORY_MALLOC, 64,
                                            DAT_MEM_PRIV_ALL_FLAG};

static atomic_uint woken, received;
static atomic_uint polls = POLLS, busy = 1; /* threads of the process */
static atomic_bool stop;
static bool waits; /* another thread, for events of the connection */

/* libfabric does not sleep. */
STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max,
                        int timeout)
{
    int n = real(epoll_wait)(fd, events, max, timeout);
    woken += timeout && n > 0;
    return n;
}

STAND_IN int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = real(clock_gettime)(id, t);
    if (id == CLOCK_PROCESS_CPUTIME_ID) {
        t->tv_sec *= busy;
        t->tv_nsec *= busy;
    }
    return rc;
}

static void *consume(void *arg)
{
    const end_t *me = arg;
    const struct timespec nap = {0, NAP_NS};
    DAT_EVENT event;
    while (!stop) {
        for (unsigned i = 0; i < polls; i++)
            received += dat_evd_dequeue(me->recv, &event) == DAT_SUCCESS;
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void *wait_for_end(void *arg)
{
    const end_t *me = arg;
    DAT_EVENT event;
    DAT_COUNT more;
    while (!stop)
        dat_evd_wait(me->conn, 100000, 1, &event, &more);
    return NULL;
}

static unsigned wakes_of_a_round(peer_t *peer, end_t *me)
{
    DAT_LMR_TRIPLET here = local(&me->mem, 0, 8);
    unsigned before = woken;
    received = 0;
    for (unsigned i = 0; i < MESSAGES; i++)
        DAT_OK(dat_ep_post_recv(me->ep, 1, &here, cookie(i), 0));
    for (unsigned i = 0; i < MESSAGES; i++)
        peer_post_send(peer, 0, 8, i, DAT_COMPLETION_SUPPRESS_FLAG);
    for (unsigned ms = 0; received < MESSAGES; ms++) {
        assert_true(ms < WAIT_MS);
        poll_pause();
    }
    return woken - before;
}

static void left_to_the_consumer(void **state)
{
    stop = false;
    peer_t peer;
    end_t me;
    pthread_t consumer, other;
    if (TSAN) /* a poll takes as long as other work of the consumer would */
        skip();
    unsigned few = 0;
    peer_open(&peer, &me, &in_a_process);
    assert_int_equal(pthread_create(&consumer, NULL, consume, &me), 0);
    if (waits)
        assert_int_equal(pthread_create(&other, NULL, wait_for_end, &me), 0);
    for (unsigned rounds = 0; few < WANTED; rounds++) {
        assert_true(rounds < ROUNDS);
        few += wakes_of_a_round(&peer, &me) <= FEW;
    }
    stop = true;
    assert_int_equal(pthread_join(consumer, NULL), 0);
    if (waits)
        assert_int_equal(pthread_join(other, NULL), 0);
    peer_close(&peer, &me);
}

/* Others of the process have all cores of a large machine. */
static void though_others_compute(void **state)
{
    polls = MANY_POLLS;
    busy = 400;
    left_to_the_consumer(state);
}

/* Another thread waits for events that no message brings. */
static void though_another_waits(void **state)
{
    waits = true;
    left_to_the_consumer(state);
    waits = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_to_the_consumer),
        cmocka_unit_test(though_another_waits),
        cmocka_unit_test(though_others_compute),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
