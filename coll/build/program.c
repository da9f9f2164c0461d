/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates schedules, of one rank or of all. */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/schedule.h"
#include "coll/build/irregular/stages.h"

/* Shrinks the array of a complete schedule. */
static void fit(dcoll_schedule_t *s)
{
    size_t bytes = s->nops * sizeof *s->ops;
    dcoll_op_t *ops = bytes ? realloc(s->ops, bytes) : NULL;
    if (!ops)
        return;
    s->ops = ops;
    s->capacity = s->nops;
}

/* A reduction by a single rank, for all algorithms. */
static void keep_own(dcoll_schedule_t *s, const dcoll_args_t *args)
{
    s->phase = 1;
    if (!args->in_place && dcoll_recv_blocks(args, 1, 0))
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), dcoll_at(DCOLL_RECV, 0),
                       args->bytes);
}

void dcoll_generate(const dcoll_algorithm_t *algorithm,
                    const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *out)
{
    dcoll_shape_t with = *shape;
    if (args->ports)
        with.ports = args->ports;
    if (shape->nranks == 1 && dcoll_collective_reduces(args->collective))
        keep_own(out, args);
    else if (algorithm->stages)
        stages_generate(algorithm->stages, (enum stages_form)algorithm->form,
                        &with, args, rank, out);
    else
        algorithm->generate(&with, args, rank, out);
    fit(out);
}

int dcoll_program_make(const dcoll_algorithm_t *algorithm,
                       const dcoll_shape_t *shape, const dcoll_args_t *args,
                       dcoll_program_t *out)
{
    int rc = 0;
    dcoll_args_t told = *args;
    told.in_place = dcoll_all_in_place(args);
    *out = (dcoll_program_t){.shape = shape, .args = *args};
    if (dcoll_refusal(algorithm, shape, &told))
        return DRAIL_ENOTSUP;
    out->rank = calloc(shape->nranks, sizeof *out->rank);
    if (!out->rank)
        return DRAIL_ENOMEM;
    for (unsigned r = 0; !rc && r < shape->nranks; r++) {
        dcoll_generate(algorithm, shape, &told, r, &out->rank[r]);
        rc = out->rank[r].error;
    }
    if (rc)
        dcoll_program_free(out);
    return rc;
}

void dcoll_program_free(dcoll_program_t *program)
{
    for (unsigned r = 0; program->rank && r < program->shape->nranks; r++)
        dcoll_schedule_free(&program->rank[r]);
    free(program->rank);
    program->rank = NULL;
}
