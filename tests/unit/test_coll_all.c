/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All algorithms are correct: N = 1 … 64 ranks, k = 1 … 4 ports, 1 … 8 ranks
 * per node and unequal nodes, with the number of starts that proves it, at the
 * depths that run. Small N: all nodes and variants (in place, zero copy, depth,
 * bytes). Large N: random ones, from the printed COLL_SEED. Two processes share
 * the work.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

#define PORTS_MAX 4
#define PPN_MAX   8
#define WORKERS   2
#ifdef DRAIL_SANITIZE
#define RANKS_MAX    20
#define ALL_RANKS    4 /* up to so many: all variants */
#define LAYOUTS      2 /* beyond: so many of several nodes */
#define DRAWS        2 /* and so many variants of each shape */
#define LAYOUTS_STEP 2
#define EACH_RANKS   12 /* beyond: some numbers of ranks, drawn as well */
#else
#define RANKS_MAX    64
#define ALL_RANKS    9
#define LAYOUTS      2
#define DRAWS        2
#define LAYOUTS_STEP 1
#define EACH_RANKS   24
#endif
#define LONG_STARTS 32 /* of more starts, beyond ALL_RANKS: */
#define LONG_SHARE  4  /* one proof of so many */

/* In place, zero copy, depth: 8 ways; bytes with and without a payload, where
 * blocks fill a cache line, and none; the last one, of many cells, for small N
 * only. */
static const size_t sizes[] = {8, 64, 1, 0, 56, 57};
#define SIZES    (sizeof sizes / sizeof *sizes)
#define VARIANTS (8 * SIZES)

/* Of a reduction, in place of a whole line: so many elements that the slice of
 * each rank has several, if there are slices. Of no power of two, they are
 * divided where few. */
#define ELEMENT 24

static size_t elements(dcoll_collective_t collective, unsigned ranks)
{
    bool sliced = collective == DCOLL_REDUCE || collective == DCOLL_ALLREDUCE;
    return 2 * (sliced || ranks < ALL_RANKS ? ranks : ALL_RANKS) + 1;
}

struct sweep {
    const dcoll_algorithm_t *algorithm;
    uint64_t random;
    unsigned cases, failures;
};

static unsigned draw(struct sweep *sweep, unsigned limit)
{
    sweep->random = sweep->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(sweep->random >> 33) % limit;
}

static void describe(const dcoll_program_t *p, char *text, size_t size)
{
    const dcoll_shape_t *s = p->shape;
    int used = snprintf(
        text, size,
        "%u ranks, %u ports, in place %d, zero copy %d, depth %u, %zu bytes, "
        "root %u, nodes begin at",
        s->nranks, s->ports, p->args.in_place, p->args.zero_copy, p->args.depth,
        p->args.bytes, p->args.root);
    for (unsigned n = 0; n < s->nnodes && (size_t)used < size; n++)
        used +=
            snprintf(text + used, size - (size_t)used, " %u", s->node_begin[n]);
}

/* Ranks that run ahead by hundreds of starts need as many to be proved. */
static bool left_out(struct sweep *sweep, unsigned ranks, unsigned starts)
{
    return ranks > ALL_RANKS && starts > LONG_STARTS && draw(sweep, LONG_SHARE);
}

static void run(struct sweep *sweep, const dcoll_shape_t *shape,
                const dcoll_args_t *args)
{
    const dcoll_algorithm_t *a = sweep->algorithm;
    dcoll_program_t p;
    char why[1024] = "", text[1024];
    int rc = dcoll_program_make(a, shape, args, &p);
    if (rc == DRAIL_ENOTSUP)
        return;
    unsigned starts = rc ? 0 : dcoll_proof_starts(&p);
    if (!left_out(sweep, shape->nranks, starts)) {
        if (!rc)
            rc = dcoll_verify(&p, starts, why, sizeof why);
        sweep->cases++;
        if (rc && sweep->failures++ < 3) {
            describe(&p, text, sizeof text);
            fprintf(stderr, "%s %s: %s: %s\n",
                    dcoll_collective_name(a->collective), a->name, text, why);
        }
    }
    dcoll_program_free(&p);
}

static void run_variant(struct sweep *sweep, const dcoll_shape_t *shape,
                        unsigned variant, unsigned root, unsigned groups)
{
    const dcoll_algorithm_t *a = sweep->algorithm;
    size_t bytes = sizes[variant / 8], element = 0;
    if (dcoll_collective_reduces(a->collective) && bytes == 64) {
        element = ELEMENT;
        bytes = element * elements(a->collective, shape->nranks);
    }
    dcoll_args_t args = {
        .collective = a->collective,
        .bytes = bytes,
        .element = element,
        .root = root,
        .in_place = variant & 1,
        .zero_copy = variant & 2,
        .depth = dcoll_depth(a, shape, bytes, variant & 4 ? 1 : 2),
        .groups = groups,
    };
    args.commutes = dcoll_needs_commuting(a, shape, &args);
    run(sweep, shape, &args);
}

static void run_shape(struct sweep *sweep, const dcoll_shape_t *shape)
{
    if (shape->nranks <= ALL_RANKS) {
        for (unsigned v = 0; v < VARIANTS; v++)
            run_variant(sweep, shape, v, v * 7 % shape->nranks, v / 8 % 5);
        return;
    }
    for (unsigned i = 0; i < DRAWS; i++)
        run_variant(sweep, shape, draw(sweep, VARIANTS - 8),
                    draw(sweep, shape->nranks), draw(sweep, PPN_MAX + 1));
}

