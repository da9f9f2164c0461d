/* SPDX-License-Identifier: BSD-3-Clause */
/* Which waits take a bell: only those that sleep, as each bell interrupts the
 * cores of all peers. */
#include "unit.h"
#undef fail /* the library has one, too */
#include "providers/core/internal.h"

static unsigned taken, given, slept;

bool core_bell_take(struct core_waiter *w)
{
    taken++;
    w->bell = 1;
    return true;
}

void core_bell_give(struct core_waiter *w)
{
    given += w->bell != 0;
    w->bell = 0;
}

void core_poll(struct core_ia *ia, struct core_evd *evd, bool sure)
{
}

void core_poll_some(struct core_ia *ia, bool sure)
{
}

void core_collectives_rest(struct core_ia *ia, const struct core_evd *evd)
{
}

/* As if another event had rung. */
static int sleep_a_moment(struct core_ia *ia, uint64_t bells, bool fed,
                          uint64_t ns)
{
    slept++;
    return 0;
}

static bool never_ready(struct core_waiter *w)
{
    return false;
}

static bool ready_after_two_sleeps(struct core_waiter *w)
{
    return slept == 2;
}

static const struct core_transport transport = {.sleep = sleep_a_moment};
static struct core_ia ia = {.transport = &transport,
                            .bell_lock = PTHREAD_MUTEX_INITIALIZER};
static struct core_evd evd;

static DAT_RETURN wait_us(DAT_TIMEOUT us, bool (*ready)(struct core_waiter *w))
{
    atomic_bool waiting = false;
    struct core_waiter w = {
        .ia = &ia, .evd = &evd, .ready = ready, .waiting = &waiting};
    taken = given = slept = 0;
    return core_wait(&w, us);
}

static void none_if_time_is_over(void **state)
{
    assert_int_equal(DAT_GET_TYPE(wait_us(1, never_ready)),
                     DAT_TIMEOUT_EXPIRED);
    assert_int_equal(slept, 0);
    assert_int_equal(taken, 0);
}

static void one_for_each_sleep(void **state)
{
    assert_int_equal(wait_us(DAT_TIMEOUT_INFINITE, ready_after_two_sleeps),
                     DAT_SUCCESS);
    assert_int_equal(slept, 2);
    assert_int_equal(taken, 2);
    assert_int_equal(given, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_if_time_is_over),
        cmocka_unit_test(one_for_each_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
