/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/degrade/events.c: what --events accepts, and what it refuses. */
#include "unit.h"
#include "bench/degrade/events.h"

static options_t opts;
static events_t events;
static char allowed[512];

static int parse(const char *text)
{
    opts.nrails = 2;
    strcpy(opts.rails[0], "shm0");
    strcpy(opts.rails[1], "shm1");
    opts.degrade.time_ns = 8000000000;
    return events_parse(&events, text, &opts, allowed, sizeof allowed);
}

static void lists(void **state)
{
    assert_int_equal(parse("2s:cut:1,2500ms:back:shm1,3.5:slow:0:0.5"), 0);
    assert_int_equal(events.count, 3);
    assert_int_equal(events.list[0].kind, EVENT_CUT);
    assert_int_equal(events.list[0].rail, 1);
    assert_int_equal(events.list[0].at_ns, 2000000000);
    assert_int_equal(events.list[1].kind, EVENT_BACK);
    assert_int_equal(events.list[1].rail, 1);
    assert_int_equal(events.list[1].at_ns, 2500000000);
    assert_int_equal(events.list[2].kind, EVENT_SLOW);
    assert_int_equal(events.list[2].at_ns, 3500000000);
    assert_true(events.list[2].factor == 0.5);
    assert_int_equal(parse("none"), 0);
    assert_int_equal(events.count, 0);
}

static void drawn(void **state)
{
    assert_int_equal(parse("random:200:7"), 0);
    assert_int_equal(events.count, 0);
    assert_int_equal(events.cuts, 200);
    assert_int_equal(events.seed, 7);
    assert_int_equal(parse("random:1"), 0);
}

/* A quarter of the time before each; nothing to be cut of a single rail. */
static void usual(void **state)
{
    assert_int_equal(parse(NULL), 0);
    assert_int_equal(events.count, 3);
    assert_int_equal(events.list[2].at_ns, 6000000000);
    opts.nrails = 1;
    assert_int_equal(
        events_parse(&events, NULL, &opts, allowed, sizeof allowed), 0);
    assert_int_equal(events.count, 0);
    assert_int_equal(
        events_parse(&events, "random:1", &opts, allowed, sizeof allowed), -1);
}

static void refused(void **state)
{
    static const char *const bad[] = {
        "",          "x",         "2s",           "2s:cut",
        "2s:cut:2",  "2s:cut:-1", "2s:cut:shm2",  "2s:cut:1:0.5",
        "2s:slow:1", "2s:gone:1", "2s:slow:1:0",  "2s:slow:1:1.5",
        "2q:cut:1",  "-1s:cut:1", "8s:cut:1",     "2s:slow:1:0.5:1",
        "2s:cut:1x", ":cut:1",    "2s:slow:1:no", "2s:cut:1,1s:back:1",
        "random",    "random:",   "random:0",     "random:99999",
        "random:5:", "random:5x", "random:-1",    "random:5:x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!parse(bad[i]))
            fail_msg("'%s' is accepted", bad[i]);
        assert_non_null(strstr(allowed, "random:CUTS"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(drawn),
        cmocka_unit_test(usual),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
