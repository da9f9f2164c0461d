/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a shm rail in its line of dat.conf. */
#include "fuzz.h"
#include "providers/shm/shm.h"

static bool is_rate(double rate)
{
    return rate == 0 || (rate >= 0.001 && rate <= 1e6);
}

static bool is_time(double us)
{
    return us >= 0 && us <= 1e6;
}

static bool is_name(const char *name)
{
    return memchr(name, '\0', CORE_PARAM_NAME) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shm_params p;
    char *text = input_text(data, size);
    if (shm_params_parse("rail", text, &p) == DAT_SUCCESS) {
        must(is_rate(p.rate) && is_rate(p.change_rate));
        must(is_rate(p.adapter_rate) && is_rate(p.bus_rate));
        must(is_time(p.latency_us) && is_time(p.gap_us));
        must(is_time(p.overhead_us));
        must(is_name(p.port) && is_name(p.adapter) && is_name(p.bus));
        must(p.rate > 0 || (!p.bus_rate && !p.adapter_rate));
        must(memchr(p.cable, 0, sizeof p.cable) != NULL);
        must(core_params_same(&shm_params_known, "rate", &p, &p));
    }
    free(text);
    return 0;
}
