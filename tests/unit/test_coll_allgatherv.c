/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather `circulant` with blocks of any sizes, for N up to 128 and 1 to 4
 * ports: n - 1 + ⌈log₂ N⌉ steps, each of about 1/n of all blocks; a rank
 * receives each byte of the others once. Schedules of few ranks are verified,
 * and one of more; other ones with another seed. Schedules with one mistake are
 * found wrong.
 */
#include <time.h>

#include "powers.h"
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/select/table.h"
#include "dapl_rail/dapl_rail.h"

enum { RANKS_MAX = 128, PORTS_MAX = 4, STEPS_MAX = 1100 };
/* Up to so many ranks, all numbers of ports are taken; above, one; above
 * ALL_RANKS, for a quarter of the numbers of ranks. */
enum { ALL_PORTS = 16, ALL_RANKS = 64 };
/* Up to so many ranks, all are verified; above, one number of ranks. */
enum { ALL_VERIFIED = 12, VERIFIED_MOST = 40 };

enum { UNIT = 32 };

enum sizes { EQUAL, ONE_LONG, RISING, EVERY_OTHER, SHORT, NONE, SIZES };

/* Long ones are multiples of UNIT: the verifier takes so many bytes at once. */
static size_t bytes_of(enum sizes sizes, unsigned n, unsigned rank)
{
    switch (sizes) {
    case EQUAL:
        return 4096;
    case ONE_LONG:
        return rank == n / 3 ? 1 << 18 : 0;
    case RISING:
        return 992 * rank;
    case EVERY_OTHER:
        return rank % 2 ? 20000 : 0;
    case SHORT:
        return rank % 3;
    default:
        return 0;
    }
}

static dcoll_args_t args_of(enum sizes sizes, unsigned n, unsigned variant,
                            size_t *begin)
{
    dcoll_args_t args = {.collective = DCOLL_ALLGATHER,
                         .begin = begin,
                         .in_place = variant & 1,
                         .zero_copy = variant & 2,
                         .paced = variant & 8,
                         .depth = 1 + variant / 4 % 2};
    begin[0] = 0;
    for (unsigned r = 0; r < n; r++) {
        const size_t bytes = bytes_of(sizes, n, r);
        begin[r + 1] = begin[r] + bytes;
        args.bytes = bytes > args.bytes ? bytes : args.bytes;
    }
    return args;
}

struct tolls {
    unsigned steps;
    size_t received;
    size_t most[STEPS_MAX]; /* bytes of a rank through a port, in each step */
};

static void add_rank(struct tolls *t, const dcoll_schedule_t *s, unsigned to)
{
    size_t through[PORTS_MAX] = {0};
    unsigned step = 0;
    for (unsigned i = 0; i < s->nops; i++) {
        const dcoll_op_t *op = &s->ops[i];
        if (op->kind != DCOLL_PUT)
            continue;
        if (op->step != step)
            memset(through, 0, sizeof through);
        step = op->step;
        assert_true(step < STEPS_MAX);
        through[op->port] += op->bytes;
        if (through[op->port] > t->most[step])
            t->most[step] = through[op->port];
        t->received += op->peer == to ? op->bytes : 0;
        t->steps = step >= t->steps ? step + 1 : t->steps;
    }
}

static struct tolls tolls_of(const dcoll_program_t *p, unsigned rank)
{
    struct tolls t = {0};
    for (unsigned r = 0; r < p->shape->nranks; r++)
        add_rank(&t, &p->rank[r], rank);
    return t;
}

/* TEMP as declared, with a cache line more for each piece. */
static void check_temp(const dcoll_program_t *p, unsigned pieces)
{
    const unsigned n = p->shape->nranks;
    const size_t block = p->args.bytes + (size_t)pieces * p->shape->ports * 64;
    for (unsigned r = 0; r < n; r++)
        assert_in_range(p->rank[r].temp_bytes, 0,
                        p->args.zero_copy ? 0 : 2 * n * block);
}

