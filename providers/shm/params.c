/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a shm rail. */
#include <string.h>

#include "providers/shm/memory/copy.h"
#include "providers/shm/params.h"

static int parse_path(const char *text, void *at)
{
    size_t length = strlen(text);
    if (*text != '/' || length >= SHM_PATH_MAX)
        return -1;
    memcpy(at, text, length + 1);
    return 0;
}

static const struct core_param_kind path = {
    "a path from / on of at most 255 characters", SHM_PATH_MAX, parse_path};
static int parse_scope(const char *text, void *at)
{
    bool network = !strcmp(text, "network");
    *(bool *)at = network;
    return network || !strcmp(text, "host") ? 0 : -1;
}

static const struct core_param_kind scope = {"host or network", sizeof(bool),
                                             parse_scope};

static int parse_flag(const char *text, void *at)
{
    bool set = !strcmp(text, "1");
    *(bool *)at = set;
    return set || !strcmp(text, "0") ? 0 : -1;
}

static const struct core_param_kind flag = {"0 or 1", sizeof(bool), parse_flag};

static const struct core_param known[] = {
#define AT(member) offsetof(struct shm_params, member)
    {"stream", &core_param_bytes, AT(stream_bytes), {0}},
    {"rate", &core_param_rate, AT(rate), {0}},
    {"latency", &core_param_time, AT(latency_us), {"rate"}},
    {"gap", &core_param_time, AT(gap_us), {"rate"}},
    {"overhead", &core_param_time, AT(overhead_us), {"rate"}},
    {"change_after", &core_param_bytes, AT(change_after), {"change_rate"}},
    {"change_rate",
     &core_param_rate,
     AT(change_rate),
     {"change_after", "rate"}},
    {"port", &core_param_name, AT(port), {"adapter"}},
    {"adapter", &core_param_name, AT(adapter), {"rate"}},
    {"adapter_rate", &core_param_rate, AT(adapter_rate), {"adapter"}},
    {"bus", &core_param_name, AT(bus), {"bus_rate", "rate"}},
    {"bus_rate", &core_param_rate, AT(bus_rate), {"bus"}},
    {"cable", &path, AT(cable), {0}},
    {"fabric", &core_param_name, AT(fabric), {0}},
    {"scope", &scope, AT(network), {0}},
    {"adopt", &flag, AT(adopt), {0}},
#undef AT
};

const struct core_params shm_params_known = {
    "shm", sizeof known / sizeof known[0], known};

DAT_RETURN shm_params_parse(const char *ia_name, const char *text,
                            struct shm_params *params)
{
    *params = (struct shm_params){.stream_bytes = SHM_STREAM_MEASURED};
    return core_params_parse(&shm_params_known, ia_name, text, params);
}
