/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_stripe as a pure function: its promises over random inputs. */
#include <math.h>

#include "unit.h"
#include "dapl_rail/dapl_rail.h"

static uint64_t rng = 88172645463325252ull;

static uint64_t rnd(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng;
}

/* Sizes around powers of two, and large ones. */
static size_t random_size(void)
{
    size_t base = (size_t)1 << (rnd() % 63);
    switch (rnd() % 4) {
    case 0:
        return rnd() % 8;
    case 1:
        return base + rnd() % 3 - (base > 1);
    case 2:
        return rnd() % base;
    default:
        return rnd() % (1 << 22);
    }
}

static void check_chunks(const drail_stripe_t *s, size_t bytes,
                         const drail_chunk_t *chunks, int n)
{
    size_t align = s->align ? s->align : 1;
    size_t at = 0;
    unsigned seen = 0;

    assert_in_range(n, 1, s->nrails);
    for (int i = 0; i < n; i++) {
        assert_in_range(chunks[i].rail, 0, s->nrails - 1);
        assert_false(seen & 1u << chunks[i].rail);
        seen |= 1u << chunks[i].rail;
        assert_int_equal(chunks[i].offset, at);
        assert_true(chunks[i].bytes > 0 || (n == 1 && bytes == 0));
        if (i > 0)
            assert_int_equal(chunks[i].offset % align, 0);
        if (s->weights && s->policy != DRAIL_POLICY_FIXED)
            assert_true(s->weights[chunks[i].rail] > 0);
        at += chunks[i].bytes;
    }
    assert_int_equal(at, bytes);
}

static void random_inputs(void **state)
{
    for (int i = 0; i < 200000; i++) {
        double weights[DRAIL_MAX_RAILS];
        drail_chunk_t chunks[DRAIL_MAX_RAILS];
        drail_stripe_t s = {
            .policy = (drail_policy_t)(rnd() % 5),
            .nrails = 1 + (unsigned)(rnd() % DRAIL_MAX_RAILS),
            .threshold = rnd() % 2 ? random_size() : 0,
            .align = rnd() % 2 ? 0 : (size_t)1 << (rnd() % 13),
        };
        s.turn = (unsigned)(rnd() %
                            (s.policy == DRAIL_POLICY_FIXED ? s.nrails : 1000));
        for (unsigned r = 0; r < s.nrails; r++)
            weights[r] = rnd() % 4 ? (double)(rnd() % 1000) / 7 : 0;
        weights[rnd() % s.nrails] = 1 + (double)(rnd() % 100);
        if (rnd() % 3)
            s.weights = weights;
        size_t bytes = random_size();
        int n = drail_stripe(&s, bytes, chunks);
        check_chunks(&s, bytes, chunks, n);
        bool whole = s.policy == DRAIL_POLICY_FIXED ||
                     s.policy == DRAIL_POLICY_ROUNDROBIN || bytes < s.threshold;
        if (whole)
            assert_int_equal(n, 1);
    }
}

static void even_halves(void **state)
{
    drail_chunk_t c[DRAIL_MAX_RAILS];
    drail_stripe_t s = {.policy = DRAIL_POLICY_EVEN, .nrails = 2};
    assert_int_equal(drail_stripe(&s, 1 << 20, c), 2);
    assert_int_equal(c[0].bytes, 1 << 19);
    assert_int_equal(c[1].bytes, 1 << 19);
    assert_int_equal(c[0].rail, 0);
    assert_int_equal(c[1].rail, 1);
}

static void even_parts(unsigned nrails, size_t bytes, drail_chunk_t *c)
{
    drail_stripe_t s = {.policy = DRAIL_POLICY_EVEN, .nrails = nrails};
    assert_int_equal(drail_stripe(&s, bytes, c), nrails);
}

/* The paper's N/2, also where a part is less than a cache line. */
static void short_parts_are_equal(void **state)
{
    drail_chunk_t c[DRAIL_MAX_RAILS];
    for (unsigned n = 2; n <= DRAIL_MAX_RAILS; n++)
        for (size_t bytes = n; bytes < n * 512; bytes++) {
            even_parts(n, bytes, c);
            for (unsigned i = 0; i < n; i++)
                assert_in_range(c[i].bytes, bytes / n, bytes / n + 1);
        }
    even_parts(2, 100, c);
    assert_int_equal(c[0].bytes, 50);
}

/* Where a line is little beside a part, no line is shared. */
static void long_parts_begin_at_lines(void **state)
{
    drail_chunk_t c[DRAIL_MAX_RAILS];
    for (int i = 0; i < 20000; i++) {
        unsigned n = 2 + (unsigned)(rnd() % (DRAIL_MAX_RAILS - 1));
        size_t bytes = n * 512 + rnd() % (1 << 20);
        even_parts(n, bytes, c);
        for (unsigned k = 0; k < n; k++) {
            double exact = (double)bytes / n;
            assert_int_equal(c[k].offset % 64, 0);
            assert_true(fabs((double)c[k].bytes - exact) <= exact / 4);
        }
    }
}