/* A piece has a cache line more than the average, at most. */
static void check_tolls(const dcoll_program_t *p, enum sizes sizes)
{
    const unsigned n = p->shape->nranks, k = p->shape->ports;
    const struct tolls t = tolls_of(p, n / 2);
    const unsigned q = log_up(n, 2), pieces = t.steps + 1 - q;
    const double all = (double)p->args.begin[n];
    assert_int_equal(t.received,
                     n > 1 ? p->args.begin[n] - bytes_of(sizes, n, n / 2) : 0);
    if (n == 1)
        return;
    assert_in_range(t.steps, q, q + 1023);
    check_temp(p, pieces);
    for (unsigned step = 0; step < t.steps; step++)
        if ((double)t.most[step] > all / pieces / k + 64.0 * n)
            fail_msg("%u ranks, %u ports, sizes %d: %zu bytes in step %u", n, k,
                     sizes, t.most[step], step);
}

static void check(unsigned n, unsigned ppn, unsigned ports, unsigned variant,
                  bool verified)
{
    unsigned nodes[RANKS_MAX + 1];
    const unsigned nnodes = dcoll_shape_nodes(n, ppn, nodes);
    const dcoll_shape_t shape = {n, nnodes, nodes, ports};
    size_t begin[RANKS_MAX + 1];
    char why[1024] = "";
    dcoll_program_t p;
    const enum sizes sizes = variant / 16 % SIZES;
    const dcoll_args_t args = args_of(sizes, n, variant, begin);
    assert_int_equal(
        dcoll_program_make(&allgather_circulant, &shape, &args, &p), 0);
    check_tolls(&p, sizes);
    if (verified && dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
        fail_msg("%u ranks, %u on a node, %u ports, variant %u: %s", n, ppn,
                 ports, variant, why);
    dcoll_program_free(&p);
}

static unsigned seed_of(void)
{
    const char *text = getenv("COLL_SEED");
    const unsigned seed = text ? (unsigned)strtoul(text, NULL, 0)
                               : (unsigned)time(NULL) % 1000000;
    print_message("COLL_SEED=%u\n", seed);
    return seed;
}

static bool is_taken(unsigned n, unsigned ports, unsigned seed)
{
    const unsigned draws = n <= ALL_RANKS ? PORTS_MAX : 4 * PORTS_MAX;
    return n <= ALL_PORTS || ports == 1 + (seed + n) % draws;
}

static void test_all(void **state)
{
    const unsigned seed = seed_of();
    const unsigned large =
        ALL_VERIFIED + 1 + seed % (VERIFIED_MOST - ALL_VERIFIED - 1);
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++) {
            const unsigned draw = (seed + n * PORTS_MAX + k) * 2654435761u >> 8;
            if (is_taken(n, k, seed))
                check(n, 1 + draw / 1024 % n, k, draw,
                      n <= ALL_VERIFIED || n == large);
        }
}

/* One block of 16 MB, over two rails of 50 GB/s: a broadcast's time, where the
 * other algorithms send the block N - 1 times. `auto` takes it. */
static void test_model(void **state)
{
    static const dcoll_cost_model_t model = {
        .ts = 1.2e-6, .tau = 1 / 50e9, .copy = 1 / 12e9};
    enum { N = 64, LONG = 16 << 20 };
    size_t begin[N + 1] = {0};
    unsigned nodes[N + 1];
    const dcoll_shape_t shape = {N, dcoll_shape_nodes(N, 1, nodes), nodes, 2};
    for (unsigned r = 0; r < N; r++)
        begin[r + 1] = begin[r] + (r == 5 ? LONG : 64);
    dcoll_args_t args = {.collective = DCOLL_ALLGATHER,
                         .bytes = LONG,
                         .begin = begin,
                         .in_place = true,
                         .zero_copy = true,
                         .depth = 2};
    static const dcoll_algorithm_t *const other[] = {
        &allgather_circulant, &allgather_direct, &allgather_ring};
    const double least = LONG / 2 * model.tau;
    double times[3];
    for (unsigned i = 0; i < 3; i++) {
        dcoll_program_t p;
        assert_int_equal(dcoll_program_make(other[i], &shape, &args, &p), 0);
        times[i] = dcoll_cost(&p, &model);
        print_message("%s: %.3g times the least\n", other[i]->name,
                      times[i] / least);
        dcoll_program_free(&p);
    }
    assert_true(times[0] < 2.5 * least);
    assert_true(times[0] * 20 < times[1] && times[0] * 20 < times[2]);
    assert_ptr_equal(
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args),
        &allgather_circulant);
}

