/* SPDX-License-Identifier: BSD-3-Clause */
/* providers/sim: what a platform file says, and what is said of a wrong one. */
#include "unit.h"
#include "providers/sim/platform.h"

/* A line each, so that a case can replace one by its number. */
static const char *const lines[] = {
    "# two nodes",                 /* 1 */
    "[cluster]",                   /* 2 */
    "nodes = 2",                   /* 3 */
    "[node]",                      /* 4 */
    "sockets = 2",                 /* 5 */
    "cores = 3",                   /* 6 */
    "ranks = 4",                   /* 7 */
    "[memory]",                    /* 8 */
    "copy_rate = 1 GB/s,1500MB/s", /* 9 */
    "flag = 100 ns",               /* 10 */
    "[bus a]",                     /* 11 */
    "rate = 800 MB/s",             /* 12 */
    "duplex_rate = 900 MB/s",      /* 13 */
    "[bus b]",                     /* 14 */
    "[adapter h]",                 /* 15 */
    "bus = b   # the second",      /* 16 */
    "[rail r0]",                   /* 17 */
    "adapter = h",                 /* 18 */
    "rate = 10 Gbit/s",            /* 19 */
    "latency = 1.5 us",            /* 20 */
    "\tgap=20ns\r",                /* 21 */
    "[message]",                   /* 22 */
    "post = 0.25 us",              /* 23 */
    "inline = 64 bytes",           /* 24 */
    "post_inline = 0.5 us",        /* 25 */
    "",                            /* 26 */
    "[threads]",                   /* 27 */
    "fork = 3 us",                 /* 28 */
};
#define LINES (sizeof lines / sizeof lines[0])

/* Reads it with another text in the place of a line (0: none). */
static int read_with(unsigned line, const char *text, unsigned ranks,
                     struct sim_platform *p, char *why)
{
    char file[4096];
    size_t n = 0;
    for (unsigned i = 1; i <= LINES; i++)
        n += (size_t)snprintf(file + n, sizeof file - n, "%s\n",
                              i == line ? text : lines[i - 1]);
    assert_true(n < sizeof file);
    return sim_platform_parse(file, "x.platform", ranks, p, why);
}

static void expect(unsigned line, const char *text, unsigned ranks,
                   const char *reason)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX] = "";
    assert_int_equal(read_with(line, text, ranks, &p, why), -1);
    assert_string_equal(why, reason);
}

static void test_values(void **state)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX] = "";
    if (read_with(0, NULL, 12, &p, why) < 0)
        fail_msg("%s", why);
    assert_int_equal(p.cluster.nodes, 2);
    assert_int_equal(p.node.sockets, 2);
    assert_int_equal(p.node.cores, 3);
    assert_int_equal(p.node.ranks, 4);
    assert_true(p.memory.flag == 100 / 1e9);
    assert_int_equal(p.memory.nodes, 0);
    assert_int_equal(p.buses, 2);
    assert_string_equal(p.bus[0].name, "a");
    assert_true(p.bus[0].limit.rate == 800e6);
    assert_true(p.bus[0].limit.duplex_rate == 900e6);
    assert_true(p.bus[1].limit.rate == 0);
    assert_int_equal(p.adapters, 1);
    assert_int_equal(p.adapter[0].bus, 1);
    assert_int_equal(p.rails, 1);
    assert_string_equal(p.rail[0].name, "r0");
    assert_int_equal(p.rail[0].adapter, 0);
    assert_true(p.rail[0].limit.rate == 1.25e9);
    assert_true(p.rail[0].latency == 1.5 / 1e6);
    assert_true(p.rail[0].gap == 20 / 1e9);
    assert_true(p.rail[0].turnaround == 0);
    assert_int_equal(p.rail[0].connections, 0);
    assert_true(p.message.post == .25 / 1e6);
    assert_true(p.message.inline_bytes == 64);
    assert_true(p.message.post_inline == .5 / 1e6);
    assert_true(p.message.completion == 0);
    assert_true(p.threads.fork == 3 / 1e6);
}

