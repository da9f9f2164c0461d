/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/report/json.c: the writer's exact output. */
#include <math.h>
#include "unit.h"
#include "bench/report/json.h"
#include "bench/report/utf8.h"

static void test_document(void **state)
{
    static const char expected[] = "{\n"
                                   " \"text\": \"a\\\"b\\\\c\\u000a\",\n"
                                   " \"none\": null,\n"
                                   " \"empty\": [],\n"
                                   " \"row\": [1, [-2, 0.5], {\"t\": true}],\n"
                                   " \"list\": [\n"
                                   "  1,\n"
                                   "  2\n"
                                   " ]\n"
                                   "}\n";
    char *text = NULL;
    size_t size = 0;
    json_t json, *j = &json;
    FILE *file = open_memstream(&text, &size);
    json_init(j, file);
    json_object(j, NULL);
    json_string(j, "text", "a\"b\\c\n");
    json_double(j, "none", NAN);
    json_array(j, "empty");
    json_end_array(j);
    json_row_array(j, "row");
    json_uint(j, NULL, 1);
    json_array(j, NULL);
    json_int(j, NULL, -2);
    json_double(j, NULL, 0.5);
    json_end_array(j);
    json_row_object(j, NULL);
    json_bool(j, "t", true);
    json_end_object(j);
    json_end_array(j);
    json_array(j, "list");
    json_uint(j, NULL, 1);
    json_uint(j, NULL, 2);
    json_end_array(j);
    json_end_object(j);
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

static void test_utf8(void **state)
{
    static const struct {
        const char *text;
        unsigned length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0},             /* continues nothing */
        {"\xe9", 0},             /* cut off */
        {"\xe2\x82", 0},         /* cut off */
        {"\xc0\xaf", 0},         /* longer than needed */
        {"\xe0\x9f\xbf", 0},     /* longer than needed */
        {"\xf0\x8f\xbf\xbf", 0}, /* longer than needed */
        {"\xed\xa0\x80", 0},     /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
        {"\xff", 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_length(cases[i].text), cases[i].length);
}

static void test_bytes(void **state)
{
    char *text = NULL;
    size_t size = 0;
    json_t json;
    FILE *file = open_memstream(&text, &size);
    json_init(&json, file);
    json_array(&json, NULL);
    json_string(&json, NULL, "h\xf6st \xc3\xb6 \xe2\x82");
    json_end_array(&json);
    fclose(file);
    assert_string_equal(text, "[\n \"h\xef\xbf\xbdst \xc3\xb6 "
                              "\xef\xbf\xbd\xef\xbf\xbd\"\n]\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document),
                                       cmocka_unit_test(test_utf8),
                                       cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
