/* SPDX-License-Identifier: BSD-3-Clause */
/* Platform files of simulated clusters. */
#include "fuzz.h"
#include "providers/sim/platform.h"

static bool is_rate(double rate)
{
    return rate >= 1e3 && rate <= 1e15;
}

static bool is_limit(struct sim_limit limit)
{
    return (limit.rate == 0 || is_rate(limit.rate)) &&
           (limit.duplex_rate == 0 || is_rate(limit.duplex_rate));
}

static bool is_time(double s)
{
    return s >= 0 && s <= 1;
}

static void check_parts(const struct sim_platform *p)
{
    must(p->buses >= 1 && p->buses <= SIM_PARTS_MAX);
    must(p->adapters >= 1 && p->adapters <= SIM_PARTS_MAX);
    must(p->rails >= 1 && p->rails <= SIM_PARTS_MAX);
    for (unsigned i = 0; i < p->buses; i++)
        must(is_limit(p->bus[i].limit));
    for (unsigned i = 0; i < p->adapters; i++) {
        must(is_limit(p->adapter[i].limit));
        must(p->adapter[i].bus < p->buses);
    }
    for (unsigned i = 0; i < p->rails; i++) {
        const struct sim_rail *r = &p->rail[i];
        must(memchr(r->name, '\0', SIM_NAME_MAX) && *r->name);
        must(is_limit(r->limit) && is_rate(r->limit.rate));
        must(r->adapter < p->adapters);
        must(is_time(r->latency) && is_time(r->gap));
        must(is_time(r->connection_gap) && is_time(r->connection_cost));
        must(is_time(r->turnaround) && is_time(r->receive_gap));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX], *text = input_text(data, size);
    if (sim_platform_parse(text, "input", 4, &p, why) == 0) {
        check_parts(&p);
        must((double)p.cluster.nodes * p.node.sockets * p.node.cores >= 4);
        must(p.node.ranks <= (double)p.node.sockets * p.node.cores);
        must(is_rate(sim_platform_copy_rate(&p, 1)));
        must(sim_platform_copy_rate(&p, 1000) > 0);
        must(!p.memory.cache_rate.count ||
             is_rate(sim_platform_cache_rate(&p, 1)));
    } else {
        must(memchr(why, '\0', sizeof why) != NULL);
        must(!strncmp(why, "input:", 6) && why[6] >= '1' && why[6] <= '9');
        for (const char *c = why; *c; c++)
            must((unsigned char)*c >= ' ' || *c == '\t' || *c == '\r');
    }
    free(text);
    return 0;
}
