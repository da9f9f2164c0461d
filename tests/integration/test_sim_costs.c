/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each cost of a platform file alone, to a thousandth: what it adds to a
 * cluster where only rate and latency cost anything.
 */
#include "sim_end.h"

#define RATE       1e9
#define LATENCY_NS 1500.0
#define LONG_NS    10000000u /* until all that has been posted is over */

static const char base[] = "[cluster]\nnodes = 16\n"
                           "[node]\nsockets = 1\ncores = 4\nranks = 4\n"
                           "[memory]\ncopy_rate = %s\n%s\n"
                           "[bus bus]\n[adapter adapter]\nbus = bus\n"
                           "[rail a]\nadapter = adapter\nrate = 1 GB/s\n"
                           "latency = 1.5 us\n%s\n"
                           "%s\n";

/* Lines for the sections of memory and the rail, and sections of their own. */
struct costs {
    const char *memory, *rail, *more;
    const char *copy_rate; /* NULL: 1 GB/s, 1.5 GB/s of more */
    unsigned ppn;          /* where it matters; 0: all ranks on a node */
};

/* Its path, which the next call overwrites. */
static const char *platform(const struct costs *c)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/test_sim_costs.%d.platform",
             (int)getpid());
    FILE *file = fopen(path, "w");
    check(file != NULL);
    fprintf(file, base, c->copy_rate ? c->copy_rate : "1 GB/s, 1500 MB/s",
            c->memory ? c->memory : "", c->rail ? c->rail : "",
            c->more ? c->more : "");
    check(fclose(file) == 0);
    return path;
}

static bool run(const struct costs *c, unsigned nranks, unsigned ppn,
                drail_rank_main_t main, void *arg)
{
    const char *path = platform(c);
    int rc = simulate(path, nranks, ppn, main, arg);
    unlink(path);
    return rc == 0;
}

static void rest(const drail_job_t *job)
{
    platform_sleep(drail_job_platform(job), LONG_NS);
}

/* ------------------------------------------------------------ a message */

struct timed_message {
    size_t bytes;
    double post, arrival, completion; /* in nanoseconds */
};

static void open_one_rail(struct end *e, drail_job_t *job)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    cfg.notify_by = DRAIL_NOTIFY_BY_IMMED;
    open_end(e, job, &cfg);
    check(drail_job_barrier(job, -1) == 0);
    rest(job);
}

static int message_main(drail_job_t *job, void *arg)
{
    struct timed_message *m = arg;
    struct end e;
    drail_req_t req;
    open_one_rail(&e, job);
    uint64_t begin = now(job);
    if (drail_job_rank(job)) {
        await(&e);
        m->arrival = (double)(now(job) - begin);
    } else {
        put(&e, m->bytes, DRAIL_NOTIFY, &req);
        m->post = (double)(now(job) - begin);
        rest(job);
        begin = now(job);
        check(drail_wait(e.t, &req, -1) == 0);
        m->completion = (double)(now(job) - begin);
    }
    close_end(&e, job);
    return 0;
}

static bool message_over(const struct costs *costs, size_t bytes, double post,
                         double flight, double completion, double notification)
{
    struct timed_message *m = shared_memory(sizeof *m);
    m->bytes = bytes;
    bool ok = run(costs, 2, 1, message_main, m);
    ok &= near("posting", m->post, post);
    ok &= near("completion", m->completion, completion);
    ok &= near("arrival", m->arrival, post + flight + notification);
    munmap(m, sizeof *m);
    return ok;
}

static bool message(const char *more, size_t bytes, double post,
                    double completion, double notification)
{
    return message_over(&(struct costs){.more = more}, bytes, post,
                        (double)bytes / RATE * 1e9 + LATENCY_NS, completion,
                        notification);
}

/* The bytes count once: by the processor, whatever bus is on their way. */
static bool carried(const char *more, size_t bytes, double post)
{
    return message_over(&(struct costs){.rail = "carrier = processor\n"
                                                "duplex_rate = 1 MB/s",
                                        .more = more},
                        bytes, post + (double)bytes / RATE * 1e9, LATENCY_NS, 0,
                        0);
}

