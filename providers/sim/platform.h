/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A described cluster: its nodes, all alike, and what messages and copies cost
 * on them (docs/man/sim_platform.5). Plain data without pointers: copies are
 * independent, any thread may read them. Times are seconds, rates bytes per
 * second. What a file leaves out is 0: it costs nothing, or is no limit.
 */
#ifndef PROVIDERS_SIM_PLATFORM_H
#define PROVIDERS_SIM_PLATFORM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_NAME_MAX   32  /* of a part, with the zero at its end */
#define SIM_PARTS_MAX  16  /* buses, adapters, rails of a node: each */
#define SIM_COPIES_MAX 64  /* copies at once whose rates can differ */
#define SIM_WHY_MAX    640 /* room for a reason */

/* What passes through a part: as much in each direction, and in both together
 * (0: twice as much). All that share the part share both. */
struct sim_limit {
    double rate, duplex_rate;
};

struct sim_bus {
    char name[SIM_NAME_MAX];
    struct sim_limit limit;
};

struct sim_adapter {
    char name[SIM_NAME_MAX];
    unsigned bus; /* index */
    struct sim_limit limit;
};

/*
 * A port of an adapter, which leads to the ports of this index of all nodes.
 * Bytes land a latency after they have left. A message holds its rail for
 * gap, its connection for connection_gap at least, however short it is, and a
 * turnaround longer than its bytes take. Those of so many messages as streams
 * (0: any number) flow at a time, others wait in turn. The rail it comes by it
 * holds for receive_gap: the next one lands so long after it. A message of a
 * connection that is not among those (0: any number) that have left by the rail
 * last leaves connection_cost later, and holds it longer. Where the processor
 * is the carrier it copies the bytes at the rail's rate before the message
 * leaves: then they pass no bus, and share the memory.
 */
struct sim_rail {
    char name[SIM_NAME_MAX];
    unsigned adapter;       /* index */
    struct sim_limit limit; /* its rate is never 0 */
    enum { SIM_CARRIER_ADAPTER, SIM_CARRIER_PROCESSOR } carrier;
    double latency, gap, connection_gap, turnaround, receive_gap;
    unsigned streams, connections;
    double connection_cost;
};

/* What the processor does for a message: it is busy so long. */
struct sim_message {
    double post;         /* posting a request */
    double post_inline;  /* instead, if it is of at most inline_bytes */
    double inline_bytes; /* 0: none are posted with their data */
    double completion;   /* seeing that a request is complete */
    double notification; /* the target's: seeing that data have come */
};

/* What 1, 2, … copies at once reach together; as the last beyond. */
struct sim_rates {
    double together[SIM_COPIES_MAX];
    unsigned count;
};

struct sim_platform {
    struct {
        unsigned nodes;
    } cluster;
    struct {
        unsigned sockets;
        unsigned cores; /* of a socket */
        unsigned ranks; /* of a node: at most its cores */
    } node;
    struct {
        struct sim_rates copy_rate; /* at least one */
        double flag;        /* a flag is written until another core sees it */
        double cache_bytes; /* of a copy, at most, that caches serve */
        struct sim_rates cache_rate; /* of such copies; none: as others */
        unsigned nodes;              /* share it: of one host. 0 as 1 */
        double handover_rate; /* of the first copy of what a processor that is a
                                 carrier has written: so much longer */
    } memory;
    struct sim_bus bus[SIM_PARTS_MAX];
    struct sim_adapter adapter[SIM_PARTS_MAX];
    struct sim_rail rail[SIM_PARTS_MAX];
    unsigned buses, adapters, rails; /* at least one of each */
    struct sim_message message;
    struct {
        double fork; /* a team is started and joined again */
    } threads;
};

/*
 * Reads "sim:NAME", NAME, or a path (what has a /). NAME.platform is looked for
 * in the folders of DRAIL_SIM_PATH (with : between them), then in platforms/
 * beside the library that has this function. @p ranks: so many must find a core
 * (0: any).
 *
 * @return 0, or -1 with one line in @p why: "file:line: what was given; what is
 * allowed". Then *p is undefined.
 */
int sim_platform_read(const char *name, unsigned ranks, struct sim_platform *p,
                      char why[SIM_WHY_MAX]);

/* The same from text, which is changed; @p file is its name in reasons. */
int sim_platform_parse(char *text, const char *file, unsigned ranks,
                       struct sim_platform *p, char why[SIM_WHY_MAX]);

/* Of each of so many copies at once (at least 1). */
double sim_platform_copy_rate(const struct sim_platform *p, unsigned copies);

/* Of one of them that caches serve, where there is a cache_rate: a single one
 * is shared in proportion to what copies share. */
double sim_platform_cache_rate(const struct sim_platform *p, unsigned copies);

#ifdef __cplusplus
}
#endif
#endif
