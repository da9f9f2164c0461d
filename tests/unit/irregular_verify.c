/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"
#include "irregular_verify.h"

void irregular_verify(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                      const struct traffic *t, size_t element, size_t pulled)
{
    dcoll_traffic_t bounds = traffic_bounds(t, element);
    dcoll_args_t args = {.collective = DCOLL_ALLTOALLV,
                         .depth = a->depth ? a->depth : 2,
                         .traffic = &bounds};
    dcoll_program_t program;
    char why[512];
    bounds.pulled = pulled;
    if (dcoll_refusal(a, shape, &args))
        return;
    assert_int_equal(dcoll_program_make(a, shape, &args, &program), 0);
    program.counts = t->counts;
    if (dcoll_verify(&program, dcoll_proof_starts(&program), why, sizeof why))
        fail_msg("%s, %u ranks on %u nodes, %s, %u ports: %s", a->name, t->n,
                 shape->nnodes, t->name, shape->ports, why);
    dcoll_program_free(&program);
}
