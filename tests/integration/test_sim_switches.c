/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaf and spine switches of a platform, to a thousandth: messages within a
 * leaf have the rail's rate and latency; those between leaves share its
 * uplinks, and take longer by the latency of the spine. Nodes with a slow rail.
 */
#include "sim_end.h"

#define RATE       1e9
#define LATENCY_NS 1500.0
#define SPINE_NS   700.0
#define QUIET_NS   10000000u /* until all that has been posted is over */

enum { RANKS = 8, BYTES = 1000000 };

/* Rank r puts to rank r ^ distance, if it is one of the first `senders` that
 * have a higher one. Leaves have four nodes. */
struct exchange {
    const char *leaf;
    unsigned distance, senders;
    double flight[RANKS]; /* of rank r's message, in nanoseconds */
};

static const char base[] = "[cluster]\nnodes = 8\n"
                           "[node]\nsockets = 1\ncores = 1\nranks = 1\n"
                           "[memory]\ncopy_rate = 1 GB/s\n"
                           "[bus bus]\n[adapter adapter]\nbus = bus\n"
                           "[rail a]\nadapter = adapter\nrate = 1 GB/s\n"
                           "latency = 1.5 us\n"
                           "%s";

static bool sends(const struct exchange *x, unsigned rank)
{
    unsigned before = 0;
    for (unsigned r = 0; r < rank; r++)
        before += !(r & x->distance);
    return !(rank & x->distance) && before < x->senders;
}

static int exchange_main(drail_job_t *job, void *arg)
{
    struct exchange *x = arg;
    const unsigned rank = drail_job_rank(job), peer = rank ^ x->distance;
    drail_config_t cfg;
    struct end e;
    drail_req_t req;
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    cfg.notify_by = DRAIL_NOTIFY_BY_IMMED;
    open_end(&e, job, &cfg);
    e.peer = peer;
    check(drail_job_barrier(job, -1) == 0);
    platform_sleep(drail_job_platform(job), QUIET_NS);
    const uint64_t begin = now(job);
    if (sends(x, rank)) {
        put(&e, BYTES, DRAIL_NOTIFY, &req);
        check(drail_wait(e.t, &req, -1) == 0);
    } else if (sends(x, peer)) {
        await(&e);
        x->flight[peer] = (double)(now(job) - begin);
    }
    close_end(&e, job);
    return 0;
}

/* Each message has this share of the rail's rate. */
static bool takes(const char *leaf, unsigned distance, unsigned senders,
                  double share, double latency)
{
    char path[64];
    struct exchange *x = shared_memory(sizeof *x);
    *x = (struct exchange){leaf, distance, senders, {0}};
    snprintf(path, sizeof path, "/tmp/test_sim_switches.%d.platform",
             (int)getpid());
    FILE *file = fopen(path, "w");
    check(file != NULL);
    fprintf(file, base, leaf);
    check(fclose(file) == 0);
    bool ok = simulate(path, RANKS, 1, exchange_main, x) == 0;
    unlink(path);
    for (unsigned r = 0; r < RANKS; r++)
        ok &= !sends(x, r) || near("a message", x->flight[r],
                                   BYTES / (share * RATE) * 1e9 + latency);
    munmap(x, sizeof *x);
    return ok;
}

#define LEAF(uplinks, more)                                                    \
    "[leaf]\nports = 4\nuplinks = " uplinks "\nuplink_rate = 1 GB/s\n" more

int main(int argc, char **argv)
{
    static const char half[] =
        LEAF("2", "wiring = rail\nspine_latency = 700 ns\n");
    simulated_or_skip(argv);
    report(takes("", 4, 4, 1, LATENCY_NS), "one switch");
    report(takes(half, 1, 4, 1, LATENCY_NS), "within leaves");
    report(takes(half, 4, 1, 1, LATENCY_NS + SPINE_NS),
           "one message between leaves");
    report(takes(half, 4, 2, 1, LATENCY_NS + SPINE_NS),
           "as many as uplinks between leaves");
    report(takes(half, 4, 4, 0.5, LATENCY_NS + SPINE_NS),
           "twice as many as uplinks between leaves");
    report(takes(LEAF("1", ""), 4, 4, 0.25, LATENCY_NS),
           "four times as many, one uplink");
    report(takes(LEAF("4", "wiring = node\n"), 4, 4, 1, LATENCY_NS),
           "as many uplinks as ports");
    report(
        takes("slow_nodes = 4\nslow_rate = 0.5 GB/s\n", 4, 4, 0.5, LATENCY_NS),
        "from nodes with a slow rail");
    report(
        takes("slow_nodes = 1\nslow_rate = 0.5 GB/s\n", 1, 1, 0.5, LATENCY_NS),
        "from the only such node");
    return reported();
}
