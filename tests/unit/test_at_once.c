/* SPDX-License-Identifier: BSD-3-Clause */
/* Which writes may be complete when they are posted, and which must wait for
 * requests before them. */
#include "unit.h"
#undef fail /* the library has one, too */
#include "dapl_rail/links/at_once.h"

static unsigned written, ended;
static bool takes; /* does the provider take the write? */

static bool direct_write(DAT_EP_HANDLE ep, const void *local, size_t bytes,
                         DAT_RMR_CONTEXT key, DAT_VADDR remote)
{
    written += takes;
    return takes;
}

static void note_end(struct link *link, const struct completion *done,
                     int status)
{
    assert_int_equal(status, 0);
    ended++;
}

static const struct dapl_direct direct = {.write = direct_write};
static const struct completion done = {.ended = note_end};
static struct rail rail;
static struct link link_;
static struct dto dto;
static unsigned char record[64];

/* A link without a journal, and with no request under way. */
static int set_up(void **state)
{
    written = ended = 0;
    takes = true;
    rail = (struct rail){.direct = &direct};
    link_ = (struct link){.rail = &rail, .state = LINK_UP};
    dto = (struct dto){.verb = VERB_WRITE};
    return 0;
}

static void is_written(const struct completion *completion)
{
    assert_true(write_at_once(&link_, &dto, completion));
    assert_int_equal(written, 1);
    assert_int_equal(link_.queue.at_once, 1);
    assert_int_equal(ended, completion ? 1 : 0);
}

static void is_not_written(const struct completion *completion)
{
    assert_false(write_at_once(&link_, &dto, completion));
    assert_int_equal(written, 0);
    assert_int_equal(link_.queue.at_once, 0);
    assert_int_equal(ended, 0);
}

static void without_completion(void **state)
{
    is_written(NULL);
}

static void with_completion(void **state)
{
    is_written(&done);
}

static void provider_offers_none(void **state)
{
    rail.direct = NULL;
    is_not_written(&done);
}

static void provider_refuses(void **state)
{
    takes = false;
    is_not_written(&done);
}

static void link_is_lost(void **state)
{
    link_.state = LINK_LOST;
    is_not_written(&done);
}

static void other_verb(void **state)
{
    dto.verb = VERB_WRITE_IMMED;
    is_not_written(&done);
}

/* A replay must not write over the bytes. */
static void journal_has_request_under_way(void **state)
{
    link_.journal.records = record;
    link_.queue.posted = 1;
    is_written(NULL);
    assert_int_equal(link_.queue.placed, 1);
}

static void journal_has_none_under_way(void **state)
{
    link_.journal.records = record;
    link_.queue.posted = link_.queue.shown = 1;
    is_written(NULL);
}

/* The EP carries requests out in their order. */
static void request_under_way_without_journal(void **state)
{
    link_.queue.posted = 1;
    assert_true(write_at_once(&link_, &dto, NULL));
    assert_int_equal(written, 1);
}

static void earlier_completion_is_due(void **state)
{
    link_.queue.ops_head = 1;
    is_not_written(&done);
}

static void earlier_completion_is_of_no_matter(void **state)
{
    link_.queue.ops_head = 1;
    is_written(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_completion, set_up),
        cmocka_unit_test_setup(with_completion, set_up),
        cmocka_unit_test_setup(provider_offers_none, set_up),
        cmocka_unit_test_setup(provider_refuses, set_up),
        cmocka_unit_test_setup(link_is_lost, set_up),
        cmocka_unit_test_setup(other_verb, set_up),
        cmocka_unit_test_setup(journal_has_request_under_way, set_up),
        cmocka_unit_test_setup(journal_has_none_under_way, set_up),
        cmocka_unit_test_setup(request_under_way_without_journal, set_up),
        cmocka_unit_test_setup(earlier_completion_is_due, set_up),
        cmocka_unit_test_setup(earlier_completion_is_of_no_matter, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
