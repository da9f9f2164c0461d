/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine that stands still while a connection is being made, for longer than
 * that may take, and then goes on: the peer had no time to confirm it. The
 * manager of the rail that asks is held; the clock is the test's.
 */
#include "peer.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INSTEAD_OF_LIBC __attribute__((visibility("default")))
#define SECOND          1000000000ll
#define STANDSTILL      60 /* seconds */

static atomic_int asking_fd = -1, answering_fd = -1; /* of managers' waits */
static atomic_bool held;                             /* the asking one is */
static atomic_uint looks;                            /* of the answering one */
static atomic_bool hurries; /* its sleeps pass at once, on the clock only */
static atomic_llong ahead_ns;

INSTEAD_OF_LIBC int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (rc || id != CLOCK_MONOTONIC)
        return rc;
    long long ns = t->tv_nsec + atomic_load(&ahead_ns);
    t->tv_sec += ns / SECOND;
    t->tv_nsec = ns % SECOND;
    return 0;
}

INSTEAD_OF_LIBC int epoll_wait(int fd, struct epoll_event *events, int max,
                               int ms)
{
    int nobody = -1;
    if (!atomic_compare_exchange_strong(&asking_fd, &nobody, fd) &&
        nobody != fd)
        atomic_store(&answering_fd, fd);
    bool answers = fd == atomic_load(&answering_fd);
    bool hurry = answers && ms > 0 && atomic_load(&hurries);
    if (answers)
        atomic_fetch_add(&looks, 1);
    int n =
        (int)syscall(SYS_epoll_pwait, fd, events, max, hurry ? 1 : ms, NULL, 8);
    if (hurry && !n)
        atomic_fetch_add(&ahead_ns, ms * SECOND / 1000);
    while (!answers && atomic_load(&held))
        poll_pause();
    return n;
}

static void await(atomic_int *what, int other_than)
{
    for (int i = 0; atomic_load(what) == other_than; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

static void ask(end_t *from, const end_t *to)
{
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(from->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    DAT_OK(dat_ep_connect(from->ep, attr.ia_address_ptr, to->qual,
                          DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG));
}

/* Until the answering manager has begun to sleep once more. */
static void let_it_look(void)
{
    unsigned before = atomic_load(&looks);
    for (int i = 0; atomic_load(&looks) - before < 2; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

/* Accepted, and not confirmed. */
static void begin(end_t *asks, end_t *answers)
{
    atomic_store(&asking_fd, -1);
    atomic_store(&answering_fd, -1);
    end_open(asks, NULL);
    await(&asking_fd, -1);
    end_open(answers, NULL);
    await(&answering_fd, -1);
    ask(asks, answers);
    DAT_EVENT event = EXPECT_EVENT(answers->cr, DAT_CONNECTION_REQUEST_EVENT);
    atomic_store(&held, true);
    DAT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle,
                         answers->ep, 0, NULL));
}

static void end(end_t *asks, end_t *answers)
{
    end_close(asks);
    end_close(answers);
}

static void confirmed_after_a_standstill(void **state)
{
    (void)state;
    end_t asks, answers;
    begin(&asks, &answers);
    atomic_fetch_add(&ahead_ns, STANDSTILL * SECOND);
    let_it_look();
    atomic_store(&held, false);
    EXPECT_EVENT(asks.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(answers.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    end(&asks, &answers);
}

static void never_confirmed(void **state)
{
    (void)state;
    end_t asks, answers;
    begin(&asks, &answers);
    atomic_store(&hurries, true);
    EXPECT_EVENT(answers.conn, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    atomic_store(&hurries, false);
    atomic_store(&held, false);
    end(&asks, &answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confirmed_after_a_standstill),
        cmocka_unit_test(never_confirmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