static void test_words(void **state)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX];
    assert_int_equal(read_with(0, NULL, 0, &p, why), 0);
    assert_int_equal(p.rail[0].carrier, SIM_CARRIER_ADAPTER);
    assert_int_equal(read_with(21, "carrier = processor", 0, &p, why), 0);
    assert_int_equal(p.rail[0].carrier, SIM_CARRIER_PROCESSOR);
    assert_int_equal(read_with(21, "carrier = adapter", 0, &p, why), 0);
    assert_int_equal(p.rail[0].carrier, SIM_CARRIER_ADAPTER);
}

/* Together 1 and 1.5 GB/s; 1.5 GB/s by any more. */
static void test_copies(void **state)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX];
    assert_int_equal(read_with(0, NULL, 0, &p, why), 0);
    assert_true(sim_platform_copy_rate(&p, 1) == 1e9);
    assert_true(sim_platform_copy_rate(&p, 2) == .75e9);
    assert_true(sim_platform_copy_rate(&p, 3) == .5e9);
}

static void test_more(void **state)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX];
    assert_int_equal(
        read_with(10, "cache = 65536 bytes\ncache_rate = 4 GB/s", 0, &p, why),
        0);
    assert_true(p.memory.cache_bytes == 65536);
    assert_true(sim_platform_cache_rate(&p, 1) == 4e9);
    assert_true(sim_platform_cache_rate(&p, 2) == 3e9);
    assert_int_equal(read_with(10,
                               "cache = 65536 bytes\n"
                               "cache_rate = 4 GB/s, 5 GB/s, 6 GB/s",
                               0, &p, why),
                     0);
    assert_true(sim_platform_cache_rate(&p, 1) == 4e9);
    assert_true(sim_platform_cache_rate(&p, 2) == 2.5e9);
    assert_true(sim_platform_cache_rate(&p, 4) == 1.5e9);
    assert_int_equal(
        read_with(21, "turnaround = 2 us\nreceive_gap = 30 ns", 0, &p, why), 0);
    assert_true(p.rail[0].turnaround == 2 / 1e6);
    assert_true(p.rail[0].receive_gap == 30 / 1e9);
    assert_int_equal(p.rail[0].streams, 0);
    assert_int_equal(read_with(21, "streams = 16", 0, &p, why), 0);
    assert_int_equal(p.rail[0].streams, 16);
}

static void test_keys(void **state)
{
    expect(20, "latence = 1 us", 0,
           "x.platform:20: 'latence' is no key of [rail]; allowed are adapter, "
           "rate, duplex_rate, carrier, latency, gap, connection_gap, "
           "turnaround, receive_gap, streams, connections, connection_cost, "
           "slow_nodes, slow_rate");
    expect(13, "rate = 1 GB/s", 0,
           "x.platform:13: rate is given twice, first in line 12; allowed is "
           "once");
    expect(10, "flags = 1 us", 0,
           "x.platform:10: 'flags' is no key of [memory]; allowed are "
           "copy_rate, flag, cache, cache_rate, nodes, handover_rate");
    expect(20, "", 0, "x.platform:17: [rail] has no latency; it is needed");
    expect(5, "", 0, "x.platform:4: [node] has no sockets; it is needed");
    expect(24, "", 0,
           "x.platform:25: post_inline is given without inline; allowed are "
           "both, or none");
    expect(21, "connections = 8", 0,
           "x.platform:21: connections is given without connection_cost; "
           "allowed are both, or none");
    expect(10, "cache_rate = 4 GB/s", 0,
           "x.platform:10: cache_rate is given without cache; allowed are "
           "both, or none");
    expect(10, "cache = 64 bytes\ncache_rate = 4 GB/s, 5", 0,
           "x.platform:11: cache_rate = 5 has no unit; allowed is a rate from "
           "0.001 MB/s to 1000000 GB/s in MB/s, GB/s or Gbit/s, as 900 MB/s");
    expect(10, "cache = 64", 0,
           "x.platform:10: cache = 64 has no unit; allowed is a whole number "
           "up to 1073741824 with bytes, as 64 bytes");
    expect(21, "receive_gap = 1 GB/s", 0,
           "x.platform:21: receive_gap = 1 GB/s has another unit; allowed is a "
           "time up to 1000000 in us or ns, as 1.5 us");
    expect(21, "turnaround = 1", 0,
           "x.platform:21: turnaround = 1 has no unit; allowed is a time up to "
           "1000000 in us or ns, as 1.5 us");
    expect(1, "nodes = 2", 0,
           "x.platform:1: 'nodes' is in no section; allowed before the first "
           "is nothing");
    expect(3, "nodes 2", 0,
           "x.platform:3: 'nodes 2' has no =; allowed are [SECTION] and KEY = "
           "VALUE UNIT");
    expect(3, "nodes = \x1b[2J", 0,
           "x.platform:3: this is not text; allowed are [SECTION] and KEY = "
           "VALUE UNIT");
}

