/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences that mostly are not there. */
#include "unit.h"
#include "dapl_rail/base/sentence.h"

static char *sentence;

static int drop(void **state)
{
    sentence_free(&sentence);
    assert_null(sentence);
    return 0;
}

static void none_at_first(void **state)
{
    assert_false(sentence_is(sentence));
    assert_string_equal(sentence_text(sentence), "");
    sentence_clear(&sentence);
    assert_false(sentence_is(sentence));
}

static void again_after_none(void **state)
{
    sentence_write(&sentence, "rank %d", 3);
    assert_true(sentence_is(sentence));
    assert_string_equal(sentence_text(sentence), "rank 3");
    sentence_clear(&sentence);
    assert_false(sentence_is(sentence));
    sentence_write(&sentence, "rank %d", 4);
    assert_string_equal(sentence_text(sentence), "rank 4");
}

static void from_itself(void **state)
{
    sentence_write(&sentence, "closed");
    sentence_write(&sentence, "%s by %s", sentence, sentence);
    assert_string_equal(sentence, "closed by closed");
}

static void cut(void **state)
{
    char text[2 * SENTENCE_BYTES];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    sentence_write(&sentence, "%s", text);
    assert_int_equal(strlen(sentence), SENTENCE_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(none_at_first, drop),
        cmocka_unit_test_teardown(again_after_none, drop),
        cmocka_unit_test_teardown(from_itself, drop),
        cmocka_unit_test_teardown(cut, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
