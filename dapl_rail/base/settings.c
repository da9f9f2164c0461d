/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of settings: names, defaults, and how to parse them. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/settings.h"

static const char *const engine_names[] = {"single", "nonthreaded", "threaded",
                                           "auto"};
static const char *const policy_names[] = {"even", "weighted", "adaptive",
                                           "roundrobin", "fixed"};
static const char *const team_names[] = {"resident", "forkjoin"};
static const char *const waiting_names[] = {"any", "serial"};
static const char *const notify_by_names[] = {"auto", "send", "immed"};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char *name_of(const char *const *names, size_t n, unsigned value)
{
    return value < n ? names[value] : "unknown";
}

static int value_of(const char *const *names, size_t n, const char *text)
{
    for (size_t i = 0; text && i < n; i++)
        if (!strcmp(names[i], text))
            return (int)i;
    return DRAIL_EINVAL;
}

const char *drail_engine_name(drail_engine_t engine)
{
    return name_of(engine_names, COUNT(engine_names), engine);
}

const char *drail_policy_name(drail_policy_t policy)
{
    return name_of(policy_names, COUNT(policy_names), policy);
}

const char *drail_team_name(drail_team_t team)
{
    return name_of(team_names, COUNT(team_names), team);
}

const char *drail_waiting_name(drail_waiting_t waiting)
{
    return name_of(waiting_names, COUNT(waiting_names), waiting);
}

const char *drail_notify_by_name(drail_notify_by_t by)
{
    return name_of(notify_by_names, COUNT(notify_by_names), by);
}

int drail_engine_parse(const char *text, drail_engine_t *engine)
{
    int value = value_of(engine_names, COUNT(engine_names), text);
    if (value >= 0)
        *engine = (drail_engine_t)value;
    return value < 0 ? value : 0;
}

int drail_policy_parse(const char *text, drail_policy_t *policy)
{
    int value = value_of(policy_names, COUNT(policy_names), text);
    if (value >= 0)
        *policy = (drail_policy_t)value;
    return value < 0 ? value : 0;
}

int drail_team_parse(const char *text, drail_team_t *team)
{
    int value = value_of(team_names, COUNT(team_names), text);
    if (value >= 0)
        *team = (drail_team_t)value;
    return value < 0 ? value : 0;
}

int drail_waiting_parse(const char *text, drail_waiting_t *waiting)
{
    int value = value_of(waiting_names, COUNT(waiting_names), text);
    if (value >= 0)
        *waiting = (drail_waiting_t)value;
    return value < 0 ? value : 0;
}

int drail_notify_by_parse(const char *text, drail_notify_by_t *by)
{
    int value = value_of(notify_by_names, COUNT(notify_by_names), text);
    if (value >= 0)
        *by = (drail_notify_by_t)value;
    return value < 0 ? value : 0;
}

/* The parsed values. */
struct values {
    drail_config_t cfg;
    struct tuning tuning;
};

struct setting {
    const char *name, *meaning, *fallback, *allowed;
    int (*parse)(const char *text, struct values *v);
};

/* A decimal number with an optional suffix K, M or G (powers of 1024). */
static int number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return DRAIL_EINVAL;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (errno || *end || n > max >> shift)
        return DRAIL_EINVAL;
    *value = n << shift;
    return 0;
}

static int parse_rails(const char *text, struct values *v)
{
    char copy[sizeof v->cfg.rails_text];
    const char *rails[DRAIL_MAX_RAILS];
    unsigned n = 0;
    if (strlen(text) >= sizeof copy)
        return DRAIL_EINVAL;
    strcpy(copy, text);
    for (char *s = copy, *name; (name = strsep(&s, ","));) {
        if (!*name || strlen(name) >= DRAIL_NAME_MAX || n == DRAIL_MAX_RAILS)
            return DRAIL_EINVAL;
        rails[n++] = v->cfg.rails_text + (name - copy);
    }
    memcpy(v->cfg.rails_text, copy, sizeof copy);
    memcpy(v->cfg.rails, rails, n * sizeof rails[0]);
    v->cfg.nrails = n;
    return 0;
}