static void test_values_wrong(void **state)
{
    expect(19, "rate = 10", 0,
           "x.platform:19: rate = 10 has no unit; allowed is a rate from 0.001 "
           "MB/s to 1000000 GB/s in MB/s, GB/s or Gbit/s, as 900 MB/s");
    expect(12, "rate = 0 MB/s", 0,
           "x.platform:12: rate = 0 MB/s is zero; allowed is a rate from 0.001 "
           "MB/s to 1000000 GB/s in MB/s, GB/s or Gbit/s, as 900 MB/s");
    expect(9, "copy_rate = 1 GB/s, 2", 0,
           "x.platform:9: copy_rate = 2 has no unit; allowed is a rate from "
           "0.001 MB/s to 1000000 GB/s in MB/s, GB/s or Gbit/s, as 900 MB/s");
    expect(9, "copy_rate =", 0,
           "x.platform:9: copy_rate =  is not a number of at most 15 digits; "
           "allowed is a rate from 0.001 MB/s to 1000000 GB/s in MB/s, GB/s or "
           "Gbit/s, as 900 MB/s");
    expect(20, "latency = 1 ms", 0,
           "x.platform:20: latency = 1 ms has another unit; allowed is a time "
           "up to 1000000 in us or ns, as 1.5 us");
    expect(16, "bus = c", 0,
           "x.platform:16: bus = c is no [bus] above; allowed are: a, b");
    expect(15, "[rail h]", 0,
           "x.platform:16: 'bus' is no key of [rail]; allowed are adapter, "
           "rate, duplex_rate, carrier, latency, gap, connection_gap, "
           "turnaround, receive_gap, streams, connections, connection_cost, "
           "slow_nodes, slow_rate");
    expect(18, "carrier = cable", 0,
           "x.platform:18: carrier = cable is unknown; allowed are adapter, "
           "processor");
    char many[512] = "copy_rate = 1 GB/s";
    for (int i = 0; i < SIM_COPIES_MAX; i++)
        strcat(many, ",1GB/s");
    expect(9, many, 0,
           "x.platform:9: copy_rate has more than 64 rates; allowed are 64");
}

