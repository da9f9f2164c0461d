/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that meet while the machine stands still, for longer than that may
 * take: the others could not come. By a clock that leaps between two looks.
 */
#include <netinet/in.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/socket.h"

#define WAIT_MS 400
#define STEP_NS (40 * MS) /* that the clock goes on, look by look */
#define LEAP_NS (8000 * MS)

static struct secret secret;
static uint64_t time_ns;
static unsigned looks, leap_at; /* 0: never */

static uint64_t now(const struct drail_platform *p)
{
    time_ns += STEP_NS;
    if (++looks == leap_at)
        time_ns += LEAP_NS;
    return time_ns;
}

static void sleep_until(const struct drail_platform *p, uint64_t ns)
{
    time_ns = ns > time_ns ? ns : time_ns;
}

/* the waiter's */
const struct drail_platform platform_machine = {.now_ns = now,
                                                .sleep_until = sleep_until};

static void begin(unsigned leap)
{
    looks = 0;
    leap_at = leap;
}

static int place(struct addresses *where)
{
    unsigned port;
    char text[32];
    int listener = address_listen_any(&port, NULL);
    assert_true(listener >= 0);
    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    assert_int_equal(address_parse(where, text), 0);
    return listener;
}

/* How many looks rank 0 takes until it gives up; a silent stranger is connected
 * all the time. */
static unsigned looks_of_server(unsigned leap)
{
    struct addresses where;
    drail_error_t err = {0};
    int fds[2], listener = place(&where);
    int stranger = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(stranger,
                             (const struct sockaddr *)&where.list[0].where,
                             where.list[0].bytes),
                     0);
    begin(leap);
    assert_int_equal(
        rendezvous_serve(listener, 2, &secret, deadline_in(WAIT_MS), fds, &err),
        DRAIL_ETIMEOUT);
    assert_null(strstr(err.text, "sent away"));
    close(stranger);
    close(listener);
    return looks;
}

/* How many another rank takes, for which nobody listens. */
static unsigned looks_of_rank(unsigned leap)
{
    struct addresses where;
    drail_error_t err = {0};
    close(place(&where));
    begin(leap);
    assert_int_equal(
        rendezvous_connect(&where, 1, 2, &secret, deadline_in(WAIT_MS), &err),
        DRAIL_ETIMEOUT);
    return looks;
}

static void leaps_do_not_count(unsigned (*wait)(unsigned leap))
{
    unsigned steady = wait(0);
    assert_true(steady >= 7);
    for (unsigned leap = 3; leap < 7; leap++)
        assert_in_range(wait(leap), steady - 2, steady);
}

static void the_server_stops(void **state)
{
    leaps_do_not_count(looks_of_server);
}

static void who_enters(void **state)
{
    leaps_do_not_count(looks_of_rank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_stops),
        cmocka_unit_test(who_enters),
    };
    secret_set(&secret, "of sixteen characters", 21);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
