/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait for a stream in which the process stands still, for longer than it may
 * take, is not over then. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/socket.h"

#define WAIT_MS 400
#define STEP_NS (40 * MS) /* that the clock goes on, look by look */

static uint64_t time_ns;
static unsigned looks, leap_at; /* 0: never */

static uint64_t now(const struct drail_platform *p)
{
    time_ns += STEP_NS;
    if (++looks == leap_at)
        time_ns += 20ull * WAIT_MS * MS;
    return time_ns;
}

/* in the place of this machine, for socket.c */
const struct drail_platform platform_machine = {.now_ns = now};

/* How many looks a wait takes for which nothing comes. */
static unsigned looks_in_vain(unsigned leap)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    looks = 0;
    leap_at = leap;
    struct timed_socket s = {.fd = pair[0], .deadline = deadline_in(WAIT_MS)};
    assert_int_equal(socket_ready(&s, POLLIN), DRAIL_ETIMEOUT);
    close(pair[0]);
    close(pair[1]);
    return looks;
}

static void leaps_do_not_count(void **state)
{
    unsigned steady = looks_in_vain(0);
    assert_true(steady >= 9);
    for (unsigned leap = 3; leap < 9; leap += 2) /* not just before a poll */
        assert_in_range(looks_in_vain(leap), steady - 2, steady);
}

/* Time between two calls of one wait: one byte has come, one more is to. */
static void nor_do_those_between_bytes(void **state)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    looks = leap_at = 0;
    struct timed_socket s = {.fd = pair[0], .deadline = deadline_in(WAIT_MS)};
    assert_int_equal(write(pair[1], "a", 1), 1);
    assert_int_equal(socket_ready(&s, POLLIN), 0);
    char byte;
    assert_int_equal(read(pair[0], &byte, 1), 1);
    time_ns += 20ull * WAIT_MS * MS;
    looks = 0;
    assert_int_equal(socket_ready(&s, POLLIN), DRAIL_ETIMEOUT);
    assert_true(looks > 3);
    close(pair[0]);
    close(pair[1]);
}

static unsigned served;

static void serve(drail_t *t)
{
    served++;
}

/* Bytes that have come are read before transports are looked after. */
static void bytes_come_first(void **state)
{
    int pair[2];
    drail_t t = {0};
    drail_job_t job = {.open = &t, .serve = serve};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    looks = leap_at = served = 0;
    struct timed_socket s = {
        .fd = pair[0], .job = &job, .deadline = deadline_in(WAIT_MS)};
    assert_int_equal(write(pair[1], "a", 1), 1);
    assert_int_equal(socket_ready(&s, POLLIN), 0);
    assert_int_equal(served, 0);
    char byte;
    assert_int_equal(read(pair[0], &byte, 1), 1);
    assert_int_equal(socket_ready(&s, POLLIN), DRAIL_ETIMEOUT);
    assert_true(served > 3);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaps_do_not_count),
        cmocka_unit_test(nor_do_those_between_bytes),
        cmocka_unit_test(bytes_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
