/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launched ranks on hosts in any placement: the benchmark and the team of the
 * library see the same nodes. Stands in for a launcher.
 */
#include "unit.h"
#include "bench/coll/plan.h"
#include "bench/launch/launch.h"

#define RANKS 6u

static const unsigned *host; /* of each rank */

int drail_launch_open(const drail_job_config_t *cfg, drail_launch_t **launch)
{
    *launch = (void *)&host;
    return 0;
}

unsigned drail_launch_size(const drail_launch_t *launch)
{
    return RANKS;
}

unsigned drail_launch_rank(const drail_launch_t *launch)
{
    return 1;
}

unsigned drail_launch_host(const drail_launch_t *launch, unsigned rank)
{
    return host[rank];
}

/* Ranks that are placed so, with this --ppn. */
static coll_plan_t *place(options_t *opts, const unsigned hosts[RANKS],
                          uint64_t ppn)
{
    static const option_table_t table = {.command = "test",
                                         .groups = OPTIONS_RAILS};
    static coll_plan_t plan;
    options_init(opts, "8");
    host = hosts;
    opts->ppn = ppn;
    assert_int_equal(launch_open(opts, &table), 0);
    coll_plan_shape(&plan, opts);
    assert_int_equal(plan.shape.nranks, RANKS);
    assert_int_equal(plan.node_begin[plan.shape.nnodes], RANKS);
    return &plan;
}

static void nodes_are(const unsigned hosts[RANKS], uint64_t ppn, unsigned nodes,
                      const unsigned *begins, unsigned largest)
{
    options_t opts;
    const coll_plan_t *plan = place(&opts, hosts, ppn);
    assert_int_equal(plan->shape.nnodes, nodes);
    for (unsigned n = 0; n < nodes; n++)
        assert_int_equal(plan->node_begin[n], begins[n]);
    assert_int_equal(options_ppn(&opts), largest);
}

#define LIST(...) ((const unsigned[]){__VA_ARGS__})

static void equal_blocks(void **state)
{
    nodes_are(LIST(0, 0, 1, 1, 2, 2), 0, 3, LIST(0, 2, 4), 2);
}

static void unequal_blocks(void **state)
{
    nodes_are(LIST(0, 0, 0, 0, 1, 2), 0, 3, LIST(0, 4, 5), 4);
    nodes_are(LIST(0, 1, 1, 1, 2, 2), 0, 3, LIST(0, 1, 4), 3);
}

/* Each run of ranks is a node. */
static void in_turn(void **state)
{
    nodes_are(LIST(0, 1, 2, 0, 1, 2), 0, 6, LIST(0, 1, 2, 3, 4, 5), 2);
    nodes_are(LIST(0, 0, 1, 1, 0, 0), 0, 3, LIST(0, 2, 4), 4);
}

static void as_the_user_says(void **state)
{
    nodes_are(LIST(0, 0, 0, 0, 1, 2), 3, 2, LIST(0, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_blocks),
        cmocka_unit_test(unequal_blocks),
        cmocka_unit_test(in_turn),
        cmocka_unit_test(as_the_user_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