static void test_all_variants(void **state)
{
    for (unsigned n = 1; n <= 6; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            for (unsigned variant = 0; variant < 16 * SIZES; variant++)
                check(n, 1 + variant % 5 % n, k, variant, true);
}

/* Makes one mistake in an operation. false: it cannot have this mistake. */
static bool plant(dcoll_schedule_t *s, unsigned i, unsigned mistake)
{
    dcoll_op_t *op = &s->ops[i];
    const bool waits = op->kind == DCOLL_WAIT;
    if (mistake < 3 && (waits || op->bytes < UNIT))
        return false;
    switch (mistake) {
    case 0:
        op->src.offset += UNIT;
        return true;
    case 1:
        op->dst.offset += UNIT;
        return true;
    case 2:
        op->bytes -= UNIT;
        return true;
    default:
        memmove(op, op + 1, (--s->nops - i) * sizeof *op);
        return waits;
    }
}

static void test_planted(void **state)
{
    enum { N = 7, RANK = 3, MISTAKES = 4 };
    static const unsigned nodes[] = {0, 3, 6, N};
    static const dcoll_shape_t shape = {N, 3, nodes, 2};
    size_t begin[N + 1];
    char why[1024];
    unsigned found = 0, ops = 1;
    for (unsigned i = 0; i < ops * MISTAKES * 2; i++) {
        const dcoll_args_t args = args_of(RISING, N, 2 * (i % 2), begin);
        dcoll_program_t p;
        assert_int_equal(
            dcoll_program_make(&allgather_circulant, &shape, &args, &p), 0);
        const unsigned op = i / 2 / MISTAKES, mistake = i / 2 % MISTAKES;
        ops = p.rank[RANK].nops > ops ? p.rank[RANK].nops : ops;
        if (op < p.rank[RANK].nops && plant(&p.rank[RANK], op, mistake)) {
            if (!dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
                fail_msg("mistake %u in operation %u, zero copy %u: not found",
                         mistake, op, i % 2);
            found++;
        }
        dcoll_program_free(&p);
    }
    assert_true(found > 100);
}

/* `auto` takes it if the longest block is more than 4 times the mean, also
 * where the mean is no whole number. */
static void check_auto(size_t longest, size_t others, bool takes)
{
    enum { N = 8 };
    size_t begin[N + 1] = {0};
    unsigned nodes[N + 1];
    const dcoll_shape_t shape = {N, dcoll_shape_nodes(N, 1, nodes), nodes, 1};
    for (unsigned r = 0; r < N; r++)
        begin[r + 1] = begin[r] + (r == 2 ? longest : r == 3 ? others : 0);
    dcoll_args_t args = {.collective = DCOLL_ALLGATHER,
                         .bytes = longest,
                         .begin = begin,
                         .depth = 2};
    assert_int_equal(dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape,
                                        &args) == &allgather_circulant,
                     takes);
}

static void test_auto(void **state)
{
    check_auto(1, 0, true);
    check_auto(1, 1, false);
    check_auto(101, 100, true);
    check_auto(100, 100, false);
    check_auto(0, 0, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),     cmocka_unit_test(test_all_variants),
        cmocka_unit_test(test_planted), cmocka_unit_test(test_auto),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
