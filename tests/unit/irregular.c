/* SPDX-License-Identifier: BSD-3-Clause */
#include "irregular.h"
#include "unit.h"

void irregular_open(struct irregular *i, unsigned n, unsigned ppn,
                    struct traffic counts, size_t element)
{
    *i = (struct irregular){.counts = counts,
                            .bounds = traffic_bounds(&counts, element)};
    unsigned nodes = dcoll_shape_nodes(n, ppn, i->node);
    i->shape = (dcoll_shape_t){n, nodes, i->node, 1};
    i->args =
        (dcoll_args_t){.collective = DCOLL_ALLTOALLV, .traffic = &i->bounds};
}

bool irregular_make(struct irregular *i, const dcoll_algorithm_t *a)
{
    i->algorithm = a;
    i->args.depth = a->depth ? a->depth : 2;
    if (dcoll_refusal(a, &i->shape, &i->args))
        return false;
    assert_int_equal(dcoll_program_make(a, &i->shape, &i->args, &i->program),
                     0);
    i->program.counts = i->counts.counts;
    return true;
}

void irregular_close(struct irregular *i)
{
    if (i->program.rank)
        dcoll_program_free(&i->program);
    traffic_free(&i->counts);
}
