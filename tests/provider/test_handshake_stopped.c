/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine, or one of its threads, stands still while a connection is being
 * made, for longer than the time limit. Either the time does not count, or the
 * peer asks again. The manager of the asking rail is held back; the clock is
 * the test's.
 */
#include "peer.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND     1000000000ll
#define STANDSTILL 60 /* seconds */
#define PATIENCE_S 60

static atomic_int asking_fd = -1, answering_fd = -1; /* of managers' waits */
static atomic_bool held;    /* the asking one is, … */
static atomic_bool holds;   /* … by now */
static atomic_uint looks;   /* of the answering one */
static atomic_bool hurries; /* its sleeps pass at once, on the clock only */
static atomic_bool all_hurry;
static atomic_int deaf_fd = -1;  /* of a wait that tells of nothing */
static atomic_bool will_look[2]; /* the one that asks, answers: before long */
static atomic_bool stalls;       /* the next sender, until the peer gives up */
static atomic_llong ahead_ns;

STAND_IN int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (rc || id != CLOCK_MONOTONIC)
        return rc;
    long long ns = t->tv_nsec + atomic_load(&ahead_ns);
    t->tv_sec += ns / SECOND;
    t->tv_nsec = ns % SECOND;
    return 0;
}

/* Without a limit, it would sleep for ever. */
static int wait_deaf(int ms)
{
    do
        poll_pause();
    while (ms < 0 && atomic_load(&deaf_fd) >= 0);
    return 0;
}

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
    int nobody = -1;
    if (!atomic_compare_exchange_strong(&asking_fd, &nobody, fd) &&
        nobody != fd)
        atomic_store(&answering_fd, fd);
    bool answers = fd == atomic_load(&answering_fd);
    atomic_store(&will_look[answers], ms >= 0);
    if (fd == atomic_load(&deaf_fd))
        return wait_deaf(ms);
    bool hurry = ms > 0 && (atomic_load(&all_hurry) ||
                            (answers && atomic_load(&hurries)));
    if (answers)
        atomic_fetch_add(&looks, 1);
    int n =
        (int)syscall(SYS_epoll_pwait, fd, events, max, hurry ? 1 : ms, NULL, 8);
    if (hurry && !n)
        atomic_fetch_add(&ahead_ns, ms * SECOND / 1000);
    while (!answers && atomic_load(&held)) {
        atomic_store(&holds, true);
        poll_pause();
    }
    return fd == atomic_load(&deaf_fd) ? 0 : n;
}

/* Until the peer has given it up, if the sender is to stall. */
STAND_IN ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    if (atomic_exchange(&stalls, false)) {
        atomic_store(&hurries, true);
        for (int i = 0; !(end.revents & POLLHUP); i++) {
            assert_true(i < WAIT_MS);
            poll(&end, 1, 0);
            poll_pause();
        }
        atomic_store(&hurries, false);
    }
    return syscall(SYS_sendmsg, fd, message, flags);
}

