/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP break under load at random DTOs of both ends, reads in
 * mid-answer among them: all that is moved arrives once, in order and whole.
 */
#include "losses_tcp.h"

static void under_load(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    double end = seconds() + SECONDS, late = seconds() + 60;
    for (unsigned turn = 0; goes_on(r, end); turn++) {
        break_something(r, 20);
        script_run(r, &s, turn);
        check(seconds() < late);
    }
    break_no_more(r);
    script_close(r, &s);
}

static const struct test tests[] = {
    {"one thread", 2, under_load, three, 0},
    {"a thread for each rail", 2, under_load, threaded, 0},
};

RUN_TESTS_OVER_TCP(tests)