static int parse_weights(const char *text, struct values *v)
{
    double weights[DRAIL_MAX_RAILS] = {0};
    unsigned n = 0;
    for (const char *s = text; *s; n++) {
        char *end;
        if (n == DRAIL_MAX_RAILS)
            return DRAIL_EINVAL;
        weights[n] = strtod(s, &end);
        if (end == s || (*end && *end != ',') || !isfinite(weights[n]) ||
            weights[n] < 0)
            return DRAIL_EINVAL;
        s = *end ? end + 1 : end;
    }
    memcpy(v->cfg.weights, weights, sizeof weights);
    return 0;
}

static int parse_engine(const char *text, struct values *v)
{
    return drail_engine_parse(text, &v->cfg.engine);
}

static int parse_team(const char *text, struct values *v)
{
    return drail_team_parse(text, &v->cfg.team);
}

static int parse_policy(const char *text, struct values *v)
{
    return drail_policy_parse(text, &v->cfg.policy);
}

static int parse_waiting(const char *text, struct values *v)
{
    return drail_waiting_parse(text, &v->cfg.waiting);
}

static int parse_notify_by(const char *text, struct values *v)
{
    return drail_notify_by_parse(text, &v->cfg.notify_by);
}

static int parse_unsigned(const char *text, uint64_t min, uint64_t max,
                          unsigned *out)
{
    uint64_t n;
    if (number(text, max, &n) || n < min)
        return DRAIL_EINVAL;
    *out = (unsigned)n;
    return 0;
}

static int parse_fixed_rail(const char *text, struct values *v)
{
    return parse_unsigned(text, 0, DRAIL_MAX_RAILS - 1, &v->cfg.fixed_rail);
}

static int parse_threshold(const char *text, struct values *v)
{
    return number(text, SIZE_MAX, &v->cfg.stripe_threshold);
}

static int parse_align(const char *text, struct values *v)
{
    uint64_t n;
    if (number(text, 1u << 30, &n) || n & (n - 1))
        return DRAIL_EINVAL;
    v->cfg.stripe_align = n;
    return 0;
}

static int parse_eager(const char *text, struct values *v)
{
    unsigned n;
    int rc = parse_unsigned(text, 0, 1u << 20, &n);
    if (!rc)
        v->cfg.eager_bytes = n;
    return rc;
}

static int parse_depth(const char *text, struct values *v)
{
    return parse_unsigned(text, 4, 4096, &v->cfg.depth);
}

static int parse_eps(const char *text, struct values *v)
{
    return parse_unsigned(text, 1, DRAIL_MAX_EPS, &v->cfg.eps);
}

static int parse_ms(const char *text, int *out)
{
    unsigned n;
    int rc = parse_unsigned(text, 1, 86400000, &n);
    if (!rc)
        *out = (int)n;
    return rc;
}

static int parse_timeout(const char *text, struct values *v)
{
    return parse_ms(text, &v->cfg.timeout_ms);
}

static int parse_connect_timeout(const char *text, struct values *v)
{
    return parse_ms(text, &v->cfg.connect_timeout_ms);
}

static int parse_bool(const char *text, bool *out)
{
    if (strcmp(text, "0") && strcmp(text, "1"))
        return DRAIL_EINVAL;
    *out = *text == '1';
    return 0;
}

static int parse_pin(const char *text, struct values *v)
{
    return parse_bool(text, &v->cfg.pin);
}

static int parse_pin_base(const char *text, struct values *v)
{
    if (!strcmp(text, "auto")) {
        v->cfg.pin_base = DRAIL_PIN_AUTO;
        return 0;
    }
    return parse_unsigned(text, 0, CPU_SETSIZE - 1, &v->cfg.pin_base);
}

static int parse_spin(const char *text, struct values *v)
{
    return parse_unsigned(text, 0, 1000000, &v->tuning.spin_us);
}

static int parse_silence(const char *text, struct values *v)
{
    return parse_unsigned(text, 0, 86400000, &v->tuning.silence_ms);
}

static int parse_cache(const char *text, struct values *v)
{
    return parse_unsigned(text, 0, 65536, &v->tuning.cache_regions);
}

static int parse_extensions(const char *text, struct values *v)
{
    return parse_bool(text, &v->tuning.extensions);
}