static void messages(void)
{
    report(message(NULL, 4096, 0, 0, 0), "nothing but rate and latency");
    report(message("[message]\npost = 700 ns", 4096, 700, 0, 0), "posting");
    report(message("[message]\npost = 1 us\ninline = 64 bytes\n"
                   "post_inline = 300 ns",
                   64, 300, 0, 0),
           "posting with the data");
    report(message("[message]\npost = 1 us\ninline = 64 bytes\n"
                   "post_inline = 300 ns",
                   72, 1000, 0, 0),
           "posting more than is carried");
    report(message("[message]\ncompletion = 600 ns", 4096, 0, 600, 0),
           "completion");
    report(message("[message]\nnotification = 800 ns", 4096, 0, 0, 800),
           "notification");
    report(message("[message]\npost = 1 us\ncompletion = 300 ns\n"
                   "notification = 200 ns",
                   1u << 20, 1000, 300, 200),
           "all three");
    report(carried(NULL, 4096, 0), "the processor carries the bytes");
    report(carried("[message]\npost = 2 us", 1u << 20, 2000),
           "... when it has posted");
}

/* --------------------------------------------------------------- a burst */

#define BURST 16u
#define SHORT 8u

struct burst {
    unsigned peers;            /* rank 0 puts to them in turn */
    double arrival[1 + BURST]; /* by rank, in nanoseconds: of the last */
};

static int burst_main(drail_job_t *job, void *arg)
{
    struct burst *b = arg;
    unsigned rank = drail_job_rank(job);
    drail_req_t reqs[BURST];
    struct end e;
    uint32_t id;
    open_one_rail(&e, job);
    uint64_t begin = now(job);
    for (unsigned i = 0; !rank && i < BURST; i++) {
        e.peer = 1 + i % b->peers;
        put(&e, SHORT, DRAIL_NOTIFY, &reqs[i]);
    }
    for (unsigned i = 0; rank && i < BURST / b->peers; i++) {
        check(drail_notify_wait(e.t, 0, &id, -1) == 0);
        b->arrival[rank] = (double)(now(job) - begin);
    }
    for (unsigned i = 0; !rank && i < BURST; i++)
        check(drail_wait(e.t, &reqs[i], -1) == 0);
    close_end(&e, job);
    return 0;
}

/* All are posted at once, and land so far apart; each leaves so long after the
 * one before, whichever its connection is. */
static bool burst(const char *rail, unsigned peers, double first_ns,
                  double step_ns)
{
    struct costs costs = {.rail = rail};
    struct burst *b = shared_memory(sizeof *b);
    b->peers = peers;
    bool ok = run(&costs, 1 + peers, 1, burst_main, b);
    for (unsigned i = 0; i < peers; i++) {
        double before = BURST - peers + i;
        ok &=
            near("arrival of the last", b->arrival[1 + i],
                 first_ns + before * step_ns + SHORT / RATE * 1e9 + LATENCY_NS);
    }
    munmap(b, sizeof *b);
    return ok;
}

static void bursts(void)
{
    const double bytes = SHORT / RATE * 1e9;
    report(burst("", 1, 0, bytes), "short messages, one after the other");
    report(burst("gap = 500 ns", 1, 0, 500), "gaps of a connection's messages");
    report(burst("gap = 500 ns", 4, 0, 500), "gaps of a rail's messages");
    report(burst("connection_gap = 900 ns", 1, 0, 900), "gaps of a connection");
    report(burst("gap = 100 ns\nconnection_gap = 400 ns", 4, 0, 100),
           "four connections fill each other's gaps");
    report(burst("gap = 100 ns\nconnection_gap = 900 ns", 1, 0, 900),
           "one does not");
    report(burst("turnaround = 700 ns", 1, 0, 700 + bytes),
           "a connection turns to its next message");
    report(burst("gap = 100 ns\nturnaround = 300 ns", 4, 0, 100),
           "four connections turn at the same time");
    report(burst("receive_gap = 600 ns", 1, 0, 600), "gaps of what comes");
    report(burst("gap = 800 ns\nreceive_gap = 600 ns", 1, 0, 800),
           "what comes in longer gaps");
    report(burst("gap = 1 ns\nstreams = 1", 4, 0, bytes),
           "one message's bytes at a time, in turn");
    report(burst("gap = 200 ns\nconnections = 4\nconnection_cost = 300 ns", 4,
                 0, 200),
           "as many connections as cost nothing");
    report(burst("gap = 200 ns\nconnections = 4\nconnection_cost = 300 ns", 8,
                 -900, 500),
           "more connections: all but the first four messages cost");
}

/* --------------------------------------------------------- memory, threads */

/* The work of a node's ranks, and the time of each. */
struct work {
    void (*body)(drail_job_t *job, const struct drail_platform *p,
                 struct work *w);
    double took[4]; /* in nanoseconds */
    struct {
        _Atomic uint32_t value;
    } flag; /* in memory that all share */
};

