/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#define IN(member)   offsetof(struct sim_platform, member)
#define BUS(member)  offsetof(struct sim_bus, member)
#define HCA(member)  offsetof(struct sim_adapter, member)
#define RAIL(member) offsetof(struct sim_rail, member)

/* name by which parts are sought */
_Static_assert(!BUS(name) && !HCA(name) && !RAIL(name), "see section.c");

#define PARTS(member, several)                                                 \
    .at = IN(member), .size = sizeof(((struct sim_platform *)0)->member[0]),   \
    .count = IN(several)

/* One key: name, unit and place of its value, and more. */
#define KEY(key, kind_of_unit, place, ...)                                     \
    {                                                                          \
        .name = key, .unit = kind_of_unit, .at = place, __VA_ARGS__            \
    }
#define RATES       .kind = SIM_KEY_RATES
#define PART(above) .kind = SIM_KEY_PART, .section = above
#define WORDS(...)  .kind = SIM_KEY_WORD, .words = {__VA_ARGS__}
#define WITH(other) .with = other
#define NEEDED      .needed = true

const struct sim_section sim_sections[] = {
    {.name = "cluster",
     NEEDED,
     .keys = {KEY("nodes", SIM_COUNT, IN(cluster.nodes), NEEDED)}},
    {.name = "node",
     NEEDED,
     .keys = {KEY("sockets", SIM_COUNT, IN(node.sockets), NEEDED),
              KEY("cores", SIM_COUNT, IN(node.cores), NEEDED),
              KEY("ranks", SIM_COUNT, IN(node.ranks), NEEDED)}},
    {.name = "memory",
     NEEDED,
     .keys = {KEY("copy_rate", SIM_RATE, IN(memory.copy_rate), RATES, NEEDED),
              KEY("flag", SIM_TIME, IN(memory.flag)),
              KEY("cache", SIM_BYTES, IN(memory.cache_bytes),
                  WITH("cache_rate")),
              KEY("cache_rate", SIM_RATE, IN(memory.cache_rate), RATES,
                  WITH("cache")),
              KEY("nodes", SIM_COUNT, IN(memory.nodes)),
              KEY("handover_rate", SIM_RATE, IN(memory.handover_rate))}},
    {.name = "bus",
     NEEDED,
     PARTS(bus, buses),
     .keys = {KEY("rate", SIM_RATE, BUS(limit.rate)),
              KEY("duplex_rate", SIM_RATE, BUS(limit.duplex_rate))}},
    {.name = "adapter",
     NEEDED,
     PARTS(adapter, adapters),
     .keys = {KEY("bus", 0, HCA(bus), PART("bus"), NEEDED),
              KEY("rate", SIM_RATE, HCA(limit.rate)),
              KEY("duplex_rate", SIM_RATE, HCA(limit.duplex_rate))}},
    {.name = "rail",
     NEEDED,
     PARTS(rail, rails),
     .keys = {KEY("adapter", 0, RAIL(adapter), PART("adapter"), NEEDED),
              KEY("rate", SIM_RATE, RAIL(limit.rate), NEEDED),
              KEY("duplex_rate", SIM_RATE, RAIL(limit.duplex_rate)),
              KEY("carrier", 0, RAIL(carrier), WORDS("adapter", "processor")),
              KEY("latency", SIM_TIME, RAIL(latency), NEEDED),
              KEY("gap", SIM_TIME, RAIL(gap)),
              KEY("connection_gap", SIM_TIME, RAIL(connection_gap)),
              KEY("turnaround", SIM_TIME, RAIL(turnaround)),
              KEY("receive_gap", SIM_TIME, RAIL(receive_gap)),
              KEY("streams", SIM_COUNT, RAIL(streams)),
              KEY("connections", SIM_COUNT, RAIL(connections),
                  WITH("connection_cost")),
              KEY("connection_cost", SIM_TIME, RAIL(connection_cost),
                  WITH("connections")),
              KEY("slow_nodes", SIM_COUNT, RAIL(slow_nodes), WITH("slow_rate")),
              KEY("slow_rate", SIM_RATE, RAIL(slow_rate), WITH("slow_nodes"))}},
    {.name = "leaf",
     .keys = {KEY("ports", SIM_COUNT, IN(leaf.ports), NEEDED),
              KEY("uplinks", SIM_COUNT, IN(leaf.uplinks), NEEDED),
              KEY("uplink_rate", SIM_RATE, IN(leaf.uplink_rate), NEEDED),
              KEY("wiring", 0, IN(leaf.wiring), WORDS("node", "rail")),
              KEY("spine_latency", SIM_TIME, IN(leaf.spine_latency))}},
    {.name = "message",
     .keys = {KEY("post", SIM_TIME, IN(message.post)),
              KEY("post_inline", SIM_TIME, IN(message.post_inline),
                  WITH("inline")),
              KEY("inline", SIM_BYTES, IN(message.inline_bytes),
                  WITH("post_inline")),
              KEY("completion", SIM_TIME, IN(message.completion)),
              KEY("notification", SIM_TIME, IN(message.notification))}},
    {.name = "threads", .keys = {KEY("fork", SIM_TIME, IN(threads.fork))}},
    {.name = NULL},
};
