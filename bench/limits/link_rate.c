/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "link_rate.h"

enum { PORT, ADAPTER, BUS, HOPS };

typedef struct hop {
    const char *name;
    double left; /* MB/s that no rail takes yet; infinite: not limited */
} hop_t;

static hop_t hop(const char *name, double rate)
{
    return (hop_t){name, rate > 0 ? rate : INFINITY};
}

/* The resource that a rail passes as its hop: the first rail's that has it.
 * A resource without a rate does not limit. */
static hop_t *resource(hop_t ways[][HOPS], unsigned rail, unsigned at)
{
    hop_t *own = &ways[rail][at];
    if (isinf(own->left) || !own->name[0])
        return own;
    for (unsigned i = 0; i < rail; i++)
        if (!isinf(ways[i][at].left) && !strcmp(ways[i][at].name, own->name))
            return &ways[i][at];
    return own;
}

/* Ports, adapters and buses are trees: so however the rails take what is left
 * to them, one after the other, the sum is the highest. */
double link_rate(const drail_rail_info_t *rails, unsigned count)
{
    hop_t ways[DRAIL_MAX_RAILS][HOPS];
    double sum = 0;
    for (unsigned i = 0; i < count; i++) {
        const drail_rail_info_t *rail = &rails[i];
        hop_t *way[HOPS];
        double rate = INFINITY;
        if (!(rail->nominal_MBps > 0))
            return 0;
        ways[i][PORT] = hop(rail->address, rail->nominal_MBps);
        ways[i][ADAPTER] = hop(rail->adapter, rail->adapter_MBps);
        ways[i][BUS] = hop(rail->bus, rail->bus_MBps);
        for (unsigned at = 0; at < HOPS; at++) {
            way[at] = resource(ways, i, at);
            rate = fmin(rate, way[at]->left);
        }
        for (unsigned at = 0; at < HOPS; at++)
            way[at]->left -= rate;
        sum += rate;
    }
    return sum;
}