/* ------------------------------------------------------------- shapes --- */

/* ppn 0: uneven nodes of 1 … 8 ranks. */
static unsigned make_nodes(unsigned n, unsigned ppn, unsigned *node_begin)
{
    static const unsigned uneven[] = {3, 1, 5, 2, 8, 1, 4};
    unsigned nodes = 0, first = 0;
    if (ppn)
        return dcoll_shape_nodes(n, ppn, node_begin);
    while (first < n) {
        node_begin[nodes] = first;
        first += uneven[(nodes + n) % 7];
        nodes++;
    }
    node_begin[nodes] = n;
    return nodes;
}

static bool same_op(const dcoll_op_t *a, const dcoll_op_t *b)
{
    return a->kind == b->kind && a->phase == b->phase && a->step == b->step &&
           a->peer == b->peer && a->port == b->port && a->flag == b->flag &&
           a->lag == b->lag && a->every == b->every && a->tag == b->tag &&
           a->src.space == b->src.space && a->src.offset == b->src.offset &&
           a->dst.space == b->dst.space && a->dst.offset == b->dst.offset &&
           a->bytes == b->bytes;
}

/* Do nodes make a difference to the algorithm? */
static bool knows_nodes_at(const dcoll_algorithm_t *a, size_t bytes,
                           bool zero_copy)
{
    static const unsigned one[] = {0, 6}, three[] = {0, 3, 5, 6};
    const dcoll_shape_t shapes[] = {{6, 1, one, 2}, {6, 3, three, 2}};
    const dcoll_args_t args = {.collective = a->collective,
                               .bytes =
                                   a->collective == DCOLL_BARRIER ? 0 : bytes,
                               .commutes = true,
                               .zero_copy = zero_copy,
                               .depth = 2};
    dcoll_program_t p[2];
    bool differ = false;
    if (dcoll_refusal(a, &shapes[0], &args) ||
        dcoll_refusal(a, &shapes[1], &args))
        return true;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(dcoll_program_make(a, &shapes[i], &args, &p[i]), 0);
    for (unsigned r = 0; r < 6; r++) {
        const dcoll_schedule_t *x = &p[0].rank[r], *y = &p[1].rank[r];
        differ |= x->nops != y->nops;
        for (unsigned i = 0; !differ && i < x->nops; i++)
            differ = !same_op(&x->ops[i], &y->ops[i]);
    }
    dcoll_program_free(&p[0]);
    dcoll_program_free(&p[1]);
    return differ;
}

static bool knows_nodes(const dcoll_algorithm_t *a)
{
    static const size_t blocks[] = {8, 100, 20000};
    for (unsigned i = 0; i < 6; i++)
        if (knows_nodes_at(a, blocks[i / 2], i % 2))
            return true;
    return false;
}

/* ppn of the next layout to be looked at, n: one node; false: no more. Small N
 * have all of them, large N one node and some that are drawn. */
static bool next_layout(struct sweep *sweep, unsigned n, unsigned count,
                        unsigned *ppn)
{
    const unsigned most = n - 1 < PPN_MAX ? n - 1 : PPN_MAX;
    *ppn = count ? (count - 1) * LAYOUTS_STEP : n;
    if (n > ALL_RANKS && count)
        *ppn = draw(sweep, most + 1);
    return n > ALL_RANKS ? count <= LAYOUTS : *ppn <= most || !count;
}

static void sweep_ports(struct sweep *sweep, unsigned n, unsigned ports,
                        bool nodes_matter)
{
    unsigned node_begin[RANKS_MAX + 1], ppn;
    dcoll_shape_t shape = {n, 1, node_begin, ports};
    for (unsigned i = 0; next_layout(sweep, n, i, &ppn); i++) {
        shape.nnodes = make_nodes(n, ppn, node_begin);
        run_shape(sweep, &shape);
        if (!nodes_matter)
            break;
    }
}

static void sweep_algorithm(struct sweep *sweep)
{
    bool nodes_matter = knows_nodes(sweep->algorithm);
    for (unsigned n = 1; n <= RANKS_MAX;
         n += n < EACH_RANKS ? 1 : 1 + draw(sweep, 4))
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            sweep_ports(sweep, n, k, nodes_matter);
}

/* --------------------------------------------------------------- test --- */

static int work(unsigned worker, uint64_t seed)
{
    unsigned index = 0, failures = 0;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        struct sweep sweep = {.algorithm = *a, .random = seed + index};
        if (index++ % WORKERS != worker)
            continue;
        sweep_algorithm(&sweep);
        if (!sweep.cases)
            fprintf(stderr, "%s: refuses everything\n", (*a)->name);
        failures += sweep.failures + !sweep.cases;
    }
    return failures != 0;
}

static void test_all(void **state)
{
    pid_t pids[WORKERS];
    const char *text = getenv("COLL_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    print_message("COLL_SEED=%llu\n", (unsigned long long)seed);
    assert_non_null(dcoll_algorithms()[0]);
    for (unsigned i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (!pids[i])
            _exit(work(i, seed));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
