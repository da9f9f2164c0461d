/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks are on which node, by ppn or by a map of any form. */
#include "unit.h"
#include "dapl_rail/dapl_rail.h"

#define RANKS 7

struct expected {
    unsigned nodes, ppn;
    unsigned node[RANKS], local[RANKS], locals[RANKS];
};

/* Exit status: 1 + the first rank that is not where it should be. */
static int look(drail_job_t *job, void *arg)
{
    const struct expected *want = arg;
    if (drail_job_nodes(job) != want->nodes || drail_job_ppn(job) != want->ppn)
        return 100;
    for (unsigned r = 0; r < RANKS; r++)
        if (drail_job_node(job, r) != want->node[r] ||
            drail_job_local_rank(job, r) != want->local[r] ||
            drail_job_local_size(job, r) != want->locals[r])
            return 1 + (int)r;
    return 0;
}

static void expect(unsigned ppn, const unsigned *nodes, struct expected want)
{
    drail_job_config_t cfg;
    drail_error_t err = {0};
    drail_job_config_init(&cfg);
    cfg.nranks = RANKS;
    cfg.ppn = ppn;
    cfg.nodes = nodes;
    cfg.error = &err;
    int rc = drail_job_run(&cfg, look, &want);
    if (rc)
        print_error("%s\n", err.text);
    assert_int_equal(rc, 0);
}

static void one_node(void **state)
{
    expect(0, NULL,
           (struct expected){1,
                             7,
                             {0, 0, 0, 0, 0, 0, 0},
                             {0, 1, 2, 3, 4, 5, 6},
                             {7, 7, 7, 7, 7, 7, 7}});
}

static void blocks(void **state)
{
    expect(3, NULL,
           (struct expected){3,
                             3,
                             {0, 0, 0, 1, 1, 1, 2},
                             {0, 1, 2, 0, 1, 2, 0},
                             {3, 3, 3, 3, 3, 3, 1}});
}

static void more_per_node_than_ranks(void **state)
{
    expect(100, NULL,
           (struct expected){1,
                             7,
                             {0, 0, 0, 0, 0, 0, 0},
                             {0, 1, 2, 3, 4, 5, 6},
                             {7, 7, 7, 7, 7, 7, 7}});
}

static void interleaved(void **state)
{
    expect(0, (unsigned[]){4, 2, 4, 2, 4, 2, 4},
           (struct expected){2,
                             4,
                             {0, 1, 0, 1, 0, 1, 0},
                             {0, 0, 1, 1, 2, 2, 3},
                             {4, 3, 4, 3, 4, 3, 4}});
}

/* A map goes before ppn; its numbers mean nothing. */
static void any_numbers(void **state)
{
    expect(2, (unsigned[]){UINT32_MAX, 0, 17, 17, 0, UINT32_MAX, 5},
           (struct expected){4,
                             2,
                             {0, 1, 2, 2, 1, 0, 3},
                             {0, 0, 0, 1, 1, 1, 0},
                             {2, 2, 2, 2, 2, 2, 1}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node),
        cmocka_unit_test(blocks),
        cmocka_unit_test(more_per_node_than_ranks),
        cmocka_unit_test(interleaved),
        cmocka_unit_test(any_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
