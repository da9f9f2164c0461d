/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks in virtual time: latency and rates are the described ones, to a
 * thousandth, and the same to a nanosecond in every run.
 */
#include "sim_end.h"

#define ROUNDS     8u
#define WINDOW     32u
#define RATE       1e9 /* of a rail, and of the two ports together: */
#define BOTH_RATE  1.5e9
#define LATENCY_NS 1500.0

static const size_t sizes[] = {8, 4096, 1u << 20, MOST};
#define SIZES (sizeof sizes / sizeof *sizes)

struct times { /* of rank 0, in nanoseconds */
    uint64_t half_round[SIZES], stream;
};

struct pair {
    const char *platform;
    drail_engine_t engine;
    struct times *times; /* shared with the ranks */
};

/* A message is there when its notification is, and the next message is not. */
static void ping_pong(struct end *e, unsigned rank, size_t bytes)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        drail_req_t req;
        memset(e->buffer, (int)(2 * i + rank), bytes);
        if (rank)
            await(e);
        else
            put(e, bytes, DRAIL_NOTIFY, &req);
        if (rank)
            put(e, bytes, DRAIL_NOTIFY, &req);
        else
            await(e);
        unsigned char came = (unsigned char)(2 * i + e->peer);
        check(e->buffer[MOST] == came);
        check(e->buffer[MOST + bytes - 1] == came);
        check(drail_wait(e->t, &req, -1) == 0);
    }
}

static void stream(struct end *e, unsigned rank)
{
    drail_req_t reqs[WINDOW];
    if (rank) {
        await(e);
        return;
    }
    for (unsigned i = 0; i < WINDOW; i++)
        put(e, MOST, i + 1 < WINDOW ? 0 : DRAIL_NOTIFY, &reqs[i]);
    for (unsigned i = 0; i < WINDOW; i++)
        check(drail_wait(e->t, &reqs[i], -1) == 0);
}

static int pair_main(drail_job_t *job, void *arg)
{
    const struct pair *pair = arg;
    unsigned rank = drail_job_rank(job);
    struct times times;
    struct end e;
    drail_config_t cfg;
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    cfg.engine = pair->engine;
    cfg.policy = DRAIL_POLICY_EVEN;
    cfg.notify_by = DRAIL_NOTIFY_BY_IMMED;
    open_end(&e, job, &cfg);
    ping_pong(&e, rank, 8); /* behind what connecting has under way */
    for (unsigned i = 0; i < SIZES; i++) {
        uint64_t begin = now(job);
        ping_pong(&e, rank, sizes[i]);
        times.half_round[i] = (now(job) - begin) / (2 * ROUNDS);
    }
    uint64_t begin = now(job);
    stream(&e, rank);
    times.stream = now(job) - begin;
    if (!rank)
        *pair->times = times;
    close_end(&e, job);
    return 0;
}

static bool as_described(const struct times *t, double rate)
{
    char what[64];
    bool ok = true;
    for (unsigned i = 0; i < SIZES; i++) {
        /* below the threshold of striping, one rail */
        double of = sizes[i] <= 4096 ? RATE : rate;
        snprintf(what, sizeof what, "latency of %zu bytes", sizes[i]);
        ok &= near(what, (double)t->half_round[i],
                   LATENCY_NS + (double)sizes[i] / of * 1e9);
    }
    double bytes = (double)WINDOW * MOST;
    return near("rate", bytes / (double)t->stream * 1e9, rate) && ok;
}

static bool run(const char *platform, drail_engine_t engine, double rate)
{
    struct times *times = shared_memory(2 * sizeof *times);
    bool ok = true;
    for (unsigned i = 0; i < 2; i++) {
        struct pair pair = {platform, engine, &times[i]};
        ok &= simulate(platform, 2, 1, pair_main, &pair) == 0 &&
              as_described(&times[i], rate);
    }
    ok &= !memcmp(&times[0], &times[1], sizeof *times);
    munmap(times, 2 * sizeof *times);
    return ok;
}

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    report(run("one-rail", DRAIL_ENGINE_NONTHREADED, RATE), "one rail");
    report(run("two-rails", DRAIL_ENGINE_NONTHREADED, 2 * RATE),
           "two rails, one thread");
    report(run("two-rails", DRAIL_ENGINE_THREADED, 2 * RATE),
           "two rails, threads");
    report(run("two-ports", DRAIL_ENGINE_NONTHREADED, BOTH_RATE),
           "two ports of one adapter");
    report(simulate("none-such", 2, 1, pair_main, NULL) == DRAIL_EINVAL,
           "an unknown cluster is refused");
    return reported();
}