static void await(atomic_int *what, int other_than)
{
    for (int i = 0; atomic_load(what) == other_than; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

static void ask(end_t *from, const end_t *to, DAT_TIMEOUT us)
{
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(from->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    DAT_OK(dat_ep_connect(from->ep, attr.ia_address_ptr, to->qual, us, 0, NULL,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
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

static void open_ends(end_t *asks, end_t *answers)
{
    atomic_store(&asking_fd, -1);
    atomic_store(&answering_fd, -1);
    for (int answers_too = 0; answers_too < 2; answers_too++)
        atomic_store(&will_look[answers_too], false);
    end_open(asks, NULL);
    await(&asking_fd, -1);
    end_open(answers, NULL);
    await(&answering_fd, -1);
}

static void answer(end_t *answers, DAT_CR_HANDLE cr)
{
    DAT_OK(dat_cr_accept(cr, answers->ep, 0, NULL));
}

static void established(end_t *asks, end_t *answers)
{
    EXPECT_EVENT(asks->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(answers->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* It has come to nothing any more when this returns. */
static void hold(void)
{
    atomic_store(&holds, false);
    atomic_store(&held, true);
    for (int i = 0; !atomic_load(&holds); i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

/* Accepted, and not confirmed. */
static void begin(end_t *asks, end_t *answers, DAT_TIMEOUT us)
{
    open_ends(asks, answers);
    ask(asks, answers, us);
    DAT_CR_HANDLE cr = end_asked(answers);
    hold();
    answer(answers, cr);
}

/* In real time: the clock hurries. */
static void await_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
    DAT_EVENT event;
    for (int i = 0; dat_evd_dequeue(evd, &event) != DAT_SUCCESS; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    assert_int_equal(event.event_number, number);
}

/* The answering side waits for the confirmation until it is too late. */
static void give_up(end_t *answers)
{
    atomic_store(&hurries, true);
    await_event(answers->conn, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    atomic_store(&hurries, false);
    DAT_OK(dat_ep_reset(answers->ep));
}

static void confirmed_after_a_standstill(void **state)
{
    end_t asks, answers;
    begin(&asks, &answers, DAT_TIMEOUT_INFINITE);
    atomic_fetch_add(&ahead_ns, STANDSTILL * SECOND);
    let_it_look();
    atomic_store(&held, false);
    established(&asks, &answers);
    ends_close(&asks, &answers);
}

/* A request that is looked at only then has not been refused. */
static void asks_again(void **state)
{
    end_t asks, answers;
    begin(&asks, &answers, DAT_TIMEOUT_INFINITE);
    for (int late = 0; late < 3; late++) {
        give_up(&answers);
        atomic_store(&held, false);
        DAT_CR_HANDLE cr = end_asked(&answers);
        if (late < 2)
            hold();
        answer(&answers, cr);
    }
    established(&asks, &answers);
    ends_close(&asks, &answers);
}

/* Before it has said what it wants. */
static void asks_late(void **state)
{
    end_t asks, answers;
    open_ends(&asks, &answers);
    atomic_store(&stalls, true);
    ask(&asks, &answers, DAT_TIMEOUT_INFINITE);
    assert_false(atomic_load(&stalls));
    answer(&answers, end_asked(&answers));
    established(&asks, &answers);
    ends_close(&asks, &answers);
}

/* To ask again does not prolong its time. */
static void asks_again_in_vain(void **state)
{
    end_t asks, answers;
    begin(&asks, &answers, PATIENCE_S * 1000000);
    give_up(&answers);
    atomic_store(&held, false);
    DAT_CR_HANDLE cr = end_asked(&answers);
    atomic_store(&all_hurry, true);
    await_event(asks.conn, DAT_CONNECTION_EVENT_TIMED_OUT);
    atomic_store(&all_hurry, false);
    DAT_OK(dat_cr_reject(cr, 0, NULL));
    ends_close(&asks, &answers);
}

/* The listener is gone when its turn comes. */
static void nobody_is_left(void **state)
{
    end_t asks, answers;
    begin(&asks, &answers, DAT_TIMEOUT_INFINITE);
    give_up(&answers);
    end_close(&answers);
    atomic_store(&held, false);
    EXPECT_EVENT(asks.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    end_close(&asks);
}

/* No more is told to it: what it waits for it finds by itself. */
static void deafen(bool answers)
{
    for (int i = 0; !atomic_load(&will_look[answers]); i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    atomic_store(&deaf_fd, atomic_load(answers ? &answering_fd : &asking_fd));
}

static void not_told_of_the_answer(void **state)
{
    end_t asks, answers;
    open_ends(&asks, &answers);
    ask(&asks, &answers, DAT_TIMEOUT_INFINITE);
    DAT_CR_HANDLE cr = end_asked(&answers);
    deafen(false);
    answer(&answers, cr);
    established(&asks, &answers);
    atomic_store(&deaf_fd, -1);
    ends_close(&asks, &answers);
}

static void not_told_of_the_confirmation(void **state)
{
    end_t asks, answers;
    begin(&asks, &answers, DAT_TIMEOUT_INFINITE);
    deafen(true);
    atomic_store(&held, false);
    established(&asks, &answers);
    atomic_store(&deaf_fd, -1);
    ends_close(&asks, &answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confirmed_after_a_standstill),
        cmocka_unit_test(asks_again),
        cmocka_unit_test(asks_late),
        cmocka_unit_test(asks_again_in_vain),
        cmocka_unit_test(nobody_is_left),
        cmocka_unit_test(not_told_of_the_answer),
        cmocka_unit_test(not_told_of_the_confirmation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
