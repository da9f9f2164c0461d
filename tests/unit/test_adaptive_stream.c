/* SPDX-License-Identifier: BSD-3-Clause */
/* The adaptive policy with two rails, batches and streams of messages. */
#include "unit.h"
#include "dapl_rail/stripe/tuning/waterfill.h"
#include "wires.h"

#define LATE  2000000 /* ns between looks of a process that shares a core */
#define LEARN 2000    /* messages before those that count */
#define COUNT 1000
#define SHARE 0.03 /* of what it should be, up or down */

/* The same of batches, as drail_batch does it. */
static double batches(size_t bytes, unsigned messages, unsigned count)
{
    uint64_t start = now;
    wires[0].carried = wires[1].carried = 0;
    for (unsigned done = 0; done < messages; done += count) {
        drail_chunk_t chunks[DRAIL_MAX_RAILS];
        uint64_t from = now;
        struct route route = route_next(&t, t.measured, false, bytes, count);
        int n = cut_message(&t, bytes, &route, chunks);
        for (int i = 0; i < n; i++) {
            struct wire *w = &wires[chunks[i].rail];
            uint64_t all = chunks[i].bytes * count;
            uint64_t ns = (uint64_t)((double)all / w->rate);
            w->carried += all;
            if (n > 1)
                rail_rate_measure(&t.timing->rails[chunks[i].rail], route.slot,
                                  count, all, ns, true);
            now = from + ns > now ? from + ns : now;
        }
        timing_batch(&t, route.tuner, route.set, count, bytes, from);
    }
    return (double)bytes * messages / (double)(now - start);
}

static double share(unsigned rail)
{
    return (double)wires[rail].carried /
           (double)(wires[0].carried + wires[1].carried);
}

static const size_t sizes[] = {64 << 10, 1 << 20, 4 << 20};
static const unsigned windows[] = {0, 1, 2, 4, 16, 64}; /* 0: batches */
#define SIZES   (sizeof sizes / sizeof sizes[0])
#define WINDOWS (sizeof windows / sizeof windows[0])

/* More messages in batches: the policy learns from each of them once. */
static double run(unsigned window, size_t bytes, unsigned messages)
{
    return window ? stream(window, bytes, messages)
                  : batches(bytes, 4 * messages, 16);
}

/* The reachable rate: the next message does not begin before the last one is
 * known to be over. */
static double limit(unsigned window, size_t bytes)
{
    double sum = wires[0].rate + wires[1].rate;
    double ns = (double)bytes / sum;
    return window == 1 ? (double)bytes / (ns + TOLD) : sum;
}

static void reaches(unsigned window, size_t bytes, double least)
{
    double rate = run(window, bytes, COUNT) / limit(window, bytes);
    double want = wires[0].rate / (wires[0].rate + wires[1].rate);
    bool near = share(0) > want - SHARE && share(0) < want + SHARE;
    if (rate < least || !near)
        print_error("window %u, %zu bytes, looks each %lu ns: %.3f of what the "
                    "rails carry, shares %.3f and %.3f\n",
                    window, bytes, (unsigned long)looks, rate, share(0),
                    share(1));
    assert_true(rate >= least && near);
}

static void each_window(double first, double second, uint64_t look_ns,
                        double least)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned w = 0; w < WINDOWS; w++) {
            if (windows[w] && windows[w] * sizes[s] < look_ns)
                continue; /* the looks are what holds it up */
            wires_begin(first, second, 0, look_ns);
            run(windows[w], sizes[s], LEARN);
            reaches(windows[w], sizes[s], least);
            wires_end();
        }
}

static void unequal_rails_carry_their_sum(void **state)
{
    each_window(FAST, SLOW, 1, 0.96);
    each_window(SLOW, FAST, 1, 0.96);
}

static void equal_rails_share_alike(void **state)
{
    each_window(FAST, FAST, 1, 0.97);
}

/* The poster is not always there to see completions. */
static void late_looks_do_not_mislead(void **state)
{
    each_window(FAST, SLOW, LATE, 0.90);
    each_window(FAST, FAST, LATE, 0.90);
}

static void a_change_of_rate_is_followed(void **state)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned w = 0; w < WINDOWS; w++)
            for (unsigned r = 0; r < t.nrails; r++) {
                wires_begin(FAST, SLOW, 0, 1);
                run(windows[w], sizes[s], LEARN);
                double rate = wires[r].rate;
                wires[r].rate = rate / 10;
                run(windows[w], sizes[s], LEARN);
                reaches(windows[w], sizes[s], 0.93);
                wires[r].rate = rate;
                run(windows[w], sizes[s], LEARN);
                reaches(windows[w], sizes[s], 0.93);
                wires_end();
            }
}

#define SECOND   1000000000u
#define WIRE     (FAST / 5) /* 200 Mbit/s */
#define IN_A_ROW 8u
#define BYTES    (256u << 10)

/* Goes on with a stream for so long; bytes/ns. */
static double go_on(unsigned *number, uint64_t ns)
{
    uint64_t start = now;
    unsigned first = *number;
    for (; now - start < ns; ++*number) {
        if (*number >= IN_A_ROW)
            await(*number - IN_A_ROW);
        put(*number, BYTES);
    }
    return (double)BYTES * (*number - first) / (double)(now - start);
}

/* A rail is left with a tenth of its rate: after a second the other one, and
 * what is left, are used. Also with engine auto, which may try threads. */
static void a_slow_rail_is_found_within_a_second(void **state)
{
    static const drail_engine_t engines[] = {DRAIL_ENGINE_NONTHREADED,
                                             DRAIL_ENGINE_AUTO};
    for (unsigned e = 0; e < 2; e++)
        for (unsigned slow = 0; slow < 2; slow++) {
            unsigned n = 0;
            wires_begin(WIRE, WIRE, 0, 1);
            t.timing->several_cores = true;
            rails[0].info.is_polled = rails[1].info.is_polled = true;
            t.cfg.engine = engines[e];
            tuners_begin(&t);
            route_settle(&t);
            go_on(&n, SECOND);
            wires[slow].rate = WIRE / 10;
            double at_first = go_on(&n, SECOND), then = go_on(&n, 2 * SECOND);
            wires[slow].rate = WIRE;
            go_on(&n, SECOND);
            double again = go_on(&n, SECOND);
            assert_true(at_first > 0.5 * WIRE && then > 0.95 * 1.1 * WIRE);
            assert_true(again > 0.95 * 2 * WIRE);
            rails[0].info.is_polled = rails[1].info.is_polled = false;
            wires_end();
        }
}

/* A rail gets no part while what it has yet to carry lasts longer. */
static void parts_end_together(void **state)
{
    const double rates[] = {2, 1, 0, 1}, nothing[4] = {0};
    const double backlog[] = {0, 50, 0, 1000};
    double parts[4];
    waterfill(4, rates, nothing, 400, parts);
    assert_true(parts[0] == 200 && parts[1] == 100 && parts[2] == 0 &&
                parts[3] == 100);
    waterfill(4, rates, backlog, 400, parts);
    assert_true(parts[0] == 300 && parts[1] == 100 && parts[2] == 0 &&
                parts[3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_end_together),
        cmocka_unit_test(unequal_rails_carry_their_sum),
        cmocka_unit_test(equal_rails_share_alike),
        cmocka_unit_test(late_looks_do_not_mislead),
        cmocka_unit_test(a_change_of_rate_is_followed),
        cmocka_unit_test(a_slow_rail_is_found_within_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
