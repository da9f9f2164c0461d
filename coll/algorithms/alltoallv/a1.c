/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A1 (seed 003, section 3.1.1): one stage. Each rank sorts its elements by
 * destination and sends, in step i, to the i-th rank after it.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/stages.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a1, STAGES_B, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_a1 = {
    .name = "a1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "one stage (seed 003, 3.1.1)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .generate = generate,
};

static void generate_n1(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a1, STAGES_N1, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_a1_n1 = {
    .name = "a1-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "one stage, non-blocking (seed 003, 3.1.1)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .generate = generate_n1,
};

static void generate_n2(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    stages_generate(&stages_a1, STAGES_N2, shape, args, rank, s);
}

const dcoll_algorithm_t alltoallv_a1_n2 = {
    .name = "a1-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "one stage, non-blocking, two send buffers (seed 003, 3.1.1)",
    .memory = "TEMP: N messages to send, N received; twice, and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .generate = generate_n2,
};
