/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/report/json.c: the writer's exact output. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "bench/report/json.h"

static void test_document(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
