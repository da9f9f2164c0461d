/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter `pat` of long blocks: for each number of ranks up to 128 and
 * 1 to 4 ports its steps and memory are those that docs/collectives.md tells,
 * some of its schedules are verified, and it has no superfluous operation.
 */
#include <time.h>

#include "powers.h"
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "dapl_rail/dapl_rail.h"

enum { RANKS_MAX = 128, PORTS_MAX = 4, ELEMENT = 8 };

#define KIB(n) ((size_t)(n) << 10)

static const size_t sizes[] = {KIB(512), KIB(64), KIB(16)};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void make(const dcoll_shape_t *shape, size_t bytes, unsigned depth,
                 dcoll_program_t *p)
{
    const dcoll_args_t args = {.collective = DCOLL_REDUCE_SCATTER_BLOCK,
                               .bytes = bytes,
                               .element = ELEMENT,
                               .commutes = true,
                               .depth = depth};
    assert_int_equal(
        dcoll_program_make(&reduce_scatter_block_pat, shape, &args, p), 0);
}

static unsigned steps_of(const dcoll_schedule_t *s)
{
    unsigned steps = 0;
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_PUT && s->ops[i].step >= steps)
            steps = s->ops[i].step + 1u;
    return steps;
}

static size_t longest_of(const dcoll_schedule_t *s)
{
    size_t longest = 0;
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_PUT && s->ops[i].bytes > longest)
            longest = s->ops[i].bytes;
    return longest;
}

static unsigned power(unsigned base, unsigned exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

/* The levels that go row by row: the fewest for which a row is short, but not
 * the highest one. */
static unsigned low_of(unsigned n, unsigned k, size_t bytes)
{
    unsigned low = 0;
    while (low + 1 < log_up(n, k + 1) &&
           divided_up(n, power(k + 1, low)) * bytes > KIB(256))
        low++;
    return low;
}

static void check(unsigned n, unsigned k, size_t bytes)
{
    const unsigned nodes[] = {0, n};
    const dcoll_shape_t shape = {n, 1, nodes, k};
    const unsigned low = low_of(n, k, bytes);
    const unsigned row = divided_up(n, power(k + 1, low));
    const unsigned steps = (power(k + 1, low) - 1) / k + log_up(n, k + 1) - low;
    dcoll_program_t p;
    make(&shape, bytes, 2, &p);
    if (steps_of(&p.rank[0]) != steps)
        fail_msg("%u ranks, %u ports, %zu bytes: %u steps, not %u", n, k, bytes,
                 steps_of(&p.rank[0]), steps);
    if (low) {
        assert_int_equal(p.rank[0].temp_bytes,
                         row * (2 + 2 * k + low * k) * bytes);
        assert_true(longest_of(&p.rank[0]) <= row * bytes);
    } else {
        assert_int_equal(p.rank[0].temp_bytes, n > 1 ? 2 * n * bytes : 0);
    }
    dcoll_program_free(&p);
}

static void test_steps_and_memory(void **state)
{
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            for (unsigned i = 0; i < SIZES; i++)
                check(n, k, sizes[i]);
}

static void verify(unsigned n, unsigned k, size_t bytes, unsigned depth)
{
    const unsigned nodes[] = {0, n};
    const dcoll_shape_t shape = {n, 1, nodes, k};
    dcoll_program_t p;
    char why[1024] = "";
    make(&shape, bytes, depth, &p);
    if (dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
        fail_msg("%u ranks, %u ports, %zu bytes, depth %u: %s", n, k, bytes,
                 depth, why);
    dcoll_program_free(&p);
}

/* All up to 20 ranks, beyond that some that are drawn. */
static void test_verified(void **state)
{
    const char *text = getenv("COLL_SEED");
    const unsigned seed = text ? (unsigned)strtoul(text, NULL, 0)
                               : (unsigned)time(NULL) % 1000000;
    print_message("COLL_SEED=%u\n", seed);
    for (unsigned n = 1; n <= 20; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            for (unsigned i = 0; i < SIZES; i++)
                verify(n, k, sizes[i], 1 + (n + k + i) % 2);
    for (unsigned n = 21; n <= RANKS_MAX; n += 9) {
        const unsigned draw = (seed + n) * 2654435761u >> 8;
        verify(n + draw % 8, 1 + draw / 8 % PORTS_MAX, sizes[draw / 64 % SIZES],
               1 + draw / 512 % 2);
    }
}

/* ------------------------------------------------- planted faults --- */

static void drop(dcoll_schedule_t *s, unsigned index)
{
    s->nops--;
    for (unsigned i = index; i < s->nops; i++)
        s->ops[i] = s->ops[i + 1];
}

/* The peer's wait for the n-th credit of a rank. */
static unsigned wait_for_credit(const dcoll_schedule_t *s, unsigned from,
                                unsigned nth)
{
    unsigned i = 0;
    for (;; i++) {
        assert_true(i < s->nops);
        if (s->ops[i].kind == DCOLL_WAIT && s->ops[i].tag == DCOLL_CREDIT &&
            s->ops[i].peer == from && !nth--)
            return i;
    }
}

/* Leaves out operation `index` of a rank; a credit with its wait. */
static void leave_out(dcoll_program_t *p, unsigned rank, unsigned index)
{
    dcoll_schedule_t *s = &p->rank[rank];
    const dcoll_op_t out = s->ops[index];
    unsigned nth = 0;
    for (unsigned i = 0; i < index; i++)
        nth += s->ops[i].kind == DCOLL_NOTIFY && s->ops[i].peer == out.peer;
    if (out.kind == DCOLL_NOTIFY) {
        dcoll_schedule_t *peer = &p->rank[out.peer];
        drop(peer, wait_for_credit(peer, rank, nth));
    }
    drop(s, index);
}

/* Every operation is missed. Only some of the credits, and of the COMPLETEs
 * within a start, are implied: by data of ranks that have got ours. reuses:
 * rows are written again. */
static void miss_all(unsigned n, unsigned k, unsigned depth, bool reuses)
{
    const unsigned nodes[] = {0, n}, rank = n / 2;
    const dcoll_shape_t shape = {n, 1, nodes, k};
    dcoll_program_t p;
    char why[1024];
    unsigned credits = 0, completes = 0, count;
    make(&shape, KIB(512), depth, &p);
    count = p.rank[rank].nops;
    dcoll_program_free(&p);
    for (unsigned i = 0; i < count; i++) {
        make(&shape, KIB(512), depth, &p);
        const dcoll_op_t out = p.rank[rank].ops[i];
        const bool credit = out.kind == DCOLL_NOTIFY;
        const bool complete = out.kind == DCOLL_COMPLETE && out.puts;
        leave_out(&p, rank, i);
        const int rc =
            dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
        credits += credit && rc;
        completes += complete && rc;
        if (!rc && !credit && !complete)
            fail_msg("%u ranks, %u ports, depth %u: %s %u is superfluous", n, k,
                     depth, dcoll_kind_name(out.kind), i);
        dcoll_program_free(&p);
    }
    assert_true(credits > 0);
    assert_int_equal(completes > 0, reuses);
}

static void test_nothing_is_superfluous(void **state)
{
    miss_all(8, 1, 1, true);
    miss_all(13, 1, 2, true);
    miss_all(9, 2, 1, false); /* one level goes row by row, in one step */
    miss_all(28, 2, 2, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_and_memory),
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_nothing_is_superfluous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
