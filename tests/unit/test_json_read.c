/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/diff/json_read.c: what RFC 8259 allows and what it doesn't; and
 * result files that are JSON, but not results. */
#include <unistd.h>
#include "unit.h"
#include "bench/diff/json_read.h"
#include "bench/diff/result_read.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static json_error_t error;

/* In memory without a byte to spare, so that sanitizers see an overrun. */
static json_value_t *parse(const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    json_value_t *value = json_parse(copy, size, &error);
    free(copy);
    return value;
}

static void test_values(void **state)
{
    json_value_t *v = parse(" {\"a\": [1, -2.5e+1, true, false, null, {}, []],"
                            "\"b\" :\"x\"}\r\n\t");
    assert_non_null(v);
    const json_value_t *a = json_get(v, "a")->first;
    static const json_type_t types[] = {JSON_NUMBER, JSON_NUMBER, JSON_BOOL,
                                        JSON_BOOL,   JSON_NULL,   JSON_OBJECT,
                                        JSON_ARRAY};
    assert_true(a->number == 1 && a->next->number == -25);
    assert_true(a->next->next->boolean && !a->next->next->next->boolean);
    for (size_t i = 0; i < COUNT(types); i++, a = a->next)
        assert_int_equal(a->type, types[i]);
    assert_null(a);
    assert_string_equal(json_get_string(v, "b", ""), "x");
    assert_string_equal(json_get_string(v, "a", "none"), "none");
    assert_true(json_get_number(v, "c", 7) == 7);
    assert_null(json_get(json_get(v, "c"), "d"));
    json_release(v);
}

static void test_strings(void **state)
{
    static const struct {
        const char *json, *text;
    } table[] = {
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20aC\"", "A\xc3\xa9\xe2\x82\xac"},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
        {"\"\xc3\xa9\"", "\xc3\xa9"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        json_value_t *v = parse(table[i].json);
        assert_non_null(v);
        assert_string_equal(v->string, table[i].text);
        json_release(v);
    }
}

static void test_malformed(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "[",
        "{]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\"}",
        "1 2",
        "[] x",
        "nul",
        "True",
        "nan",
        "Infinity",
        "-",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x10",
        "1e999",
        "--1",
        "\"",
        "\"abc",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "\"\n\"",
        "\"\\",
        "'a'",
        "// 1",
        "[1] // x",
        "\xef\xbb\xbf[]",
        "1111111111111111111111111111111111111111111111111111111111111111111"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        json_value_t *v = parse(texts[i]);
        if (v || !error.line || !error.text[0])
            fail_msg("accepted: %s", texts[i]);
    }
}

static void test_place(void **state)
{
    assert_null(parse("{\n \"a\": 1,\n \"b\": ?}"));
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 7);
}

/* Nesting of the greatest depth, and far beyond. */
static void test_depth(void **state)
{
    static char text[1 << 20];
    memset(text, '[', JSON_READ_DEPTH);
    memset(text + JSON_READ_DEPTH, ']', JSON_READ_DEPTH);
    json_value_t *v = parse(text);
    assert_non_null(v);
    json_release(v);
    memset(text, '[', sizeof text - 1);
    assert_null(parse(text));
    assert_non_null(strstr(error.text, "deep"));
}

/* A result with one point, of which each test spoils one piece. */
static const char good[] =
    "{\"schema\": \"dapl_rail.railbench/1\", \"test\": \"bw\","
    "\"configurations\": [{\"index\": 0, \"engine\": \"single\","
    "\"policy\": \"fixed\", \"rails\": \"shm0\"}],"
    "\"results\": [{\"bytes\": 8, \"configuration\": 0, \"batch\":"
    "{\"messages_per_iteration\": 20, \"repeats\":"
    "[{\"iterations\": 10, \"ns\": 4000, \"bytes\": 1600}]}}]}";

static int load(const char *text, record_t *record, char *why, unsigned size)
{
    char path[] = "/tmp/test_json_read.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int rc = record_load(record, path, why, size);
    unlink(path);
    return rc;
}

static void test_record(void **state)
{
    record_t record;
    char why[192] = "";
    assert_int_equal(load(good, &record, why, sizeof why), 0);
    assert_int_equal(record.count, 1);
    const record_series_t *s = &record.series[0];
    assert_string_equal(s->loop, "batch");
    assert_string_equal(s->rails, "shm0");
    assert_int_equal(s->bytes, 8);
    assert_int_equal(s->count, 1);
    assert_true(s->us[0] == 4.0 / 200 && s->MBps[0] == 400);
    record_free(&record);
}

static void test_no_record(void **state)
{
    static const struct {
        const char *from, *to;
    } spoilt[] = {
        {"railbench/1", "railbench/9"},
        {"\"test\": \"bw\"", "\"test\": 5"},
        {"\"test\": \"bw\"", "\"test\": \"b\\nw\""},
        {"\"results\": [", "\"result\": ["},
        {"\"index\": 0", "\"index\": 1"},
        {"\"engine\": \"single\"", "\"engine\": null"},
        {"\"shm0\"", "\"shm0,x\""},
        {"\"bytes\": 8", "\"bytes\": -8"},
        {"\"bytes\": 8", "\"bytes\": 1e300"},
        {"\"configuration\": 0", "\"configuration\": \"0\""},
        {"\"messages_per_iteration\": 20", "\"messages_per_iteration\": 0"},
        {"[{\"iterations\"", "[1, {\"iterations\""},
        {"\"iterations\": 10", "\"iterations\": 0"},
        {"\"ns\": 4000", "\"ns\": 0"},
        {"\"ns\": 4000", "\"ns\": \"4000\""},
        {"[{\"iterations\": 10, \"ns\": 4000, \"bytes\": 1600}]", "[]"},
        {"}]}}]}", "}]}}]"},
    };
    for (size_t i = 0; i < COUNT(spoilt); i++) {
        char text[1024], why[192] = "";
        record_t record;
        const char *at = strstr(good, spoilt[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good,
                 spoilt[i].to, at + strlen(spoilt[i].from));
        if (!load(text, &record, why, sizeof why) || !why[0] ||
            strchr(why, '\n'))
            fail_msg("accepted with %s: '%s'", spoilt[i].to, why);
        record_free(&record);
    }
}

static void test_unreadable(void **state)
{
    record_t record;
    char why[192];
    assert_int_equal(record_load(&record, "/nonexistent/x", why, sizeof why),
                     -1);
    assert_non_null(strstr(why, "No such file"));
    record_free(&record);
    assert_int_equal(record_load(&record, "/", why, sizeof why), -1);
    assert_non_null(strstr(why, "directory"));
    record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_strings),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_place),
        cmocka_unit_test(test_depth),     cmocka_unit_test(test_record),
        cmocka_unit_test(test_no_record), cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
