/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of settings: names, defaults, and how to parse them. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/settings.h"

/* -------------------------------------------------- names of enumerations */

static const char *name_of(const char *const *names, unsigned value)
{
    unsigned i = 0;
    while (names[i] && i < value)
        i++;
    return names[i] ? names[i] : "unknown";
}

static int value_of(const char *const *names, const char *text)
{
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(names[i], text))
            return i;
    return DRAIL_EINVAL;
}

#define NAMES(kind, ...)                                                       \
    static const char *const kind##_names[] = {__VA_ARGS__, NULL};             \
    const char *drail_##kind##_name(drail_##kind##_t value)                    \
    {                                                                          \
        return name_of(kind##_names, value);                                   \
    }                                                                          \
    int drail_##kind##_parse(const char *text, drail_##kind##_t *value)        \
    {                                                                          \
        int n = value_of(kind##_names, text);                                  \
        if (n < 0)                                                             \
            return n;                                                          \
        *value = (drail_##kind##_t)n;                                          \
        return 0;                                                              \
    }

NAMES(engine, "single", "nonthreaded", "threaded", "auto")
NAMES(policy, "even", "weighted", "adaptive", "roundrobin", "fixed")
NAMES(team, "resident", "forkjoin")
NAMES(waiting, "any", "serial")
NAMES(notify_by, "auto", "send", "immed")

/* ---------------------------------------------------------------- parsing */

/* The parsed values. */
struct values {
    drail_config_t cfg;
    struct env_settings env;
};

struct setting {
    const char *name, *meaning, *fallback, *allowed;
    int (*parse)(const struct setting *s, const char *text, struct values *v);
    size_t at;                /* offset of the value in struct values, … */
    uint64_t min, max;        /* … if it is a number, … */
    const char *const *names; /* … or an enumeration */
};

/* A decimal number with an optional suffix K, M or G (powers of 1024). */
static int number(const struct setting *s, const char *text, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return DRAIL_EINVAL;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (errno || *end || n > s->max >> shift || n << shift < s->min)
        return DRAIL_EINVAL;
    *value = n << shift;
    return 0;
}

static int parse_rails(const struct setting *s, const char *text,
                       struct values *v)
{
    (void)s;
    char copy[sizeof v->cfg.rails_text];
    const char *rails[DRAIL_MAX_RAILS];
    unsigned n = 0;
    if (strlen(text) >= sizeof copy)
        return DRAIL_EINVAL;
    strcpy(copy, text);
    for (char *at = copy, *name; (name = strsep(&at, ","));) {
        if (!*name || strlen(name) >= DRAIL_NAME_MAX || n == DRAIL_MAX_RAILS)
            return DRAIL_EINVAL;
        rails[n++] = v->cfg.rails_text + (name - copy);
    }
    memcpy(v->cfg.rails_text, copy, sizeof copy);
    memcpy(v->cfg.rails, rails, n * sizeof rails[0]);
    v->cfg.nrails = n;
    return 0;
}

static int parse_weights(const struct setting *s, const char *text,
                         struct values *v)
{
    (void)s;
    double weights[DRAIL_MAX_RAILS] = {0};
    unsigned n = 0;
    for (const char *at = text; *at; n++) {
        char *end;
        if (n == DRAIL_MAX_RAILS)
            return DRAIL_EINVAL;
        weights[n] = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !isfinite(weights[n]) ||
            weights[n] < 0)
            return DRAIL_EINVAL;
        at = *end ? end + 1 : end;
    }
    memcpy(v->cfg.weights, weights, sizeof weights);
    return 0;
}

static void *value_at(const struct setting *s, struct values *v)
{
    return (char *)v + s->at;
}

static int parse_name(const struct setting *s, const char *text,
                      struct values *v)
{
    int n = value_of(s->names, text);
    if (n < 0)
        return n;
    memcpy(value_at(s, v), &n, sizeof n);
    return 0;
}

/* For int and unsigned: max fits both. */
static int parse_number(const struct setting *s, const char *text,
                        struct values *v)
{
    uint64_t n;
    int rc = number(s, text, &n);
    if (!rc)
        *(unsigned *)value_at(s, v) = (unsigned)n;
    return rc;
}

static int parse_size(const struct setting *s, const char *text,
                      struct values *v)
{
    uint64_t n;
    int rc = number(s, text, &n);
    if (!rc)
        *(size_t *)value_at(s, v) = n;
    return rc;
}

static int parse_align(const struct setting *s, const char *text,
                       struct values *v)
{
    uint64_t n;
    if (number(s, text, &n) || n & (n - 1))
        return DRAIL_EINVAL;
    v->cfg.stripe_align = n;
    return 0;
}

static int parse_bool(const struct setting *s, const char *text,
                      struct values *v)
{
    if (strcmp(text, "0") && strcmp(text, "1"))
        return DRAIL_EINVAL;
    *(bool *)value_at(s, v) = *text == '1';
    return 0;
}

static int parse_pin_base(const struct setting *s, const char *text,
                          struct values *v)
{
    if (strcmp(text, "auto"))
        return parse_number(s, text, v);
    v->cfg.pin_base = DRAIL_PIN_AUTO;
    return 0;
}

static int parse_eager_bytes(const struct setting *s, const char *text,
                             struct values *v)
{
    if (strcmp(text, "auto"))
        return parse_size(s, text, v);
    v->cfg.eager_bytes = DRAIL_EAGER_AUTO;
    return 0;
}

/* -------------------------------------------------------------- the table */

#define AT(member) offsetof(struct values, member)
#define DAY_MS     86400000

static const struct setting settings[] = {
    {"DRAIL_RAILS", "IA names of the rails", "shm0,shm1",
     "1 to 16 names separated by commas", parse_rails, 0, 0, 0, NULL},
    {"DRAIL_ENGINE", "how one message is moved over the rails", "auto",
     "single, nonthreaded, threaded or auto", parse_name, AT(cfg.engine), 0, 0,
     engine_names},
    {"DRAIL_TEAM", "threads of the threaded engine", "resident",
     "resident or forkjoin", parse_name, AT(cfg.team), 0, 0, team_names},
    {"DRAIL_POLICY", "how a message is cut", "even",
     "even, weighted, adaptive, roundrobin or fixed", parse_name,
     AT(cfg.policy), 0, 0, policy_names},
    {"DRAIL_WAIT", "how one thread waits for several rails", "any",
     "any or serial", parse_name, AT(cfg.waiting), 0, 0, waiting_names},
    {"DRAIL_NOTIFY_BY", "how a notification travels", "auto",
     "auto, send or immed", parse_name, AT(cfg.notify_by), 0, 0,
     notify_by_names},
    {"DRAIL_WEIGHTS", "relative rates of the rails for policy weighted", "",
     "numbers from 0 separated by commas", parse_weights, 0, 0, 0, NULL},
    {"DRAIL_FIXED_RAIL", "index of the rail for engine single, policy fixed",
     "0", "0 to 15", parse_number, AT(cfg.fixed_rail), 0, DRAIL_MAX_RAILS - 1,
     NULL},
    {"DRAIL_STRIPE_THRESHOLD", "shorter messages use one rail (bytes)", "16K",
     "a number, with K, M or G for powers of 1024", parse_size,
     AT(cfg.stripe_threshold), 0, SIZE_MAX, NULL},
    {"DRAIL_STRIPE_ALIGN",
     "borders of stripes are multiples of this (bytes); 0: of cache lines in "
     "long messages",
     "0", "0 or a power of 2 up to 1G", parse_align, 0, 0, 1u << 30, NULL},
    {"DRAIL_EAGER_BYTES",
     "longer sends use rendezvous (bytes); auto: 4K, over shared memory 128K, "
     "over rails that are polled 64K",
     "auto", "auto, or 0 to 1M", parse_eager_bytes, AT(cfg.eager_bytes), 0,
     1u << 20, NULL},
    {"DRAIL_EPS", "EPs per rail and peer", "1", "1 to 8", parse_number,
     AT(cfg.eps), 1, DRAIL_MAX_EPS, NULL},
    {"DRAIL_DEPTH", "messages under way per EP", "64", "4 to 4096",
     parse_number, AT(cfg.depth), 4, 4096, NULL},
    {"DRAIL_TIMEOUT_MS", "bound of every wait (milliseconds)", "30000",
     "1 to 86400000", parse_number, AT(cfg.timeout_ms), 1, DAY_MS, NULL},
    {"DRAIL_CONNECT_TIMEOUT_MS", "bound of a connect (milliseconds)", "10000",
     "1 to 86400000", parse_number, AT(cfg.connect_timeout_ms), 1, DAY_MS,
     NULL},
    {"DRAIL_SILENCE_MS",
     "a rail with work and no sign of life for so long is broken, if the peer "
     "answers over another rail (milliseconds); 0: never",
     "56", "0 to 86400000", parse_number, AT(env.silence_ms), 0, DAY_MS, NULL},
    {"DRAIL_PIN", "bind the resident team near its rails", "1", "0 or 1",
     parse_bool, AT(cfg.pin), 0, 0, NULL},
    {"DRAIL_PIN_BASE", "first core of a rank among the allowed ones", "auto",
     "auto, or 0 to 1023", parse_pin_base, AT(cfg.pin_base), 0, CPU_SETSIZE - 1,
     NULL},
    {"DRAIL_SPIN_US", "polling before a thread sleeps (microseconds)", "300",
     "0 to 1000000", parse_number, AT(env.spin_us), 0, 1000000, NULL},
    {"DRAIL_CACHE_REGIONS", "registrations kept after their release", "64",
     "0 to 65536", parse_number, AT(env.cache_regions), 0, 65536, NULL},
    {"DRAIL_EXTENSIONS", "use the IB extensions of DAT where offered", "1",
     "0 or 1", parse_bool, AT(env.extensions), 0, 0, NULL},
};

#define SETTINGS (sizeof settings / sizeof *settings)

int settings_load(drail_config_t *cfg, struct env_settings *env,
                  drail_error_t *err)
{
    struct values v = {0};
    int rc = 0;
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        const char *text = getenv(s->name);
        s->parse(s, s->fallback, &v);
        if (text && s->parse(s, text, &v) && !rc)
            rc = error_set(err, DRAIL_EINVAL, "%s=%s: must be %s", s->name,
                           text, s->allowed);
    }
    if (cfg) {
        *cfg = v.cfg;
        /* rails[] must point into the caller's copy of the text */
        for (unsigned r = 0; r < cfg->nrails; r++)
            cfg->rails[r] =
                cfg->rails_text + (v.cfg.rails[r] - v.cfg.rails_text);
    }
    if (env)
        *env = v.env;
    return rc;
}

void drail_config_init(drail_config_t *cfg)
{
    settings_load(cfg, NULL, NULL);
}

int drail_setting_get(unsigned index, drail_setting_t *setting)
{
    if (index >= SETTINGS || !setting)
        return DRAIL_EINVAL;
    const struct setting *s = &settings[index];
    const char *text = getenv(s->name);
    struct values scratch = {0};
    setting->name = s->name;
    setting->meaning = s->meaning;
    setting->fallback = s->fallback;
    if (text && s->parse(s, text, &scratch))
        snprintf(setting->value, sizeof setting->value,
                 "%.40s (invalid: must be %s)", text, s->allowed);
    else
        snprintf(setting->value, sizeof setting->value, "%s",
                 text ? text : s->fallback);
    return 0;
}
