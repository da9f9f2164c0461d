/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports that the messages of each algorithm use, with gets and messages
 * without data.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"

/* So many nodes that no exchange would take as few steps with fewer ports. */
enum { RANKS = 20, PPN = 2, NODES = RANKS / PPN, PORTS = 3 };

/* The papers compare their multi-port algorithms with these. */
static const dcoll_algorithm_t *const single_port[] = {
    &gather_tree,
    &allgather_ring,
    &allgather_doubling,
    &alltoall_pairwise,
    &alltoall_permission,
    &allgather_gather_bcast,
    &allgather_mc_single_ring,
};

static bool is_single_port(const dcoll_algorithm_t *algorithm)
{
    for (unsigned i = 0; i < sizeof single_port / sizeof *single_port; i++)
        if (algorithm == single_port[i])
            return true;
    return false;
}

/* Nodes of PPN, or one node for those that want that. */
static bool make(const dcoll_algorithm_t *algorithm, dcoll_args_t args,
                 dcoll_shape_t *shape, dcoll_program_t *program)
{
    static unsigned begin[NODES + 1];
    unsigned nodes = dcoll_shape_nodes(RANKS, PPN, begin);
    *shape = (dcoll_shape_t){RANKS, nodes, begin, PORTS};
    args.collective = algorithm->collective;
    args.commutes = true;
    if (dcoll_refusal(algorithm, shape, &args)) {
        shape->nnodes = dcoll_shape_nodes(RANKS, RANKS, begin);
    }
    if (dcoll_refusal(algorithm, shape, &args))
        return false;
    assert_int_equal(dcoll_program_make(algorithm, shape, &args, program), 0);
    return true;
}

typedef void look(const dcoll_algorithm_t *algorithm,
                  const dcoll_program_t *program);

static void look_at_all(look *at)
{
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned way = 0; way < 8; way++) {
            dcoll_program_t program;
            dcoll_shape_t shape;
            if (!make(*a,
                      (dcoll_args_t){.bytes = way & 1 ? 8 : 100,
                                     .root = 5,
                                     .zero_copy = way & 2,
                                     .depth = way & 4 ? 1 : 2},
                      &shape, &program))
                continue;
            at(*a, &program);
            dcoll_program_free(&program);
        }
}

/* The port of the first put from one rank to another: into RECV, or else into
 * any memory. */
static unsigned port_of_put(const dcoll_program_t *program, unsigned from,
                            unsigned to)
{
    const dcoll_schedule_t *s = &program->rank[from];
    const dcoll_op_t *first = NULL;
    for (unsigned i = s->nops; i-- > 0;)
        if (s->ops[i].kind == DCOLL_PUT && s->ops[i].peer == to &&
            (!first || s->ops[i].dst.space == DCOLL_RECV ||
             first->dst.space != DCOLL_RECV))
            first = &s->ops[i];
    if (!first)
        fail_msg("nothing is put from %u to %u", from, to);
    return first->port;
}

static unsigned permissions[PORTS];

static void look_at_permissions(const dcoll_algorithm_t *algorithm,
                                const dcoll_program_t *program)
{
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            const dcoll_op_t *op = &program->rank[r].ops[i];
            if (op->kind != DCOLL_NOTIFY || op->tag == DCOLL_DATA)
                continue;
            permissions[op->port]++;
            if (op->port != port_of_put(program, op->peer, r))
                fail_msg("%s %s: rank %u permits rank %u through port %u",
                         dcoll_collective_name(algorithm->collective),
                         algorithm->name, r, op->peer, op->port);
        }
}

/* READY and CREDIT go through the port of the put that they permit. */
static void test_permissions(void **state)
{
    look_at_all(look_at_permissions);
    for (unsigned p = 0; p < PORTS; p++)
        assert_true(permissions[p] > 100);
}

static void look_at_barrier(const dcoll_algorithm_t *algorithm,
                            const dcoll_program_t *program)
{
    unsigned used[RANKS][8][PORTS][2] = {0};
    if (algorithm->collective != DCOLL_BARRIER)
        return;
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            const dcoll_op_t *op = &program->rank[r].ops[i];
            if (op->kind != DCOLL_NOTIFY)
                continue;
            assert_int_equal(used[r][op->step][op->port][0]++, 0);
            assert_int_equal(used[op->peer][op->step][op->port][1]++, 0);
        }
}

/* In each step a rank sends and gets one message a port. */
static void test_barriers(void **state)
{
    look_at_all(look_at_barrier);
}

static void look_at_single_port(const dcoll_algorithm_t *algorithm,
                                const dcoll_program_t *program)
{
    if (!is_single_port(algorithm))
        return;
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++)
            if (program->rank[r].ops[i].port)
                fail_msg("%s %s: rank %u uses port %u",
                         dcoll_collective_name(algorithm->collective),
                         algorithm->name, r, program->rank[r].ops[i].port);
}

static void test_single_port(void **state)
{
    look_at_all(look_at_single_port);
}

static void look_at_multi_port(const dcoll_algorithm_t *algorithm,
                               const dcoll_program_t *program)
{
    unsigned used[PORTS] = {0}, messages = 0;
    if (is_single_port(algorithm))
        return;
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            const dcoll_op_t *op = &program->rank[r].ops[i];
            if (op->kind != DCOLL_PUT && op->kind != DCOLL_GET &&
                op->kind != DCOLL_NOTIFY)
                continue;
            messages++;
            assert_true(op->port < PORTS);
            used[op->port]++;
        }
    for (unsigned p = 0; messages && p < PORTS; p++)
        if (!used[p])
            fail_msg("%s %s: port %u is not used",
                     dcoll_collective_name(algorithm->collective),
                     algorithm->name, p);
}

static void test_multi_port(void **state)
{
    look_at_all(look_at_multi_port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_single_port),
        cmocka_unit_test(test_multi_port),
    };
    return cmocka_run_group_tests_name("coll_ports", tests, NULL, NULL);
}