static int work_main(drail_job_t *job, void *arg)
{
    struct work *w = arg;
    check(drail_job_barrier(job, -1) == 0);
    rest(job);
    uint64_t begin = now(job);
    w->body(job, drail_job_platform(job), w);
    w->took[drail_job_rank(job)] = (double)(now(job) - begin);
    return 0;
}

static bool work(const struct costs *costs, unsigned nranks,
                 void (*body)(drail_job_t *, const struct drail_platform *,
                              struct work *),
                 const double *should)
{
    struct work *w = shared_memory(sizeof *w);
    w->body = body;
    bool ok =
        run(costs, nranks, costs->ppn ? costs->ppn : nranks, work_main, w);
    for (unsigned i = 0; i < nranks; i++)
        ok &= near("a rank's time", w->took[i], should[i]);
    munmap(w, sizeof *w);
    return ok;
}

#define COPIED 3000000u

/* Rank 1 copies a third of what the others do. */
static void copies(drail_job_t *job, const struct drail_platform *p,
                   struct work *w)
{
    size_t bytes = drail_job_rank(job) == 1 ? COPIED / 3 : COPIED;
    unsigned char *memory = calloc(2, COPIED);
    memory[bytes - 1] = 1;
    platform_copy(p, memory + COPIED, memory, bytes);
    check(memory[COPIED + bytes - 1] == 1);
    free(memory);
}

/* Rank 0 sets a flag that the others poll and sleep for. */
static void flags(drail_job_t *job, const struct drail_platform *p,
                  struct work *w)
{
    _Atomic uint32_t *flag = &w->flag.value;
    unsigned rank = drail_job_rank(job);
    if (!rank)
        platform_sleep(p, 12345);
    if (!rank)
        p->set(p, flag, 1);
    while (rank && atomic_load(flag) != 1)
        if (rank == 1)
            p->wait(p, flag, 0, PLATFORM_FOREVER, true);
        else
            p->relax(p);
    if (!rank)
        p->settle(p);
}

static void nothing(void *arg, unsigned index)
{
}

/* Teams that come and go, each in its way. */
static void teams(drail_job_t *job, const struct drail_platform *p,
                  struct work *w)
{
    struct platform_threads *team;
    check(p->threads_start(p, 2, nothing, NULL, &team) == 0);
    p->threads_join(p, team);
    check(p->threads_run(p, 2, nothing, NULL) == 0);
}

/* The computation of a benchmark. */
static void compute(drail_job_t *job, const struct drail_platform *p,
                    struct work *w)
{
    drail_job_compute(job, 123456);
}

#define CARRIED 3000000u /* bytes of a put */

/* Rank 0 puts while rank 1 copies a third of it. */
static int carry_main(drail_job_t *job, void *arg)
{
    double *took = arg;
    struct end e;
    drail_req_t req;
    open_one_rail(&e, job);
    uint64_t begin = now(job);
    if (drail_job_rank(job))
        platform_copy(drail_job_platform(job), e.buffer + MOST, e.buffer,
                      CARRIED / 3);
    else
        put(&e, CARRIED, 0, &req);
    took[drail_job_rank(job)] = (double)(now(job) - begin);
    check(drail_job_rank(job) || drail_wait(e.t, &req, -1) == 0);
    close_end(&e, job);
    return 0;
}

/* A rail of half a copy's rate: 3 MB over it are as 6 MB copied. Two share
 * 3 GB/s: 1 MB of each in 667 us, the other 5 MB in 2500 us. */
static bool carries_and_copies(void)
{
    double *took = shared_memory(2 * sizeof *took);
    static const struct costs costs = {.copy_rate = "2 GB/s, 3 GB/s",
                                       .memory = "nodes = 2",
                                       .rail = "carrier = processor"};
    bool ok = run(&costs, 2, 1, carry_main, took);
    ok &= near("the put", took[0], 3.166667e6);
    ok &= near("the copy", took[1], 0.666667e6);
    munmap(took, 2 * sizeof *took);
    return ok;
}

#define TAKEN 1000000u /* bytes of a put, and of each copy */

static double copy_time(const struct end *e, drail_job_t *job, size_t to,
                        size_t from)
{
    uint64_t begin = now(job);
    platform_copy(drail_job_platform(job), e->buffer + to, e->buffer + from,
                  TAKEN);
    return (double)(now(job) - begin);
}

/* Rank 1 copies from the middle of what rank 0 has put, to behind it; then all
 * of it, twice. */
