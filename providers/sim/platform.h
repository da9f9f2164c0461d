/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A described cluster: its equal nodes, and the costs of messages and copies
 * (docs/man/sim_platform.5). Plain data without pointers: copies are
 * independent, and any thread may read them. Times are seconds, rates bytes per
 * second. A value that the file leaves out is 0: no cost, or no limit.
 */
#ifndef PROVIDERS_SIM_PLATFORM_H
#define PROVIDERS_SIM_PLATFORM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_NAME_MAX   32  /* of a part, with the terminating zero */
#define SIM_PARTS_MAX  16  /* buses, adapters and rails of a node, each */
#define SIM_COPIES_MAX 64  /* copies at once, up to which rates differ */
#define SIM_WHY_MAX    640 /* room for an error */

/* Rates of a part: in each direction, and of both together (0: twice as much).
 * All connections that pass the part share them. */
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
 * A port of an adapter, connected to the ports of the same index of all nodes.
 * A message arrives one latency after its bytes have left. Each message
 * occupies its rail for at least gap, its connection for at least
 * connection_gap, and the connection for turnaround after its last byte.
 * streams messages (0: any number) send bytes at a time; others wait their
 * turn. Messages arrive over the rail at least receive_gap apart. The rail
 * holds the state of `connections` connections (0: any number), those that it
 * has used last; a message of another one leaves connection_cost later. If the
 * carrier is the processor, it copies the bytes at the rail's rate before the
 * message leaves: they pass no bus, and share the memory.
 */
struct sim_rail {
    char name[SIM_NAME_MAX];
    unsigned adapter;       /* index */
    struct sim_limit limit; /* rate is never 0 */
    enum { SIM_CARRIER_ADAPTER, SIM_CARRIER_PROCESSOR } carrier;
    double latency, gap, connection_gap, turnaround, receive_gap;
    unsigned streams, connections;
    double connection_cost;
    unsigned slow_nodes; /* the first so many nodes have slow_rate, not
                            limit.rate */
    double slow_rate;
};

/*
 * Leaf switches, each with ports to nodes and uplinks to spines. A leaf's
 * uplinks are as one link of their total rate in each direction, as if messages
 * were spread over them evenly; spines block nothing. Wiring: all rails of a
 * node on one leaf, or those of the same index of several nodes
 * (rail-optimised).
 */
struct sim_leaf {
    unsigned ports, uplinks; /* ports 0: one switch for all, which blocks
                                nothing */
    double uplink_rate;      /* of one uplink */
    double spine_latency;    /* more time between leaves, added to a rail's */
    enum { SIM_WIRING_NODE, SIM_WIRING_RAIL } wiring;
};

/* Times for which a message keeps the processor busy. */
struct sim_message {
    double post;         /* posting a request */
    double post_inline;  /* instead of post, up to inline_bytes */
    double inline_bytes; /* 0: no request carries its data */
    double completion;   /* taking the completion of a request */
    double notification; /* at the target: taking the event of a message */
};

/* Total rate of 1, 2, … copies at once; the last one holds beyond. */
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
        unsigned cores; /* cores of a socket */
        unsigned ranks; /* ranks of a node: at most its cores */
    } node;
    struct {
        struct sim_rates copy_rate; /* at least one */
        double flag;        /* from writing a flag until another core sees it */
        double cache_bytes; /* longest copy that caches serve */
        struct sim_rates cache_rate; /* of such copies; none: as other copies */
        unsigned nodes;       /* that share the memory of one host; 0: 1 */
        double handover_rate; /* of the first copy of data that a processor has
                                 carried: by how much longer it takes */
    } memory;
    struct sim_bus bus[SIM_PARTS_MAX];
    struct sim_adapter adapter[SIM_PARTS_MAX];
    struct sim_rail rail[SIM_PARTS_MAX];
    unsigned buses, adapters, rails; /* at least one of each */
    struct sim_leaf leaf;
    struct sim_message message;
    struct {
        double fork; /* starting and joining a team */
    } threads;
};

/*
 * Reads "sim:NAME", NAME, or a path (which contains a /). NAME.platform is
 * sought in the folders of DRAIL_SIM_PATH, separated by colons, then in
 * platforms/ beside the library that has this function. @p ranks: so many must
 * find a core (0: any). @return 0, or -1 with one line in @p why, "file:line:
 * what was given; what is allowed"; then *p is undefined.
 */
int sim_platform_read(const char *name, unsigned ranks, struct sim_platform *p,
                      char why[SIM_WHY_MAX]);

/* The same from a text, which it changes; @p file is the name in errors. */
int sim_platform_parse(char *text, const char *file, unsigned ranks,
                       struct sim_platform *p, char why[SIM_WHY_MAX]);

/* The number of the leaf that a rail of a node is connected to. */
unsigned sim_platform_leaf(const struct sim_platform *p, unsigned node,
                           unsigned rail);

/* The latency of a message between rails of this index. */
double sim_platform_latency(const struct sim_platform *p, unsigned rail,
                            unsigned from_node, unsigned to_node);

/* Rate of each of so many copies at once (at least 1). */
double sim_platform_copy_rate(const struct sim_platform *p, unsigned copies);

/* Rate of each of so many copies that caches serve, if there is a cache_rate. A
 * single cache_rate is shared in the proportions of copy_rate. */
double sim_platform_cache_rate(const struct sim_platform *p, unsigned copies);

#ifdef __cplusplus
}
#endif
#endif
