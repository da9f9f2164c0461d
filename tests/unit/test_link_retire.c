/* SPDX-License-Identifier: BSD-3-Clause */
/* link_retire() also completes the ops before: each once, in the order of
 * posting. A read that was carried over the link's own next EP gets no event of
 * its own when that is flushed. */
#include "unit.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/queue.h"

#define OPS 8u /* of the ring */

static struct op ops[OPS];
static struct op *chunks[OPS / OPS_CHUNK];
static struct rail rail = {.request_depth = OPS};
static struct link link_;
static uint64_t told[2 * OPS];
static unsigned ntold;

static void ended(struct link *link, const struct completion *done, int status)
{
    assert_ptr_equal(link, &link_);
    assert_int_equal(status, -5);
    told[ntold++] = done->bytes;
}

static int begin(void **state)
{
    /* not in the order of their memory */
    for (unsigned i = 0; i < OPS / OPS_CHUNK; i++)
        chunks[i] = &ops[OPS - OPS_CHUNK * (i + 1)];
    link_ = (struct link){.rail = &rail,
                          .state = LINK_LOST,
                          .queue = {.ops = chunks, .ops_mask = OPS - 1}};
    ntold = 0;
    return 0;
}

static struct op *post(void)
{
    struct op *op = op_at(&link_.queue, link_.queue.ops_head++);
    link_.queue.posted += 3; /* the others without an event */
    *op = (struct op){.link = &link_,
                      .posted = link_.queue.posted,
                      .done = {.ended = ended, .bytes = link_.queue.posted}};
    return op;
}

static void those_before(void **state)
{
    struct op *last = NULL;
    for (unsigned i = 0; i < 5; i++)
        last = post();
    link_retire(last, -5);
    assert_int_equal(ntold, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(told[i], 3 * (i + 1));
    assert_int_equal(link_.queue.retired, link_.queue.posted);
    assert_int_equal(link_.queue.full_at, link_.queue.posted + OPS);
}

static void not_those_after(void **state)
{
    struct op *first = post(), *last = post();
    link_retire(first, -5);
    assert_int_equal(ntold, 1);
    assert_int_equal(link_.queue.retired, 3);
    link_retire(last, -5);
    assert_int_equal(ntold, 2);
}

static void around_the_ring(void **state)
{
    for (unsigned i = 0; i < OPS - 2; i++)
        link_retire(post(), -5);
    for (unsigned i = 1; i < OPS; i++)
        post();
    ntold = 0;
    link_retire(post(), -5);
    assert_int_equal(ntold, OPS);
    for (unsigned i = 0; i < OPS; i++)
        assert_int_equal(told[i], 3 * (OPS - 1 + i));
}

/* None is in use: the first places again, but not while others know the
 * numbers. */
static void from_the_first_place(void **state)
{
    const struct op *first = post();
    link_retire(post(), -5);
    assert_ptr_not_equal(op_at(&link_.queue, link_.queue.ops_head), first);
    link_.state = LINK_UP;
    struct op *one = post(), *next = post();
    link_retire(one, -5);
    assert_ptr_equal(op_first(&link_.queue), next);
    link_retire(next, -5);
    assert_ptr_equal(post(), first);
}

/* A lost link whose requests have all come back is up with the first place,
 * which is there: there may be no memory for another place. */
static void from_the_first_place_when_up_again(void **state)
{
    const struct op *first = post();
    link_retire(post(), -5);
    link_resume(&link_);
    assert_int_equal(link_.state, LINK_UP);
    assert_ptr_equal(post(), first);
}

/* ... but not as long as any is in use. */
static void not_while_in_use(void **state)
{
    struct op *one = post(), *next = post();
    link_retire(one, -5);
    link_resume(&link_);
    assert_ptr_equal(op_first(&link_.queue), next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(those_before, begin),
        cmocka_unit_test_setup(not_those_after, begin),
        cmocka_unit_test_setup(around_the_ring, begin),
        cmocka_unit_test_setup(from_the_first_place, begin),
        cmocka_unit_test_setup(from_the_first_place_when_up_again, begin),
        cmocka_unit_test_setup(not_while_in_use, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
