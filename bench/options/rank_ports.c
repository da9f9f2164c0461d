/* SPDX-License-Identifier: BSD-3-Clause */
/* --rank-ports: the ports of each rank, if they have different numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "parsers.h"

static unsigned wrong(const options_t *opts, const option_table_t *table,
                      const char *allowed)
{
    option_wrong(table, "--rank-ports", opts->rank_ports, allowed);
    return 0;
}

unsigned options_rank_ports(const options_t *opts, const option_table_t *table,
                            unsigned nranks, unsigned *begin)
{
    const char *text = opts->rank_ports;
    unsigned long ports = 0, most = 0;
    char allowed[32];
    snprintf(allowed, sizeof allowed, "at most %d ports", DRAIL_MAX_RAILS);
    begin[0] = 0;
    for (unsigned r = 0; r < nranks; r++) {
        char *end = NULL;
        if (*text)
            ports = strtoul(text, &end, 10);
        text = end ? end + (*end == ',') : text;
        most = ports > most ? ports : most;
        if (most > DRAIL_MAX_RAILS)
            return wrong(opts, table, allowed);
        begin[r + 1] = begin[r] + (unsigned)ports;
    }
    if (*text)
        return wrong(opts, table, "no more numbers than ranks");
    if (opts->ports)
        return wrong(opts, table, "without --ports");
    return (unsigned)most;
}
