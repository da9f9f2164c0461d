/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many ranks in virtual time: a rank costs memory for the peers that it talks
 * to, not for those that the job has. An all-gather by distances of powers of
 * two, and one to everybody directly.
 *
 * Usage: [log|direct RANKS]: that one alone, any number of ranks.
 */
#include <sys/resource.h>

#include "simulated.h"

#define PLATFORM "scale"

/* Ranks that are one process share its memory. */
static struct {
    drail_key_t *keys;
} world;

struct pattern {
    const char *name;
    unsigned nranks;
    bool log;       /* distances are powers of two; else all of them */
    size_t most_kb; /* of the process, for each rank; 0: any */
    long *used_kb;  /* shared with the ranks */
};

struct many {
    drail_job_t *job;
    drail_t *t;
    drail_mem_t *mem;
    uint64_t *all; /* a word of each rank, from the own one on */
    unsigned rank, size;
};

static void open_rank(struct many *m, drail_job_t *job)
{
    drail_config_t cfg;
    drail_error_t err;
    void *address;
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    cfg.notify_by = DRAIL_NOTIFY_BY_IMMED;
    *m = (struct many){
        .job = job, .rank = drail_job_rank(job), .size = drail_job_size(job)};
    if (drail_open(job, &cfg, &m->t, &err)) {
        printf("# rank %u: %s\n", m->rank, err.text);
        check(false);
    }
    m->all = calloc(m->size, sizeof *m->all);
    address = m->all;
    check(m->all && !drail_mem_register(m->t, address, m->size * sizeof *m->all,
                                        DRAIL_ACCESS_REMOTE_WRITE, &m->mem));
    if (!world.keys)
        check((world.keys = calloc(m->size, sizeof *world.keys)) != NULL);
    drail_mem_key(m->mem, &world.keys[m->rank]);
    m->all[0] = m->rank + 1;
    check(!drail_job_barrier(job, -1));
}

static void close_rank(struct many *m)
{
    check(!drail_job_barrier(m->job, -1));
    check(!drail_mem_release(m->mem));
    drail_close(m->t);
    free(m->all);
}

/* To the rank this far below; and takes what comes from the one above. */
static void pass(struct many *m, unsigned distance, unsigned words)
{
    unsigned to = (m->rank + m->size - distance) % m->size;
    unsigned from = (m->rank + distance) % m->size;
    uint32_t id;
    drail_req_t req;
    drail_xfer_t x = {.local = m->all,
                      .local_mem = m->mem,
                      .remote = &world.keys[to],
                      .remote_offset = distance * sizeof *m->all,
                      .bytes = words * sizeof *m->all};
    check(!drail_put(m->t, to, &x, DRAIL_NOTIFY, distance, &req));
    check(!drail_notify_wait(m->t, from, &id, -1) && id == distance);
    check(!drail_wait(m->t, &req, -1));
}

static void run_log(struct many *m)
{
    for (unsigned d = 1; d < m->size; d *= 2)
        pass(m, d, d < m->size - d ? d : m->size - d);
}

static void run_direct(struct many *m)
{
    for (unsigned d = 1; d < m->size; d++)
        pass(m, d, 1);
}

static int many_main(drail_job_t *job, void *arg)
{
    const struct pattern *p = arg;
    struct many m;
    struct rusage usage;
    open_rank(&m, job);
    if (p->log)
        run_log(&m);
    else
        run_direct(&m);
    for (unsigned i = 0; i < m.size; i++)
        check(m.all[i] == (m.rank + i) % m.size + 1);
    close_rank(&m);
    getrusage(RUSAGE_SELF, &usage);
    *p->used_kb = usage.ru_maxrss;
    return 0;
}

/* The sanitizer has memory of its own. */
static bool fits(const struct pattern *p)
{
#ifdef __SANITIZE_ADDRESS__
    return *p->used_kb > 0;
#endif
    return !p->most_kb || *p->used_kb <= (long)(p->most_kb * p->nranks);
}

static bool runs(const struct pattern *pattern)
{
    struct pattern p = *pattern;
    p.used_kb = shared_memory(sizeof *p.used_kb);
    double start = seconds();
    int rc = simulate(PLATFORM, p.nranks, 1, many_main, &p);
    printf("# %s: %u ranks: %d, %.1f s, %ld KB\n", p.name, p.nranks, rc,
           seconds() - start, *p.used_kb);
    return !rc && fits(&p);
}

int main(int argc, char **argv)
{
    const struct pattern log_256 = {"log", 256, true, 600, NULL},
                         direct_64 = {"direct", 64, false, 4000, NULL};
    simulated_or_skip(argv);
    if (argc == 3) {
        struct pattern one = {argv[1], (unsigned)atoi(argv[2]),
                              !strcmp(argv[1], "log"), 0, NULL};
        return !runs(&one);
    }
    report(runs(&log_256), "256 ranks by powers of two");
    report(runs(&direct_64), "64 ranks, each with all others");
    return reported();
}
