/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements that contain their destination: the verifier follows them through
 * tables and bundles, in any order; and rooms must serve any counts within the
 * bounds, not only those that are played.
 */
#include "unit.h"
#include "irregular.h"

#ifdef DRAIL_SANITIZE
enum { RANKS = 6 };
#else
enum { RANKS = 10 };
#endif
enum { ELEMENT = 32 };

/* @p spare: bounds are so many times what is played. */
static bool scene_open(struct irregular *s, const dcoll_algorithm_t *a,
                       unsigned n, unsigned ppn, enum traffic_pattern pattern,
                       unsigned spare)
{
    irregular_open(s, n, ppn, traffic_make(n, pattern, 3, n), ELEMENT);
    s->shape.ports = 1 + n % 2;
    s->bounds.labelled = false;
    s->bounds.pulled = 1; /* which no element may be */
    s->bounds.max_pair *= spare;
    s->bounds.max_rank *= spare;
    return irregular_make(s, a);
}

static bool accepted(struct irregular *s)
{
    return !dcoll_verify(&s->program, dcoll_proof_starts(&s->program), s->why,
                         sizeof s->why);
}

static void refused(struct irregular *s, const char *because)
{
    if (accepted(s) || !strstr(s->why, because))
        fail_msg("not refused as '%s': %s", because, s->why);
}

static unsigned proofs(const dcoll_algorithm_t *a, unsigned n, unsigned ppn)
{
    unsigned done = 0;
    struct irregular s;
    for (unsigned p = n % 2; p < TRAFFIC_PATTERNS; p += 2) {
        bool made = scene_open(&s, a, n, ppn, p, 1 + p % 3);
        if (made && !accepted(&s))
            fail_msg("%s, %u ranks, %u a node, %s: %s", a->name, n, ppn,
                     s.counts.name, s.why);
        done += made;
        irregular_close(&s);
    }
    return done;
}

/* All but those that need to know places. */
static void test_right(void **state)
{
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++) {
        unsigned done = 0;
        for (unsigned n = 1; n <= RANKS; n++)
            for (unsigned ppn = 1; ppn <= n; ppn += n > 1 ? n - 1 : 1)
                done += proofs(*a, n, ppn) + proofs(*a, n, 1 + n / 3);
        assert_int_equal(!done, (*a)->placed);
    }
}

static dcoll_op_t *first_of(dcoll_schedule_t *s, dcoll_kind_t kind)
{
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == kind)
            return &s->ops[i];
    fail_msg("there is no %s", dcoll_kind_name(kind));
    return NULL;
}

/* Plants room for an element less than the bounds allow. */
static void plant_room(const dcoll_algorithm_t *a, unsigned ppn,
                       dcoll_kind_t kind)
{
    struct irregular s;
    assert_true(scene_open(&s, a, 4, ppn, TRAFFIC_EQUAL, 5));
    assert_true(accepted(&s));
    dcoll_op_t *op = first_of(&s.program.rank[0], kind);
    op->bytes -= DCOLL_CACHE_LINE;
    refused(&s, "what may be there needs");
    irregular_close(&s);
}

static void test_rooms(void **state)
{
    plant_room(&alltoallv_shm, 4, DCOLL_OFFER);
    plant_room(&alltoallv_shm, 4, DCOLL_PICK);
    plant_room(&alltoallv_smp, 2, DCOLL_OFFER);
    plant_room(&alltoallv_smp, 2, DCOLL_PACK);
}

/* A rank's own elements are in its table, too. */
static void test_own(void **state)
{
    struct irregular s;
    assert_true(scene_open(&s, &alltoallv_shm, 4, 4, TRAFFIC_EQUAL, 1));
    dcoll_schedule_t *one = &s.program.rank[1];
    for (unsigned i = 0; i < one->nops; i++)
        if (one->ops[i].kind == DCOLL_PICK && one->ops[i].peer == 1)
            one->ops[i] = (dcoll_op_t){.kind = DCOLL_COMPLETE};
    refused(&s, "RECV is wrong");
    irregular_close(&s);
}

/* Another rank's bundle in place of its own: its elements come twice, and there
 * are as many of them. */
static void test_again(void **state)
{
    struct irregular s;
    const dcoll_algorithm_t *a = dcoll_algorithm_find(DCOLL_ALLTOALLV, "a1-n1");
    assert_true(scene_open(&s, a, 3, 3, TRAFFIC_EQUAL, 1));
    assert_true(accepted(&s));
    dcoll_schedule_t *one = &s.program.rank[1];
    dcoll_op_t *keep = first_of(one, DCOLL_COPY);
    dcoll_op_t *deliver = first_of(one, DCOLL_DELIVER);
    const dcoll_op_t *put = first_of(&s.program.rank[0], DCOLL_PUT);
    dcoll_op_t kept = *keep;
    assert_int_equal(put->peer, 1);
    kept.src = put->dst;
    memmove(keep, keep + 1, (size_t)(deliver - keep - 1) * sizeof *keep);
    deliver[-1] = kept;
    refused(&s, "RECV is wrong");
    irregular_close(&s);
}

/* It has no place that a peer could tell. */
static void test_direct(void **state)
{
    struct irregular s;
    assert_true(scene_open(&s, &alltoallv_smp, 4, 2, TRAFFIC_EQUAL, 1));
    dcoll_op_t *put = first_of(&s.program.rank[0], DCOLL_PUT);
    put->src = dcoll_at(DCOLL_SEND, 0);
    put->dst = dcoll_at(DCOLL_RECV, 0);
    refused(&s, "no place in RECV");
    irregular_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),  cmocka_unit_test(test_rooms),
        cmocka_unit_test(test_own),    cmocka_unit_test(test_again),
        cmocka_unit_test(test_direct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
