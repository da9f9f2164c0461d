/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware algorithms (Qian and Afsahi 2008, section 5.2): masters put from
 * the shared memory of their node straight into that of another, at any size;
 * and a rank's own block never goes to that rank through shared memory.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"

enum { RANKS = 15, NODES = 4 };
static const unsigned begin[NODES + 1] = {0, 4, 7, 12, 15};

static const dcoll_algorithm_t *const smp[] = {
    &gather_smp,
    &bcast_smp,
    &allgather_smp_gather_bcast,
    &allgather_smp_gather_bcast_tree,
    &allgather_smp_direct,
    &allgather_smp_bruck,
    &allgather_smp_bruck_all,
    &alltoall_smp_direct,
    &alltoall_smp_bruck,
    &alltoall_smp_gather_scatter,
};

typedef void look(const dcoll_algorithm_t *algorithm,
                  const dcoll_program_t *program);

/* Blocks in flags' lines and in NODE, depth 1 and 2, in place or not. */
static void look_at_all(look *at, bool zero_copy)
{
    const dcoll_shape_t shape = {RANKS, NODES, begin, 2};
    for (unsigned a = 0; a < sizeof smp / sizeof *smp; a++)
        for (unsigned way = 0; way < 8; way++) {
            const dcoll_collective_t what = smp[a]->collective;
            dcoll_program_t program;
            const dcoll_args_t args = {
                .collective = what,
                .bytes = way & 1 ? 8 : 100,
                .root = 5,
                .in_place = way & 2 &&
                            (what == DCOLL_ALLGATHER || what == DCOLL_ALLTOALL),
                .zero_copy = zero_copy,
                .depth = way & 4 ? 1 : 2};
            assert_int_equal(
                dcoll_program_make(smp[a], &shape, &args, &program), 0);
            at(smp[a], &program);
            dcoll_program_free(&program);
        }
}

static void look_at_puts(const dcoll_algorithm_t *algorithm,
                         const dcoll_program_t *program)
{
    for (unsigned r = 0; r < RANKS; r++) {
        const dcoll_schedule_t *s = &program->rank[r];
        if (s->temp_bytes)
            fail_msg("%s: rank %u has TEMP", algorithm->name, r);
        for (unsigned i = 0; i < s->nops; i++)
            if (s->ops[i].kind == DCOLL_PUT) {
                assert_int_equal(s->ops[i].src.space, DCOLL_NODE);
                assert_int_equal(s->ops[i].dst.space, DCOLL_NODE);
            }
    }
}

static void test_node_to_node(void **state)
{
    look_at_all(look_at_puts, false);
}

/* Of the buffers of users, too. */
static void look_at_temp(const dcoll_algorithm_t *algorithm,
                         const dcoll_program_t *program)
{
    for (unsigned r = 0; r < RANKS; r++)
        assert_int_equal(program->rank[r].temp_bytes, 0);
}

static void test_zero_copy(void **state)
{
    look_at_all(look_at_temp, true);
}

/* Does it write this rank's own block in RECV, and where from? */
static bool brings_own(const dcoll_program_t *program, unsigned rank,
                       const dcoll_op_t *op)
{
    const size_t bytes = program->args.bytes, own = rank * bytes;
    return op->kind == DCOLL_COPY && op->dst.space == DCOLL_RECV &&
           op->dst.offset < own + bytes && own < op->dst.offset + op->bytes;
}

static void look_at_own(const dcoll_algorithm_t *algorithm,
                        const dcoll_program_t *program)
{
    if (algorithm->collective == DCOLL_BCAST)
        return;
    for (unsigned r = 0; r < RANKS; r++) {
        unsigned copies = 0;
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            const dcoll_op_t *op = &program->rank[r].ops[i];
            if (!brings_own(program, r, op))
                continue;
            copies++;
            if (op->src.space != DCOLL_SEND)
                fail_msg("%s: rank %u gets its own block through shared memory",
                         algorithm->name, r);
        }
        assert_int_equal(copies, algorithm->collective == DCOLL_GATHER
                                     ? r == program->args.root
                                     : !program->args.in_place);
    }
}

/* Fig. 7. */
static void test_own_block(void **state)
{
    look_at_all(look_at_own, false);
    look_at_all(look_at_own, true);
}

/* The longest message of a rank's last step. */
static size_t longest_of_last_step(const dcoll_schedule_t *s)
{
    unsigned step = 0;
    size_t bytes = 0;
    for (unsigned i = 0; i < s->nops; i++) {
        const dcoll_op_t *op = &s->ops[i];
        if (op->kind != DCOLL_PUT || op->step < step)
            continue;
        if (op->step > step || op->bytes > bytes)
            bytes = op->bytes;
        step = op->step;
    }
    return bytes;
}

/* The blocks missing before Bruck's last, partial step are spread evenly over
 * the ports: nine nodes of one rank. */
static void test_last_step(void **state)
{
    static const size_t blocks[] = {1, 3, 2, 1}; /* by ports */
    static const unsigned nine[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const dcoll_args_t args = {.bytes = 100, .depth = 2};
    for (unsigned k = 1; k <= 4; k++) {
        const dcoll_shape_t shape = {9, 9, nine, k};
        dcoll_schedule_t s = {0};
        allgather_smp_bruck.generate(&shape, &args, 3, &s);
        assert_int_equal(s.error, 0);
        assert_int_equal(longest_of_last_step(&s), blocks[k - 1] * args.bytes);
        dcoll_schedule_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_to_node),
        cmocka_unit_test(test_zero_copy),
        cmocka_unit_test(test_own_block),
        cmocka_unit_test(test_last_step),
    };
    return cmocka_run_group_tests_name("coll_node_to_node", tests, NULL, NULL);
}