static int take_main(drail_job_t *job, void *arg)
{
    static const size_t from[] = {TAKEN / 2, 0, 0};
    double *took = arg;
    struct end e;
    drail_req_t req;
    open_one_rail(&e, job);
    if (!drail_job_rank(job)) {
        put(&e, TAKEN, DRAIL_NOTIFY, &req);
        check(drail_wait(e.t, &req, -1) == 0);
    } else {
        await(&e);
        for (unsigned i = 0; i < 3; i++)
            took[i] = copy_time(&e, job, 0, MOST + from[i]);
    }
    close_end(&e, job);
    return 0;
}

/* Rank 1 writes over what rank 0 has put, and copies that. */
static int overwrite_main(drail_job_t *job, void *arg)
{
    double *took = arg;
    struct end e;
    drail_req_t req;
    open_one_rail(&e, job);
    if (!drail_job_rank(job)) {
        put(&e, TAKEN, DRAIL_NOTIFY, &req);
        check(drail_wait(e.t, &req, -1) == 0);
    } else {
        await(&e);
        took[0] = copy_time(&e, job, MOST, 0);
        took[1] = copy_time(&e, job, 0, MOST);
    }
    close_end(&e, job);
    return 0;
}

static bool overwritten(void)
{
    static const struct costs costs = {.memory = "handover_rate = 500 MB/s",
                                       .rail = "carrier = processor"};
    double *took = shared_memory(2 * sizeof *took);
    bool ok = run(&costs, 2, 1, overwrite_main, took);
    ok &= near("the copy over it", took[0], 1e6);
    ok &= near("the copy of that", took[1], 1e6);
    munmap(took, 2 * sizeof *took);
    return ok;
}

/* A copy at 1 GB/s, and at 500 MB/s more what has not been copied before. */
static bool taken(const char *rail, double foreign_ns)
{
    double *took = shared_memory(3 * sizeof *took);
    bool ok =
        run(&(struct costs){.memory = "handover_rate = 500 MB/s", .rail = rail},
            2, 1, take_main, took);
    ok &= near("the first half", took[0], 1e6 + foreign_ns);
    ok &= near("the other half", took[1], 1e6 + foreign_ns);
    ok &= near("the same again", took[2], 1e6);
    munmap(took, 3 * sizeof *took);
    return ok;
}

static void memories(void)
{
    static const struct costs none = {0}, apart = {.ppn = 1},
                              host = {.memory = "nodes = 2", .ppn = 1},
                              slow = {.memory = "flag = 250 ns"},
                              cache = {.memory = "cache = 2000000 bytes\n"
                                                 "cache_rate = 2 GB/s"},
                              caches = {.memory = "cache = 2000000 bytes\n"
                                                  "cache_rate = 2 GB/s, "
                                                  "4 GB/s"},
                              fork = {.more = "[threads]\nfork = 7 us"};
    /* 1 GB/s alone; two share 1500 MB/s: 1 MB in 1333 us, the other 2 MB of
     * rank 0 in 2000 us; four share it, too */
    report(work(&none, 1, copies, (double[]){3e6}), "one copy");
    report(work(&none, 2, copies, (double[]){3.333333e6, 1.333333e6}),
           "two copies share a node's memory");
    report(work(&none, 4, copies,
                (double[]){6.666667e6, 2.666667e6, 6.666667e6, 6.666667e6}),
           "four copies");
    /* the third that rank 1 copies is half of the work: 0.5 MB of 2.25 MB */
    report(work(&cache, 1, copies, (double[]){3e6}), "more than caches hold");
    report(work(&cache, 2, copies, (double[]){3.166667e6, 0.666667e6}),
           "caches take a part of a copy's work");
    /* beside one another 2 GB/s from caches, 750 MB/s from memory */
    report(work(&caches, 2, copies, (double[]){3.125e6, 0.5e6}),
           "caches serve several at once");
    report(work(&apart, 2, copies, (double[]){3e6, 1e6}),
           "two nodes have a memory each");
    report(work(&host, 2, copies, (double[]){3.333333e6, 1.333333e6}),
           "... or share one");
    report(carries_and_copies(), "and so do carried bytes");
    report(taken("carrier = processor", 1e6), "what a processor has written");
    report(taken("", 0), "what an adapter has written");
    report(overwritten(), "what a processor had written");
    report(work(&none, 3, flags, (double[]){12345, 12345, 12345}),
           "a flag is seen at once");
    report(work(&slow, 3, flags, (double[]){12595, 12595, 12595}),
           "a flag is seen after its time, asleep and awake");
    report(work(&none, 1, teams, (double[]){0}), "teams that cost nothing");
    report(work(&fork, 1, teams, (double[]){14000}),
           "a team is started and joined, twice");
    report(work(&none, 2, compute, (double[]){123456, 123456}),
           "what is computed takes its time");
}

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    messages();
    bursts();
    memories();
    return reported();
}
