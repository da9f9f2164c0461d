/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults, environment and names of the settings. */
#include "unit.h"
#include "dapl_rail/dapl_rail.h"

static const char *value_of(const char *name)
{
    static drail_setting_t s;
    for (unsigned i = 0; drail_setting_get(i, &s) == 0; i++)
        if (!strcmp(s.name, name))
            return s.value;
    return NULL;
}

static void defaults(void **state)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    assert_int_equal(cfg.nrails, 2);
    assert_string_equal(cfg.rails[0], "shm0");
    assert_string_equal(cfg.rails[1], "shm1");
    assert_int_equal(cfg.engine, DRAIL_ENGINE_AUTO);
    assert_int_equal(cfg.team, DRAIL_TEAM_RESIDENT);
    assert_int_equal(cfg.policy, DRAIL_POLICY_EVEN);
    assert_int_equal(cfg.timeout_ms, 30000);
    assert_int_equal(cfg.connect_timeout_ms, 10000);
    assert_int_equal(cfg.stripe_threshold, 16384);
    assert_true(cfg.pin);
    assert_int_equal(cfg.pin_base, DRAIL_PIN_AUTO);
}

static void environment(void **state)
{
    drail_config_t cfg;
    setenv("DRAIL_RAILS", "a,bc,def", 1);
    setenv("DRAIL_POLICY", "adaptive", 1);
    setenv("DRAIL_STRIPE_THRESHOLD", "2M", 1);
    setenv("DRAIL_WEIGHTS", "1,2.5,0", 1);
    drail_config_init(&cfg);
    unsetenv("DRAIL_RAILS");
    unsetenv("DRAIL_POLICY");
    unsetenv("DRAIL_STRIPE_THRESHOLD");
    unsetenv("DRAIL_WEIGHTS");
    assert_int_equal(cfg.nrails, 3);
    assert_string_equal(cfg.rails[0], "a");
    assert_string_equal(cfg.rails[1], "bc");
    assert_string_equal(cfg.rails[2], "def");
    assert_int_equal(cfg.policy, DRAIL_POLICY_ADAPTIVE);
    assert_int_equal(cfg.stripe_threshold, 2 << 20);
    assert_true(cfg.weights[1] == 2.5);
}

/* A malformed value leaves the default, and is shown as such. */
static void malformed(void **state)
{
    static const struct {
        const char *name, *value;
    } bad[] = {
        {"DRAIL_RAILS", ""},         {"DRAIL_RAILS", "a,,b"},
        {"DRAIL_ENGINE", "threads"}, {"DRAIL_TIMEOUT_MS", "-5"},
        {"DRAIL_TIMEOUT_MS", "0"},   {"DRAIL_DEPTH", "3"},
        {"DRAIL_DEPTH", "4097"},     {"DRAIL_STRIPE_THRESHOLD", "1T"},
        {"DRAIL_PIN", "yes"},        {"DRAIL_EAGER_BYTES", "2M"},
        {"DRAIL_WEIGHTS", "1,x"},    {"DRAIL_WEIGHTS", "1;2"},
        {"DRAIL_WEIGHTS", "nan"},    {"DRAIL_DEPTH", "99999999999999999999"},
        {"DRAIL_SPIN_US", "20us"},   {"DRAIL_FIXED_RAIL", "16"},
        {"DRAIL_WAIT", "all"},       {"DRAIL_STRIPE_ALIGN", "48"},
        {"DRAIL_NOTIFY_BY", "1"},    {"DRAIL_EPS", "9"},
    };
    drail_config_t plain, cfg;
    drail_config_init(&plain);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv(bad[i].name, bad[i].value, 1);
        drail_config_init(&cfg);
        const char *shown = value_of(bad[i].name);
        unsetenv(bad[i].name);
        assert_non_null(strstr(shown, "invalid"));
        assert_int_equal(cfg.nrails, plain.nrails);
        assert_int_equal(cfg.engine, plain.engine);
        assert_int_equal(cfg.timeout_ms, plain.timeout_ms);
        assert_int_equal(cfg.depth, plain.depth);
        assert_int_equal(cfg.eager_bytes, plain.eager_bytes);
        assert_int_equal(cfg.stripe_threshold, plain.stripe_threshold);
        assert_int_equal(cfg.fixed_rail, plain.fixed_rail);
        assert_int_equal(cfg.eps, plain.eps);
        assert_int_equal(cfg.waiting, plain.waiting);
        assert_int_equal(cfg.notify_by, plain.notify_by);
        assert_int_equal(cfg.stripe_align, plain.stripe_align);
    }
}

static void table(void **state)
{
    drail_setting_t s;
    unsigned n = 0;
    while (drail_setting_get(n, &s) == 0) {
        assert_memory_equal(s.name, "DRAIL_", 6);
        assert_true(*s.meaning);
        assert_string_equal(s.value, s.fallback);
        n++;
    }
    assert_true(n > 10);
    assert_int_equal(drail_setting_get(n, &s), DRAIL_EINVAL);
}

static void names(void **state)
{
    for (int e = 0; e < 3; e++) {
        drail_engine_t parsed;
        assert_int_equal(
            drail_engine_parse(drail_engine_name((drail_engine_t)e), &parsed),
            0);
        assert_int_equal(parsed, e);
    }
    for (int p = 0; p < 5; p++) {
        drail_policy_t parsed;
        assert_int_equal(
            drail_policy_parse(drail_policy_name((drail_policy_t)p), &parsed),
            0);
        assert_int_equal(parsed, p);
    }
    drail_team_t team;
    drail_engine_t engine;
    assert_int_equal(drail_team_parse("forkjoin", &team), 0);
    assert_int_equal(drail_team_parse("fork", &team), DRAIL_EINVAL);
    assert_int_equal(drail_engine_parse("", &engine), DRAIL_EINVAL);
    assert_int_equal(drail_engine_parse(NULL, &engine), DRAIL_EINVAL);
}

static void errors_have_names(void **state)
{
    for (int code = 0; code >= DRAIL_ETRUNC; code--)
        assert_string_not_equal(drail_strerror(code), "unknown error");
    assert_string_equal(drail_strerror(DRAIL_ETRUNC - 1), "unknown error");
    assert_string_equal(drail_strerror(1), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),  cmocka_unit_test(environment),
        cmocka_unit_test(malformed), cmocka_unit_test(table),
        cmocka_unit_test(names),     cmocka_unit_test(errors_have_names),
    };
    /* without the settings of the user who runs the tests */
    drail_setting_t s;
    for (unsigned i = 0; drail_setting_get(i, &s) == 0; i++)
        unsetenv(s.name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
