/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of PMI-2, also such as no launcher should send. */
#include "unit.h"
#include "dapl_rail/job/launch/pmi2_wire.h"

static char text[PMI2_HEAD + PMI2_MOST + 1];

static void writing(void **state)
{
    char value[PMI2_MOST + 1];
    const size_t most = PMI2_MOST - strlen("cmd=put;key=;");
    assert_int_equal(pmi2_write(text, "kvs-fence", NULL), 20);
    assert_string_equal(text, "    14cmd=kvs-fence;");
    memset(value, 'x', sizeof value - 1);
    value[most] = '\0';
    assert_int_equal(pmi2_write(text, "put", "key", value, NULL),
                     PMI2_HEAD + PMI2_MOST);
    value[most] = 'x';
    value[most + 1] = '\0';
    assert_int_equal(pmi2_write(text, "put", "key", value, NULL), 0);
}

/* The launcher of MPICH 5 ends a job that sends one. */
static void no_empty_values(void **state)
{
    pmi2_write(text, "fullinit", "pmijobid", NULL, "pmirank", "3", "x", "",
               "threaded", "FALSE", NULL);
    assert_string_equal(text, "    38cmd=fullinit;pmirank=3;threaded=FALSE;");
}

static void lengths(void **state)
{
    assert_int_equal(pmi2_length("    14"), 14);
    assert_int_equal(pmi2_length("000014"), 14);
    assert_int_equal(pmi2_length("14    "), 14); /* as Slurm answers */
    assert_int_equal(pmi2_length("  14  "), 14);
    assert_int_equal(pmi2_length("  4096"), 4096);
    static const char *const wrong[] = {"  4097",  "999999", "      ",
                                        "     0",  "   1 4", "    -1",
                                        "   14\n", "cmd=in", " 0x014"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pmi2_length(wrong[i]), 0);
}

static void values(void **state)
{
    const char *const m = "cmd=fullinit-response;rc=0;xrank=9;rank=3;size=12;"
                          "empty=;bad=1x;value=a b=c;last=1";
    char value[8];
    assert_string_equal(pmi2_value(m, "value", value, sizeof value), "a b=c");
    assert_string_equal(pmi2_value(m, "empty", value, sizeof value), "");
    assert_string_equal(pmi2_value(m, "last", value, sizeof value), "1");
    assert_null(pmi2_value(m, "cmd", value, sizeof value)); /* too long */
    assert_null(pmi2_value(m, "non", value, sizeof value));
    assert_null(pmi2_value(m, "b", value, sizeof value));
    assert_null(pmi2_value("", "rc", value, sizeof value));
    assert_null(pmi2_value(";;;", "rc", value, sizeof value));
    assert_int_equal(pmi2_number(m, "rank"), 3);
    assert_int_equal(pmi2_number(m, "size"), 12);
    assert_int_equal(pmi2_number(m, "bad"), -1);
    assert_int_equal(pmi2_number(m, "empty"), -1);
    assert_int_equal(pmi2_number(m, "non"), -1);
    assert_int_equal(pmi2_number("n=99999999999999999999", "n"), -1);
    assert_int_equal(pmi2_number("n=-1", "n"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing),
        cmocka_unit_test(no_empty_values),
        cmocka_unit_test(lengths),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