static void borders_as_asked(void **state)
{
    drail_chunk_t c[DRAIL_MAX_RAILS];
    drail_stripe_t s = {.nrails = 2, .align = 1};
    assert_int_equal(drail_stripe(&s, 100002, c), 2);
    assert_int_equal(c[1].offset, 50001);
    s.align = 64;
    assert_int_equal(drail_stripe(&s, 100, c), 1);
    assert_int_equal(drail_stripe(&s, 200, c), 2);
    assert_int_equal(c[1].offset, 64);
}

static void shares_follow_weights(void **state)
{
    double weights[3] = {3, 0, 1};
    drail_chunk_t c[DRAIL_MAX_RAILS];
    drail_stripe_t s = {
        .policy = DRAIL_POLICY_WEIGHTED, .nrails = 3, .weights = weights};
    assert_int_equal(drail_stripe(&s, 4096, c), 2);
    assert_int_equal(c[0].bytes, 3072);
    assert_int_equal(c[1].rail, 2);
    assert_int_equal(c[1].bytes, 1024);
}

/* Every share is within one alignment unit of the exact one. */
static void shares_are_exact(void **state)
{
    for (int i = 0; i < 20000; i++) {
        double weights[DRAIL_MAX_RAILS], sum = 0;
        drail_chunk_t c[DRAIL_MAX_RAILS];
        drail_stripe_t s = {.policy = DRAIL_POLICY_WEIGHTED,
                            .nrails = 1 + (unsigned)(rnd() % 8),
                            .weights = weights};
        size_t bytes = (1 << 16) + rnd() % (1 << 24);
        for (unsigned r = 0; r < s.nrails; r++)
            sum += weights[r] = 1 + (double)(rnd() % 9);
        int n = drail_stripe(&s, bytes, c);
        assert_int_equal(n, s.nrails);
        for (int k = 0; k < n; k++) {
            double exact = (double)bytes * weights[c[k].rail] / sum;
            assert_true(fabs((double)c[k].bytes - exact) <= 128);
        }
    }
}

static void roundrobin_takes_turns(void **state)
{
    double weights[4] = {1, 0, 1, 1};
    unsigned expected[] = {0, 2, 3, 0, 2};
    drail_chunk_t c[DRAIL_MAX_RAILS];
    for (unsigned turn = 0; turn < 5; turn++) {
        drail_stripe_t s = {.policy = DRAIL_POLICY_ROUNDROBIN,
                            .nrails = 4,
                            .weights = weights,
                            .turn = turn};
        assert_int_equal(drail_stripe(&s, 100, c), 1);
        assert_int_equal(c[0].rail, expected[turn]);
    }
}

static void below_threshold_heaviest_rail(void **state)
{
    double weights[3] = {1, 5, 2};
    drail_chunk_t c[DRAIL_MAX_RAILS];
    drail_stripe_t s = {.policy = DRAIL_POLICY_ADAPTIVE,
                        .nrails = 3,
                        .weights = weights,
                        .threshold = 4096};
    assert_int_equal(drail_stripe(&s, 4095, c), 1);
    assert_int_equal(c[0].rail, 1);
    assert_int_equal(drail_stripe(&s, 4096, c), 3);
}

static void bad_arguments(void **state)
{
    drail_chunk_t c[DRAIL_MAX_RAILS];
    double negative[2] = {1, -1}, none[2] = {0, 0}, nan[2] = {1, NAN},
           inf[2] = {INFINITY, 1};
    drail_stripe_t good = {.policy = DRAIL_POLICY_EVEN, .nrails = 2}, s;

    assert_int_equal(drail_stripe(NULL, 1, c), DRAIL_EINVAL);
    assert_int_equal(drail_stripe(&good, 1, NULL), DRAIL_EINVAL);
    s = good, s.nrails = 0;
    assert_int_equal(drail_stripe(&s, 1, c), DRAIL_EINVAL);
    s = good, s.nrails = DRAIL_MAX_RAILS + 1;
    assert_int_equal(drail_stripe(&s, 1, c), DRAIL_EINVAL);
    s = good, s.align = 48;
    assert_int_equal(drail_stripe(&s, 1, c), DRAIL_EINVAL);
    s = good, s.policy = DRAIL_POLICY_FIXED, s.turn = 2;
    assert_int_equal(drail_stripe(&s, 1, c), DRAIL_EINVAL);
    s = good, s.policy = (drail_policy_t)17;
    assert_int_equal(drail_stripe(&s, 1, c), DRAIL_EINVAL);
    const double *bad[] = {negative, none, nan, inf};
    for (int i = 0; i < 4; i++) {
        s = good, s.weights = bad[i];
        assert_int_equal(drail_stripe(&s, 1, c), DRAIL_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_inputs),
        cmocka_unit_test(even_halves),
        cmocka_unit_test(short_parts_are_equal),
        cmocka_unit_test(long_parts_begin_at_lines),
        cmocka_unit_test(borders_as_asked),
        cmocka_unit_test(shares_follow_weights),
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(roundrobin_takes_turns),
        cmocka_unit_test(below_threshold_heaviest_rail),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
