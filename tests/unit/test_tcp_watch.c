/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sleeper watches the CQ's descriptor. If that stays readable without any
 * event, the sleeper does not poll it all the time. The descriptor and the
 * events are the test's.
 */
#include <errno.h>
#include <poll.h>

#include "unit.h"
#include "tests/stand_in.h"

#if __has_include(<rdma/fabric.h>)
#include "providers/ofi/ofi.h"

#ifndef __clang__ /* libc says of its ppoll that it only writes fds */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define BELL     1
#define CQ_FD    1000
#define NUDGE_FD 1001
#define LONG_NS  1000000000u
#define SLEEPS   5000

static struct core_ia ia;
static struct ofi_ia oia = {.cq_fd = CQ_FD, .nudge_fd = NUDGE_FD};
static unsigned wakes, naps, waits; /* by the CQ; for a moment; for long */
static bool readable, moves, interrupted;

void ofi_thread_wake(struct ofi_ia *unused)
{
}

bool ofi_look(struct ofi_ia *unused, bool *any)
{
    *any = moves;
    return true;
}

STAND_IN int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t,
                   const sigset_t *mask)
{
    bool cq = fds[0].fd == CQ_FD;
    fds[0].revents = cq && readable ? POLLIN : 0;
    fds[1].revents = 0;
    wakes += cq && readable;
    naps += !cq && t && t->tv_sec == 0 && t->tv_nsec > 0;
    waits += cq && !readable;
    errno = EINTR;
    return interrupted ? -1 : fds[0].revents != 0;
}

static int sleep_once(void)
{
    ofi_arm(&ia, BELL);
    return ofi_sleep(&ia, BELL, true, LONG_NS);
}

static void sleep_often(void)
{
    wakes = naps = waits = 0;
    for (unsigned i = 0; i < SLEEPS; i++)
        assert_int_equal(sleep_once(), 0);
}

static int begin(void **state)
{
    ia.tp = &oia;
    oia.ia = &ia;
    readable = moves = interrupted = false;
    oia.in_vain = 0;
    return 0;
}

static void naps_when_nothing_comes(void **state)
{
    readable = true;
    sleep_often();
    assert_in_range(naps, SLEEPS / 3, SLEEPS);
}

static void naps_no_more_afterwards(void **state)
{
    readable = true;
    sleep_often();
    readable = false;
    sleep_often();
    assert_in_range(naps, 0, 1);
    assert_in_range(waits, SLEEPS - 1, SLEEPS);
}

static void does_not_while_something_comes(void **state)
{
    readable = moves = true;
    sleep_often();
    assert_int_equal(naps, 0);
    assert_int_equal(wakes, SLEEPS);
}

static void a_signal_interrupts(void **state)
{
    interrupted = true;
    assert_int_equal(sleep_once(), EINTR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(naps_when_nothing_comes, begin),
        cmocka_unit_test_setup(naps_no_more_afterwards, begin),
        cmocka_unit_test_setup(does_not_while_something_comes, begin),
        cmocka_unit_test_setup(a_signal_interrupts, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
    puts("libfabric is not there");
    return 77;
}
#endif