static void test_sections(void **state)
{
    expect(22, "[massage]", 0,
           "x.platform:22: [massage] is no section; allowed are [cluster], "
           "[node], [memory], [bus NAME], [adapter NAME], [rail NAME], "
           "[leaf], [message], [threads]");
    expect(26, "[message]", 0,
           "x.platform:26: [message] is there twice; allowed is once");
    expect(14, "[bus a]", 0,
           "x.platform:14: [bus a] is there twice; each needs a name of its "
           "own");
    expect(14, "[bus]", 0,
           "x.platform:14: [bus] has the name ''; allowed are 1 to 31 letters, "
           "digits and - _ .");
    expect(14, "[bus a b]", 0,
           "x.platform:14: [bus] has the name 'a b'; allowed are 1 to 31 "
           "letters, digits and - _ .");
    expect(4, "[node n]", 0,
           "x.platform:4: [node] has the name 'n'; allowed is [node]");
    expect(4, "[node", 0,
           "x.platform:4: '[node' has no end; allowed is [SECTION]");
    struct sim_platform p;
    char why[SIM_WHY_MAX], empty[] = "";
    assert_int_equal(sim_platform_parse(empty, "e", 0, &p, why), -1);
    assert_string_equal(why, "e:1: there is no [cluster]; needed are "
                             "[cluster], [node], [memory], [bus NAME], "
                             "[adapter NAME], [rail NAME]");
}

static void test_many_parts(void **state)
{
    struct sim_platform p;
    char text[1024] = "", why[SIM_WHY_MAX];
    for (int i = 0; i <= SIM_PARTS_MAX; i++)
        sprintf(text + strlen(text), "[bus b%d]\n", i);
    assert_int_equal(sim_platform_parse(text, "x", 0, &p, why), -1);
    assert_string_equal(why, "x:17: [bus b16] is one too many; allowed are 16");
}

/* 2 nodes of 2 sockets of 3 cores */
static void test_ranks(void **state)
{
    expect(0, NULL, 13,
           "x.platform:7: 13 ranks are asked for; allowed are up to 12, one "
           "for each core of the cluster");
    expect(7, "ranks = 7", 0,
           "x.platform:7: ranks = 7 are more than cores; allowed are up to 6, "
           "one for each core of the node");
    /* nothing overflows */
    struct sim_platform p;
    char why[SIM_WHY_MAX];
    char text[] = "[node]\nsockets=1000000\ncores=1000000\nranks=1000000\n"
                  "[cluster]\nnodes=1000000\n[memory]\ncopy_rate=1MB/s\n"
                  "[bus b]\n[adapter a]\nbus=b\n"
                  "[rail r]\nadapter=a\nrate=1MB/s\nlatency=0us";
    assert_int_equal(sim_platform_parse(text, "x", UINT32_MAX, &p, why), 0);
}

/* Rails of one node on one leaf need a port each. */
static void test_leaf(void **state)
{
    static const char cluster[] =
        "[cluster]\nnodes=4\n[node]\nsockets=1\ncores=1\nranks=1\n"
        "[memory]\ncopy_rate=1MB/s\n[bus b]\n[adapter a]\nbus=b\n"
        "[rail r]\nadapter=a\nrate=1MB/s\nlatency=0us\n"
        "[rail s]\nadapter=a\nrate=1MB/s\nlatency=0us\n"
        "[leaf]\nports=1\nuplinks=1\nuplink_rate=1MB/s\n%s";
    struct sim_platform p;
    char why[SIM_WHY_MAX], text[512];
    snprintf(text, sizeof text, cluster, "");
    assert_int_equal(sim_platform_parse(text, "x", 0, &p, why), -1);
    assert_non_null(strstr(why, "[leaf] has fewer ports than a node has rails; "
                                "allowed are 2 or more, or wiring = rail"));
    snprintf(text, sizeof text, cluster, "wiring = rail\n");
    assert_int_equal(sim_platform_parse(text, "x", 0, &p, why), 0);
    assert_int_equal(p.leaf.wiring, SIM_WIRING_RAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_copies),
        cmocka_unit_test(test_keys),     cmocka_unit_test(test_values_wrong),
        cmocka_unit_test(test_sections), cmocka_unit_test(test_many_parts),
        cmocka_unit_test(test_ranks),    cmocka_unit_test(test_more),
        cmocka_unit_test(test_words),    cmocka_unit_test(test_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
