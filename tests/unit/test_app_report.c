/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/apps: a run that ended early reports what it has measured, and nothing
 * of the rest. */
#include "unit.h"
#include "bench/apps/app_result.h"
#include "bench/apps/radix.h"

#define SETUPS 3

/* Of three setups the first has been measured, the second found wrong in its
 * warm-up. */
static app_result_t *partial(const options_t *opts, coll_plan_t *plan)
{
    static const bench_test_t test = {.name = "radix"};
    plan->opts = opts;
    plan->count = SETUPS;
    plan->shape.nranks = (unsigned)opts->ranks;
    app_result_t *r = app_result_create(&radix_app, &test, plan);
    assert_non_null(r);
    r->cells[0].count = 2;
    for (unsigned i = 0; i < 2; i++)
        r->cells[0].repeats[i] =
            (app_repeat_t){.slowest_us = 10, .compute_us = 8};
    r->cells[1].wrong = true;
    return r;
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        count++;
    return count;
}

static void test_not_measured(void **state)
{
    static const struct {
        format_t format;
        const char *row, *bad;
    } reports[] = {{FORMAT_TABLE, "auto ", "nan"},
                   {FORMAT_CSV, "radix,auto,", ",,,"},
                   {FORMAT_JSON, "\"algorithm\"", "\"valid\": false"}};
    static options_t opts;
    static coll_plan_t plan;
    options_init(&opts, "8");
    opts.ranks = 2;
    app_result_t *r = partial(&opts, &plan);
    for (unsigned i = 0; i < sizeof reports / sizeof *reports; i++) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        app_report(file, reports[i].format, r);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(count_of(text, reports[i].row), 1);
        assert_int_equal(count_of(text, reports[i].bad), 0);
        free(text);
    }
    app_result_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_not_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