static const struct setting settings[] = {
    {"DRAIL_RAILS", "IA names of the rails", "shm0,shm1",
     "1 to 16 names separated by commas", parse_rails},
    {"DRAIL_ENGINE", "how one message is moved over the rails", "auto",
     "single, nonthreaded, threaded or auto", parse_engine},
    {"DRAIL_TEAM", "threads of the threaded engine", "resident",
     "resident or forkjoin", parse_team},
    {"DRAIL_POLICY", "how a message is cut", "even",
     "even, weighted, adaptive, roundrobin or fixed", parse_policy},
    {"DRAIL_WAIT", "how one thread waits for several rails", "any",
     "any or serial", parse_waiting},
    {"DRAIL_NOTIFY_BY", "what tells the target that a rail's data are there",
     "auto", "auto, send or immed", parse_notify_by},
    {"DRAIL_WEIGHTS", "relative rates of the rails for policy weighted", "",
     "numbers from 0 separated by commas", parse_weights},
    {"DRAIL_FIXED_RAIL", "index of the rail for engine single, policy fixed",
     "0", "0 to 15", parse_fixed_rail},
    {"DRAIL_STRIPE_THRESHOLD", "shorter messages use one rail (bytes)", "16K",
     "a number, with K, M or G for powers of 1024", parse_threshold},
    {"DRAIL_STRIPE_ALIGN",
     "borders of stripes are multiples of it (bytes); 0: cache lines between "
     "long ones",
     "0", "0 or a power of 2 up to 1G", parse_align},
    {"DRAIL_EAGER_BYTES", "longer sends use rendezvous (bytes)", "4K",
     "0 to 1M", parse_eager},
    {"DRAIL_EPS", "EPs per rail and peer", "1", "1 to 8", parse_eps},
    {"DRAIL_DEPTH", "messages under way per EP", "64", "4 to 4096",
     parse_depth},
    {"DRAIL_TIMEOUT_MS", "bound of every wait (milliseconds)", "30000",
     "1 to 86400000", parse_timeout},
    {"DRAIL_CONNECT_TIMEOUT_MS", "bound of a connect (milliseconds)", "10000",
     "1 to 86400000", parse_connect_timeout},
    {"DRAIL_SILENCE_MS",
     "a rail is lost that has work and is silent for so long, while the peer "
     "answers over others (milliseconds); 0: never for that",
     "56", "0 to 86400000", parse_silence},
    {"DRAIL_PIN", "bind the resident team near its rails", "1", "0 or 1",
     parse_pin},
    {"DRAIL_PIN_BASE", "first core of a rank among the allowed ones", "auto",
     "auto, or 0 to 1023", parse_pin_base},
    {"DRAIL_SPIN_US", "polling before a thread sleeps (microseconds)", "300",
     "0 to 1000000", parse_spin},
    {"DRAIL_CACHE_REGIONS", "registrations kept after their release", "64",
     "0 to 65536", parse_cache},
    {"DRAIL_EXTENSIONS", "use the IB extensions of DAT where offered", "1",
     "0 or 1", parse_extensions},
};

int settings_load(drail_config_t *cfg, struct tuning *tuning,
                  drail_error_t *err)
{
    struct values v = {0};
    int rc = 0;
    for (size_t i = 0; i < COUNT(settings); i++) {
        const struct setting *s = &settings[i];
        const char *text = getenv(s->name);
        s->parse(s->fallback, &v);
        if (text && s->parse(text, &v) && !rc)
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
    if (tuning)
        *tuning = v.tuning;
    return rc;
}

void drail_config_init(drail_config_t *cfg)
{
    settings_load(cfg, NULL, NULL);
}

int drail_setting_get(unsigned index, drail_setting_t *setting)
{
    if (index >= COUNT(settings) || !setting)
        return DRAIL_EINVAL;
    const struct setting *s = &settings[index];
    const char *text = getenv(s->name);
    struct values scratch = {0};
    setting->name = s->name;
    setting->meaning = s->meaning;
    setting->fallback = s->fallback;
    if (text && s->parse(text, &scratch))
        snprintf(setting->value, sizeof setting->value,
                 "%.40s (invalid: must be %s)", text, s->allowed);
    else
        snprintf(setting->value, sizeof setting->value, "%s",
                 text ? text : s->fallback);
    return 0;
}
