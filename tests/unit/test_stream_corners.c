/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of messages where they are not of one size, begin or end, and the
 * rails are not two, or not to be levelled. */
#include "unit.h"
#include "wires.h"

#define SHORT (8u << 10)
#define LONG  (64u << 10)
#define GREAT (4u << 20)
#define LEARN 2000

static double share(unsigned rail)
{
    double sum = 0;
    for (unsigned r = 0; r < t.nrails; r++)
        sum += (double)wires[r].carried;
    return (double)wires[rail].carried / sum;
}

/* Messages of this size are known to go over these rails, at this rate. */
static void settle(size_t bytes, uint32_t champion, double rate)
{
    struct tuner *c = tuner_of(&t, false, size_class(bytes));
    c->champion = champion;
    c->comparison.in = 0;
    c->settled = true;
    c->rate = c->usual = rate;
}

static uint32_t next_set(size_t bytes)
{
    return route_next(&t, t.measured, false, bytes, 1).set;
}

/* Where even they may be striped, too. */
static void an_empty_message_has_its_rail(void **state)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS] = {{.rail = DRAIL_MAX_RAILS}};
    wires_begin(FAST, SLOW, 0, 1);
    t.cfg.stripe_threshold = 0;
    route_settle(&t);
    for (unsigned i = 0; i < 8; i++)
        put(i, GREAT);
    struct route route = route_of(&t, t.measured, false, 0);
    assert_int_equal(cut_message(&t, 0, &route, chunks), 1);
    assert_in_range(chunks[0].rail, 0, 1);
    assert_int_equal(chunks[0].bytes, 0);
    assert_in_range(short_rail(&t, t.measured), 0, 1);
    wires_end();
}

static void give_short(uint32_t set, uint64_t given[DRAIL_MAX_RAILS])
{
    double weights[DRAIL_MAX_RAILS];
    cut_whole(&t, set, SHORT, weights);
    memset(given, 0, DRAIL_MAX_RAILS * sizeof *given);
    for (unsigned i = 0; i < 30; i++)
        given[soonest_rail(t.nrails, weights, given)]++;
}

/* In proportion to their rates, once these are known. */
static void short_messages_share_the_wires(void **state)
{
    uint64_t given[DRAIL_MAX_RAILS];
    double weights[DRAIL_MAX_RAILS];
    wires_begin(FAST, SLOW, 0, 1);
    give_short(t.measured, given);
    assert_int_equal(given[0], 15);
    unsigned slot = cut_whole(&t, t.measured, SHORT, weights);
    t.timing->rails[0].rate[slot] = FAST;
    t.timing->rails[1].rate[slot] = SLOW;
    give_short(t.measured, given);
    assert_int_equal(given[0], 20);
    assert_int_equal(given[1], 10);
    give_short(RAIL_BIT(1), given);
    assert_int_equal(given[1], 30);
    wires_end();
}

/* Without threads, auto leaves out the slow rail of a pair that takes halves.
 */
static void even_parts_go_on_being_tried(void **state)
{
    wires_begin(FAST, FAST / 10, 0, 1);
    t.cfg.engine = DRAIL_ENGINE_AUTO;
    t.cfg.policy = DRAIL_POLICY_EVEN;
    tuners_without_threads(&t);
    route_settle(&t);
    stream(16, LONG, LEARN);
    assert_true(stream(16, LONG, LEARN) > 0.5 * FAST); /* halves: 0.2 */
    assert_int_equal(tuner_of(&t, false, size_class(LONG))->champion,
                     RAIL_BIT(0));
    wires_end();
}

/* The choice of another size is only where learning begins. */
static void an_adopted_choice_is_learnt(void **state)
{
    struct tuner *c;
    wires_begin(FAST, FAST / 100, 0, 1);
    settle(4 * SHORT, RAIL_BIT(0), FAST);
    c = tuner_of(&t, false, size_class(SHORT));
    put(0, SHORT);
    assert_int_equal(next_set(SHORT), RAIL_BIT(0));
    await(0);
    stream(10, SHORT, LEARN);
    assert_true(c->rate > 0 && c->settled);
    assert_true(c->champion == RAIL_BIT(0) && share(0) > 0.9);
    wires_end();
}

/* Also of those that the champion has among them. */
static void all_rates_follow_in_a_stream(void **state)
{
    wires_begin(FAST, FAST, FAST, 1);
    stream(16, LONG, LEARN);
    settle(LONG, RAIL_BIT(0) | RAIL_BIT(1), 2 * FAST);
    wires[0].rate = SLOW;
    stream(16, LONG, LEARN);
    unsigned slot = rate_slot(&t, false, size_class(LONG));
    double rate = t.timing->rails[0].rate[slot];
    assert_true(rate > 0.9 * SLOW && rate < 1.1 * SLOW);
    assert_true(share(0) > 0.17 && share(0) < 0.23); /* a fifth */
    wires_end();
}

/* It may be slower in another's company. */
static void a_trial_tells_of_the_new_rail_alone(void **state)
{
    wires_begin(FAST, FAST, FAST, 1);
    settle(LONG, RAIL_BIT(0) | RAIL_BIT(1), 2 * FAST);
    struct tuner *c = tuner_of(&t, false, size_class(LONG));
    comparison_begin(&c->comparison, c->champion, true);
    comparison_add(&c->comparison, t.measured);
    c->comparison.turn = 1;
    struct route route = route_next(&t, t.measured, false, LONG, 1);
    assert_int_equal(route.set, t.measured);
    assert_int_equal(timing_learns(&t, &route), RAIL_BIT(2));
    wires_end();
}

/* Of wires at one rate, long messages try only what the champion leaves out. */
static void a_rail_left_out_is_tried(void **state)
{
    const uint32_t champion = RAIL_BIT(0) | RAIL_BIT(1);
    const unsigned slot = rate_slot(&t, false, size_class(GREAT));
    for (unsigned tried = 0; tried < RAILS; tried++) {
        wires_begin(FAST, FAST, FAST, 1);
        for (unsigned r = 0; r < RAILS; r++) {
            rails[r].info.is_polled = true;
            t.timing->rails[r].rate[slot] = FAST;
        }
        settle(GREAT, champion, 2 * FAST);
        struct tuner *c = tuner_of(&t, false, size_class(GREAT));
        comparison_begin(&c->comparison, champion, true);
        comparison_add(&c->comparison, RAIL_BIT(tried));
        comparison_record(&c->comparison, 2 * FAST);
        assert_int_equal(next_set(GREAT),
                         tried == 2 ? RAIL_BIT(tried) : champion);
        wires_end();
    }
    memset(rails, 0, sizeof rails);
}

static void bytes_under_way_make_a_stream(void **state)
{
    wires_begin(FAST, SLOW, 0, 1);
    settle(SHORT, RAIL_BIT(0), FAST);
    settle(GREAT, RAIL_BIT(0), FAST);
    for (unsigned i = 0; i < 8; i++)
        put(i, SHORT);
    assert_int_equal(next_set(GREAT), RAIL_BIT(0));
    put(8, GREAT);
    assert_int_equal(next_set(SHORT), t.measured);
    wires_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_message_has_its_rail),
        cmocka_unit_test(short_messages_share_the_wires),
        cmocka_unit_test(even_parts_go_on_being_tried),
        cmocka_unit_test(an_adopted_choice_is_learnt),
        cmocka_unit_test(all_rates_follow_in_a_stream),
        cmocka_unit_test(a_trial_tells_of_the_new_rail_alone),
        cmocka_unit_test(a_rail_left_out_is_tried),
        cmocka_unit_test(bytes_under_way_make_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
