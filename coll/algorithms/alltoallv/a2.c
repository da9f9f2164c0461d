/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A2 (seed 003, section 3.1.2; Ranka, Bader): two stages. The elements for each
 * destination go in even slices to all ranks, and from there to where they
 * belong.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/stages.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a2, STAGES_B, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_a2 = {
    .name = "a2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "two stages, of slices dealt evenly (seed 003, 3.1.2)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .generate = generate,
};

static void generate_n1(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a2, STAGES_N1, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_a2_n1 = {
    .name = "a2-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary =
        "two stages, of slices dealt evenly, non-blocking (seed 003, 3.1.2)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .generate = generate_n1,
};

static void generate_n2(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a2, STAGES_N2, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_a2_n2 = {
    .name = "a2-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "two stages, of slices dealt evenly, non-blocking, two send "
               "buffers (seed 003, 3.1.2)",
    .memory = "TEMP: N messages to send, N received; twice, and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .generate = generate_n2,
};
