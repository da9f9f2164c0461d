/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer changes a bundle after it has been checked: nothing is written beyond
 * RECV. Here RECV overlaps the second bundle, so delivering the element of the
 * first bundle changes the second one.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/bundle.h"
#include "coll/run/irregular/deal.h"

enum { RANKS = 2, ME = 1, FAN = 2, STRIDE = 256, ELEMENT = 40, BEYOND = 50 };

/* The head of a bundle; as long as an element. */
struct begin {
    struct bundle_head head;
    struct bundle_run run;
    uint64_t more;
};
_Static_assert(sizeof(struct begin) == ELEMENT, "one is in the other");

static void copy(const struct drail_platform *p, void *to, const void *from,
                 size_t bytes)
{
    memcpy(to, from, bytes);
}

static const struct drail_platform platform = {.copy = copy};

struct scene {
    dcoll_team_t team;
    dcoll_request_t q;
    dcoll_deal_t deal;
    _Alignas(
        struct begin) unsigned char bundles[FAN * STRIDE + BEYOND * ELEMENT];
};

static unsigned char *bundle_at(struct scene *s, unsigned i)
{
    return s->bundles + i * STRIDE;
}

static void scene_open(struct scene *s, bool labelled)
{
    *s = (struct scene){
        .team = {.shape = {.nranks = RANKS}, .rank = ME, .platform = &platform},
        .q = {.algorithm = &alltoallv_a4,
              .args = {.depth = 1},
              .traffic = {.element = ELEMENT, .labelled = labelled},
              .elements = {.element = ELEMENT,
                           .room = FAN,
                           .destination = ELEMENT - sizeof(uint32_t)}},
        .deal = {.fan = FAN, .stride = STRIDE}};
    for (size_t i = 0; i < sizeof s->bundles; i++)
        s->bundles[i] = (unsigned char)i;
    s->q.team = &s->team;
    s->q.schedule.deals = &s->deal;
    s->q.base[DCOLL_TEMP] = s->bundles;
    /* what comes first lies there: with labels it is rank 1's, the second */
    s->q.elements.recv = bundle_at(s, 1) - (labelled ? ELEMENT : 0);
    assert_int_equal(0, dealing_open(&s->q.dealing, RANKS));
}

/* Delivers bundles of an element each, with `change` in the first. */
static int deliver(struct scene *s, const struct begin *change)
{
    const dcoll_op_t op = {.kind = DCOLL_DELIVER, .src = {DCOLL_TEMP, 0}};
    size_t label = s->q.traffic.labelled ? BUNDLE_RUN : 0;
    for (unsigned i = 0; i < FAN; i++) {
        struct begin begin = {
            {BUNDLE_HEAD + label + ELEMENT, 0}, {ME, 1 - i, 0, 1}, 0};
        memcpy(bundle_at(s, i), &begin, BUNDLE_HEAD + label);
    }
    memcpy(bundle_at(s, 0) + BUNDLE_HEAD + label, change, ELEMENT);
    int rc = deliver_elements(&s->q, &op);
    assert_int_equal(0, s->q.dealing.start_error);
    dealing_close(&s->q.dealing);
    for (size_t i = STRIDE + FAN * ELEMENT; i < sizeof s->bundles; i++)
        assert_int_equal((unsigned char)i, s->bundles[i]);
    return rc;
}

/* The second run, in a bundle that is long enough for it. */
static int deliver_run(struct bundle_run run)
{
    static struct scene s;
    const struct begin change = {
        {BUNDLE_HEAD + BUNDLE_RUN + run.count * ELEMENT, 0}, run, 0};
    scene_open(&s, true);
    return deliver(&s, &change);
}

static void a_run_that_stays(void **state)
{
    assert_int_equal(0, deliver_run((struct bundle_run){ME, 0, 0, 1}));
}

static void a_run_elsewhere(void **state)
{
    assert_int_equal(DRAIL_EINVAL,
                     deliver_run((struct bundle_run){ME, 0, BEYOND / 2, 1}));
}

static void a_longer_run(void **state)
{
    assert_int_equal(DRAIL_EINVAL,
                     deliver_run((struct bundle_run){ME, 0, 0, 3}));
}

static void a_longer_bundle(void **state)
{
    static struct scene s;
    const struct begin change = {{BUNDLE_HEAD + 4 * ELEMENT, 0}, {0}, 0};
    scene_open(&s, false);
    assert_int_equal(DRAIL_EINVAL, deliver(&s, &change));
}

static void a_malformed_bundle(void **state)
{
    static struct scene s;
    const struct begin change = {{2 * STRIDE, 0}, {0}, 0};
    scene_open(&s, false);
    assert_int_equal(DRAIL_EINVAL, deliver(&s, &change));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_stays),   cmocka_unit_test(a_run_elsewhere),
        cmocka_unit_test(a_longer_run),       cmocka_unit_test(a_longer_bundle),
        cmocka_unit_test(a_malformed_bundle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
