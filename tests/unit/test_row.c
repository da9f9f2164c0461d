/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/report: one description of columns gives the table, the CSV and the
 * JSON of a result. */
#include <math.h>
#include "unit.h"
#include "bench/report/report.h"

#define ROWS 3

static const struct point {
    const char *name;
    uint64_t bytes;
    double us;
    bool measured, fast;
} points[ROWS] = {{"a, \"b\"", 1024, 12.345, true, true},
                  {"left out", 0, 0, false, false},
                  {"c", 0, NAN, true, false}};

static bool has_row(const void *result, unsigned i)
{
    return ((const struct point *)result)[i].measured;
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const struct point *p = (const struct point *)result + i;
    const summary_t us = {.median = p->us, .lo = p->us - 1, .hi = p->us + 1};
    row_cell(row, 0, -8, "name", p->name);
    row_cell_count(row, 1, 6, "bytes", p->bytes);
    row_cell_summary(row, 7, "us", &us);
    row_cell_end(row, p->fast ? " fast" : "");
    row_text(row, IN_CSV, "test", row->of->test);
    row_text(row, IN_BOTH, "name", p->name);
    row_has(row, p->bytes);
    row_count(row, IN_BOTH, "bytes", p->bytes);
    row_has(row, true);
    row_number(row, IN_BOTH, "half_us", p->us / 2);
    row_summary(row, IN_CSV, "us", &us);
    /* what is absent at the end of a row is not so in the next one */
    row_has(row, p->fast);
    row_flag(row, IN_BOTH, "fast", p->fast);
}

static void table(FILE *file, const report_t *of)
{
    report_rows(file, of, 2);
}

static void json(json_t *j, const report_t *of)
{
    report_json_rows(j, "results", of, true);
}

static char *written(format_t format)
{
    static options_t opts;
    static char *argv[] = {"railbench", "row"};
    static const machine_t machine = {.simulated = "x", .revision = "r"};
    const report_t report = {.result = points,
                             .test = "row",
                             .machine = &machine,
                             .opts = &opts,
                             .nrows = ROWS,
                             .has_row = has_row,
                             .columns = columns,
                             .table = table,
                             .json = json};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    opts.argc = 2;
    opts.argv = argv;
    report_write(file, format, &report);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void test_table(void **state)
{
    char *text = written(FORMAT_TABLE);
    assert_string_equal(text, "name      bytes      us     [lo     hi]\n"
                              "a, \"b\"     1024   12.35   11.35   13.35 fast\n"
                              "\n"
                              "c             0       -       -       -\n");
    free(text);
}

static void test_csv(void **state)
{
    char *text = written(FORMAT_CSV);
    assert_string_equal(
        text, "test,name,bytes,half_us,us,us_lo,us_hi,fast,date,command\n"
              "row,\"a, \"\"b\"\"\",1024,6.1725,12.345,11.345,13.345,yes,,"
              "railbench row\n"
              "row,c,,,,,,,,railbench row\n");
    free(text);
}

static void test_json(void **state)
{
    char *text = written(FORMAT_JSON);
    const char *rows = strstr(text, " \"results\"");
    assert_non_null(strstr(text, "\"test\": \"row\""));
    assert_non_null(rows);
    assert_string_equal(rows, " \"results\": [\n"
                              "  {\"name\": \"a, \\\"b\\\"\", \"bytes\": 1024, "
                              "\"half_us\": 6.1725, \"fast\": true},\n"
                              "  {\"name\": \"c\", \"half_us\": null}\n"
                              " ]\n"
                              "}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_csv),
                                       cmocka_unit_test(test_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
