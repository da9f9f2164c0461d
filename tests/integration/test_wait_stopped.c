/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine that stands still in a wait, for longer than that may take, and
 * then goes on: the peer had no time to answer, so the wait is not over. By a
 * clock that leaps while the rank that waits sleeps.
 */
#include "conf.h"
#include "leap.h"
#include "no_direct.h"
#include "tests/stand_in.h"

#define WAIT_MS 10000
#define LEAP_NS (2ull * WAIT_MS * MS)
#define SLEEPS  5 /* the wait has looked at the clock by then */

static const char rails[] = /* what is read comes later */
    RAIL("far0", "rate=1000 latency=2000")
        RAIL("far1", "rate=1000 latency=2000");

static bool waits; /* this rank, until its clock has leapt */
static unsigned sleeps;

STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    DAT_RETURN status = real(dat_evd_wait)(evd, us, threshold, event, more);
    if (waits && ++sleeps == SLEEPS) {
        waits = false;
        leap(LEAP_NS);
    }
    return status;
}

static void await_leap(void)
{
    check_within(20, *leapt);
}

/* The message comes some time after the clock has leapt. */
static void answered_late(struct rank *r)
{
    uint32_t id;
    *leapt = false;
    barrier(r);
    if (r->rank == 0) {
        waits = true;
        expect(r, 0, drail_notify_wait(r->t, 1, &id, WAIT_MS));
        check(*leapt && id == 7);
        return;
    }
    await_leap();
    nap(300);
    expect(r, 0, drail_notify(r->t, 0, 0, 7));
}

/* A message that was announced after the leap is still to be read. */
static void read_after(struct rank *r)
{
    static char message[1 << 20];
    size_t received;
    *leapt = false;
    barrier(r);
    if (r->rank == 0) {
        waits = true;
        expect(
            r, 0,
            drail_recv(r->t, 1, message, sizeof message, &received, WAIT_MS));
        check(*leapt && received == sizeof message);
        return;
    }
    await_leap();
    expect(r, 0, drail_send(r->t, 0, message, sizeof message, NULL));
}

static void never_answered(struct rank *r)
{
    if (r->rank == 0) {
        waits = true;
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, 1, NULL, 500));
    }
    barrier(r);
}

static void far(drail_config_t *cfg)
{
    use_rails(cfg, "far0", "far1");
}

static const struct test tests[] = {
    {"answered late", 2, answered_late, NULL, 0},
    {"answered late, one rail", 2, answered_late, one_rail, 0},
    {"read after the leap", 2, read_after, far, 0},
    {"never answered", 2, never_answered, NULL, 0},
};

int main(int argc, char **argv)
{
    conf_restart(argv, rails);
    return leap_run_tests(tests, sizeof tests / sizeof tests[0], argc, argv,
                          leap_sleep_until);
}
