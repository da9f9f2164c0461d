/* SPDX-License-Identifier: BSD-3-Clause */
/* providers/sim: sim_platform(5) has what the reader knows. */
#include <limits.h>
#include "unit.h"
#include "providers/sim/reader/keys.h"

static char page[1 << 16];

static int read_page(void **state)
{
    char path[PATH_MAX];
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/docs/man/sim_platform.5",
             source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(page, 1, sizeof page - 1, file);
    page[n] = '\0';
    fclose(file);
    return 0;
}

/* From `.It [section]` to the next item of that kind. */
static void check_section(const struct sim_section *s)
{
    char item[64];
    snprintf(item, sizeof item,
             s->size ? "\n.It Li \"[%s NAME]\"%s\n" : "\n.It Li [%s]%s\n",
             s->name, s->needed ? " Pq *" : "");
    const char *begin = strstr(page, item);
    if (!begin)
        fail_msg("sim_platform.5 has no %s", item + 1);
    char *text = begin ? strdup(begin + 1) : NULL;
    assert_non_null(text);
    char *end = strstr(text, "\n.It Li");
    if (end)
        *end = '\0';
    for (unsigned i = 0; i < SIM_KEYS_MAX && s->keys[i].name; i++) {
        const char *key = s->keys[i].name;
        snprintf(item, sizeof item, ".It Cm %s%s", key,
                 s->keys[i].needed ? " Pq *\n" : "");
        char also[64];
        snprintf(also, sizeof also, " , %s\n", key);
        if (!strstr(text, item) && (s->keys[i].needed || !strstr(text, also)))
            fail_msg("sim_platform.5, [%s]: no '%s'", s->name, item);
    }
    free(text);
}

static void test_keys(void **state)
{
    for (const struct sim_section *s = sim_sections; s->name; s++)
        check_section(s);
}

static void test_example(void **state)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX] = "";
    char *begin = strstr(page, ".Bd -literal\n");
    assert_non_null(begin);
    begin += strlen(".Bd -literal\n");
    char *text = strndup(begin, (size_t)(strstr(begin, ".Ed") - begin));
    assert_non_null(text);
    if (sim_platform_parse(text, "sim_platform.5", 8, &p, why) < 0)
        fail_msg("%s", why);
    assert_true(p.rail[0].limit.rate == 12.5e9);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_example),
    };
    return cmocka_run_group_tests(tests, read_page, NULL);
}
