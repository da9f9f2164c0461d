/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits for several starts at a time, by notifications and by flags: half of
 * the depth. The verifier accepts them. It refuses those that come too early,
 * cover too many starts, or on which both sides disagree. More than depth + 1
 * starts are needed to see that.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/grant.h"
#include "dapl_rail/dapl_rail.h"
#include "random_play.h"

#define BYTES 8
#define DEPTH 8
#define SEEDS 200

enum fault {
    NONE,
    EARLY,      /* the credit comes before what it is for was read */
    TOO_LONG,   /* a credit is taken for twice as many starts */
    TOO_FAR,    /* … and for starts that are still to come */
    LONELY,     /* a credit for each start, which only the waiter thinks rare */
    ODD,        /* in every third start */
    EACH,       /* data are moved in some starts only */
    FLAG_EARLY, /* as EARLY, a flag */
    FLAG_SHORT, /* the flag is waited for more often than it is set */
    FLAG_BRINGS, /* in every few starts, but with bytes of each */
};

static enum fault fault;

static dcoll_op_t *last(dcoll_schedule_t *s)
{
    return &s->ops[s->nops - 1];
}

/* Gather of two ranks to the first, through its TEMP. */
static void by_notes(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const dcoll_place_t landing = dcoll_at(DCOLL_TEMP, 0);
    s->temp_bytes = BYTES;
    if (rank) {
        dcoll_add_wait(s, 0, DCOLL_CREDIT, DEPTH);
        grant_in_bulk(s, args);
        if (fault == TOO_LONG)
            last(s)->every *= 2;
        if (fault == TOO_FAR)
            last(s)->lag = DEPTH / 4;
        dcoll_add_put(s, 0, 0, dcoll_at(DCOLL_SEND, 0), landing, BYTES);
        dcoll_add_complete(s);
        return;
    }
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), dcoll_at(DCOLL_RECV, 0), BYTES);
    dcoll_add_wait(s, 1, DCOLL_DATA, 0);
    if (fault != EARLY)
        dcoll_add_copy(s, landing, dcoll_at(DCOLL_RECV, BYTES), BYTES);
    if (fault == EACH)
        grant_in_bulk(s, args);
    dcoll_add_notify(s, 1, 0, DCOLL_CREDIT);
    if (fault != LONELY)
        grant_in_bulk(s, args);
    if (fault == ODD)
        last(s)->every = 3;
    if (fault == EARLY)
        dcoll_add_copy(s, landing, dcoll_at(DCOLL_RECV, BYTES), BYTES);
}

/* The same through NODE. */
static void by_flags(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const dcoll_place_t landing = dcoll_at(DCOLL_NODE, 0);
    const dcoll_place_t nowhere = dcoll_at(DCOLL_RECV, 0);
    s->node_bytes = BYTES;
    s->flags = 2;
    if (rank) {
        dcoll_add_await(s, 0, 1, DEPTH, nowhere, 0);
        grant_in_bulk(s, args);
        if (fault == FLAG_SHORT)
            last(s)->every /= 2;
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), landing, BYTES);
        dcoll_add_signal(s, 0, dcoll_at(DCOLL_SEND, 0), 0);
        return;
    }
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), dcoll_at(DCOLL_RECV, 0), BYTES);
    dcoll_add_await(s, 1, 0, 0, nowhere, 0);
    if (fault != FLAG_EARLY)
        dcoll_add_copy(s, landing, dcoll_at(DCOLL_RECV, BYTES), BYTES);
    dcoll_add_signal(s, 1, dcoll_at(DCOLL_SEND, 0),
                     fault == FLAG_BRINGS ? BYTES : 0);
    grant_in_bulk(s, args);
    if (fault == FLAG_EARLY)
        dcoll_add_copy(s, landing, dcoll_at(DCOLL_RECV, BYTES), BYTES);
}

static const unsigned two[] = {0, 2};
static const dcoll_shape_t pair = {2, 1, two, 1};

