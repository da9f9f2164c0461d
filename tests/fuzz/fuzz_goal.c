/* SPDX-License-Identifier: BSD-3-Clause */
/* A GOAL file for railbench goal; what can be read can be verified, timed and
 * written. */
#include "bench/goal/goal.h"
#include "fuzz.h"

static void use(const goal_t *goal, char *why, size_t size)
{
    static const dcoll_cost_model_t model = {.ts = 1, .tau = 1, .copy = 1};
    dcoll_shape_t shape;
    dcoll_program_t program;
    if (goal_program(goal, &shape, &program, why, size)) {
        must(*why && !strchr(why, '\n'));
        return;
    }
    must(!dcoll_verify(&program, 1, why, size));
    must(dcoll_cost(&program, &model) >= 0);
    must(!goal_refusal(&program));
    goal_program_free(&shape, &program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct content content;
    goal_t goal;
    char why[256] = "";
    content_open(&content);
    content_add(&content, data, size);
    if (goal_read(&goal, content.path, why, sizeof why)) {
        must(*why && !strchr(why, '\n'));
    } else {
        use(&goal, why, sizeof why);
        goal_free(&goal);
    }
    content_close(&content);
    return 0;
}
