/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/build/exchange/circulant.c, for every number of ranks up to RANKS_MAX:
 * in a phase a rank receives different blocks, one of them new, and each sender
 * has received before what it sends.
 */
#include "unit.h"
#include "coll/build/exchange/circulant.h"

enum { RANKS_MAX = 700, ROUNDS = CIRCULANT_ROUNDS_MAX };

/* Blocks of a rank's phase, -q … q-1, as a set. */
struct blocks {
    bool has[2 * ROUNDS];
};

static bool *at(struct blocks *b, unsigned q, int block)
{
    assert_true(block >= -(int)q && block < (int)q);
    return &b->has[block + (int)q];
}

/* A rank receives one new block, which is not negative, and all blocks -q … -1
 * but one. That one was the new block of the phase before. */
static int new_block(const struct circulant *c, unsigned rank)
{
    struct blocks seen = {{false}};
    int new = -1;
    for (unsigned k = 0; k < c->q; k++) {
        const int block = circulant_block(c, rank, k);
        assert_false(*at(&seen, c->q, block));
        *at(&seen, c->q, block) = true;
        if (block < 0)
            continue;
        assert_int_equal(new, -1);
        new = block;
    }
    assert_true(new >= 0);
    assert_false(*at(&seen, c->q, new - (int)c->q));
    return new;
}

static void check_sender(const struct circulant *c, unsigned from)
{
    struct blocks has = {{false}};
    if (from)
        *at(&has, c->q, new_block(c, from) - (int)c->q) = true;
    for (unsigned k = 0; k < c->q; k++) {
        const unsigned to = (from + c->skip[k]) % c->n;
        const int block = to ? circulant_block(c, to, k) : 0;
        if (to && from && !*at(&has, c->q, block))
            fail_msg("%u ranks: rank %u sends block %d in round %u", c->n, from,
                     block, k);
        if (to && !from)
            assert_int_equal(block, k);
        if (from)
            *at(&has, c->q, circulant_block(c, from, k)) = true;
    }
}

static void test_schedules(void **state)
{
    for (unsigned n = 2; n <= RANKS_MAX; n++) {
        const struct circulant c = circulant_of(n);
        assert_int_equal(c.skip[0], 1);
        assert_int_equal(c.skip[c.q], n);
        for (unsigned from = 0; from < n; from++)
            check_sender(&c, from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
