/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment: each line of the input is the value of the next setting. */
#include <math.h>

#include "dapl_rail/base/settings.h"
#include "fuzz.h"

static void look(const drail_config_t *cfg)
{
    must(cfg->nrails >= 1 && cfg->nrails <= DRAIL_MAX_RAILS);
    for (unsigned r = 0; r < cfg->nrails; r++) {
        must(*cfg->rails[r] && strlen(cfg->rails[r]) < DRAIL_NAME_MAX);
        must(isfinite(cfg->weights[r]) && cfg->weights[r] >= 0);
    }
    must(drail_engine_name(cfg->engine) && drail_policy_name(cfg->policy));
    must(cfg->depth >= 4 && cfg->depth <= 4096);
    must(cfg->eps >= 1 && cfg->eps <= DRAIL_MAX_EPS);
    must(cfg->eager_bytes <= 1u << 20 || cfg->eager_bytes == DRAIL_EAGER_AUTO);
    must(!(cfg->stripe_align & (cfg->stripe_align - 1)));
    must(cfg->timeout_ms >= 1 && cfg->connect_timeout_ms >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    drail_setting_t setting;
    drail_config_t cfg;
    struct env_settings env;
    drail_error_t error = {0};
    char line[512];
    for (unsigned i = 0; !drail_setting_get(i, &setting); i++) {
        input_line(&in, line, sizeof line);
        if (*line)
            setenv(setting.name, line, 1);
        else
            unsetenv(setting.name);
    }
    int rc = settings_load(&cfg, &env, &error);
    must(rc == 0 || (rc == DRAIL_EINVAL && *error.text));
    look(&cfg);
    for (unsigned i = 0; !drail_setting_get(i, &setting); i++)
        must(memchr(setting.value, '\0', sizeof setting.value) != NULL);
    return 0;
}