static const struct plant {
    void (*generate)(const dcoll_shape_t *, const dcoll_args_t *, unsigned,
                     dcoll_schedule_t *);
    enum fault fault;
    const char *why; /* part of the sentence */
} plants[] = {
    {by_notes, EARLY, "unordered with start 3, operation 3 of rank 0 (COPY"},
    {by_notes, TOO_LONG,
     "rank 0 sends CREDIT to rank 1 once in 4 starts, which waits for it once "
     "in 8"},
    {by_notes, LONELY,
     "rank 0 sends CREDIT to rank 1 once in 1 starts, which waits for it once "
     "in 4"},
    {by_notes, TOO_FAR,
     "(WAIT for CREDIT from rank 0, lag 2, once in 4): once in 4 starts, but "
     "the lag is 2"},
    {by_notes, ODD, "once in 3 starts: not a power of two"},
    {by_notes, EACH, "it is needed in each start"},
    {by_flags, FLAG_EARLY,
     "unordered with start 3, operation 3 of rank 0 (COPY"},
    {by_flags, FLAG_SHORT, "deadlock of 2 ranks"},
    {by_flags, FLAG_BRINGS, "what it brings is of each start"},
};

static void make(const struct plant *plant, bool with, dcoll_program_t *p)
{
    const dcoll_algorithm_t algorithm = {.collective = DCOLL_GATHER,
                                         .generate = plant->generate};
    const dcoll_args_t args = {
        .collective = DCOLL_GATHER, .bytes = BYTES, .depth = DEPTH};
    fault = with ? plant->fault : NONE;
    assert_int_equal(dcoll_program_make(&algorithm, &pair, &args, p), 0);
}

static void test_planted(void **state)
{
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        dcoll_program_t p;
        char why[1024];
        make(&plants[i], false, &p);
        if (dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
            fail_msg("case %zu, without its fault: %s", i, why);
        dcoll_program_free(&p);
        make(&plants[i], true, &p);
        int rc = dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
        if (rc != DRAIL_EINVAL || !strstr(why, plants[i].why))
            fail_msg("case %zu: \"%s\", expected \"%s\"", i, why,
                     plants[i].why);
        dcoll_program_free(&p);
    }
}

/* The last start of a group has the credit that is too early: only the start
 * that uses its memory again shows it. */
static void test_starts(void **state)
{
    dcoll_program_t p;
    char why[1024];
    make(&plants[0], true, &p);
    assert_int_equal(dcoll_proof_starts(&p), DEPTH + DEPTH / 2);
    assert_int_equal(
        dcoll_verify(&p, dcoll_proof_starts(&p) - 1, why, sizeof why), 0);
    assert_int_equal(dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why),
                     DRAIL_EINVAL);
    dcoll_program_free(&p);
}

static unsigned count(const dcoll_schedule_t *s, dcoll_kind_t kind,
                      unsigned starts)
{
    unsigned n = 0;
    for (unsigned start = 0; start < starts; start++)
        for (unsigned i = 0; i < s->nops; i++)
            n += s->ops[i].kind == kind && !dcoll_op_rests(&s->ops[i], start);
    return n;
}

/* A credit for each half of as many starts: of the root, rank 1, for its node
 * and two masters, and of master 2 for its node. */
static void check_credits(const dcoll_program_t *p, unsigned depth)
{
    assert_int_equal(count(&p->rank[1], DCOLL_NOTIFY, depth), 4);
    assert_int_equal(count(&p->rank[2], DCOLL_WAIT, depth), 2);
    assert_int_equal(count(&p->rank[1], DCOLL_SIGNAL, depth), 2);
    assert_int_equal(count(&p->rank[2], DCOLL_SIGNAL, depth), 2);
    assert_int_equal(count(&p->rank[0], DCOLL_AWAIT, depth), 2);
}

/* SMP-aware gather, at the depth that runs: two credits a master in as many
 * starts as the depth has, the right bytes in any order of events. */
static void test_smp_gather(void **state)
{
    static const unsigned nodes[] = {0, 2, 4, 5};
    const dcoll_shape_t shape = {5, 3, nodes, 2};
    unsigned depth = dcoll_depth(&gather_smp, &shape, BYTES, 2);
    dcoll_args_t args = {.collective = DCOLL_GATHER, .bytes = BYTES, .root = 1};
    dcoll_program_t p;
    char why[1024];
    assert_int_equal(depth, DCOLL_AHEAD_NOTES);
    for (args.depth = 1; args.depth <= depth; args.depth *= 2) {
        assert_int_equal(dcoll_program_make(&gather_smp, &shape, &args, &p), 0);
        if (dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
            fail_msg("depth %u: %s", args.depth, why);
        for (unsigned seed = 0; seed < SEEDS / args.depth; seed++)
            assert_true(random_play(&p, dcoll_proof_starts(&p), seed));
        if (args.depth > 2)
            check_credits(&p, args.depth);
        dcoll_program_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_smp_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
