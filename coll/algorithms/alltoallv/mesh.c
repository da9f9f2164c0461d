/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A3 for any number of ranks, which the seed does not have (section 3.1.3): the
 * array, and what is sent for its pseudo-nodes, are those of A4.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/stages.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a3, STAGES_B, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_mesh = {
    .name = "mesh",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of any array (seed 003, 3.1.3)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse,
    .generate = generate,
};

static void generate_n1(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a3, STAGES_N1, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_mesh_n1 = {
    .name = "mesh-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary =
        "rows, then columns, of any array, non-blocking (seed 003, 3.1.3)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse,
    .generate = generate_n1,
};

static void generate_n2(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a3, STAGES_N2, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_mesh_n2 = {
    .name = "mesh-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of any array, non-blocking, two send "
               "buffers (seed 003, 3.1.3)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received; twice, "
              "and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .generate = generate_n2,
};
