/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster.h"

#include <inttypes.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void must(const cluster_t *c, int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: rank %u: %s: %s\n", c->program->name, c->rank,
            drail_strerror(rc), ddsm_last_error(c->d));
    exit(1);
}

static void out_of_memory(const cluster_t *c, size_t bytes)
{
    fprintf(stderr, "%s: rank %u: no memory for %zu bytes\n", c->program->name,
            c->rank, bytes);
    exit(1);
}

ddsm_t *cluster_open(cluster_t *c, size_t bytes, size_t pieces)
{
    drail_config_t rails;
    ddsm_config_t config;
    drail_error_t error = {0};

    drail_config_init(&rails);
    for (unsigned i = 0; i < c->ask.nrails; i++)
        rails.rails[i] = c->ask.rails[i];
    if (c->ask.nrails)
        rails.nrails = c->ask.nrails;
    ddsm_config_init(&config);
    config.rails = &rails;
    if (c->ask.shared)
        config.pages = DDSM_PAGES_SHARED;
    config.bytes = bytes + pieces * config.page_bytes; /* each of whole pages */
    if (ddsm_open(c->job, &config, &c->d, &error)) {
        fprintf(stderr, "%s: rank %u: %s\n", c->program->name, c->rank,
                error.text);
        exit(1);
    }
    return c->d;
}

void *cluster_alloc(cluster_t *c, size_t bytes, const ddsm_place_t *place)
{
    void *memory = ddsm_alloc(c->d, bytes, place);
    must(c, memory ? 0 : DRAIL_ENOMEM);
    return memory;
}

void *cluster_private(const cluster_t *c, size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (!memory)
        out_of_memory(c, count * bytes);
    return memory;
}

void cluster_prefetch(const cluster_t *c, const void *start, size_t bytes,
                      bool writable)
{
    if (!c->ask.faults)
        must(c, ddsm_prefetch(c->d, start, bytes, writable));
}

double cluster_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void cluster_start(cluster_t *c)
{
    must(c, ddsm_barrier(c->d));
    ddsm_stats_reset(c->d);
    c->seconds = cluster_seconds();
}

void cluster_stop(cluster_t *c)
{
    must(c, ddsm_barrier(c->d));
    c->seconds = cluster_seconds() - c->seconds;
    ddsm_stats(c->d, &c->stats);
}

/* SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, 2014). */
uint64_t cluster_random(uint64_t seed, uint64_t index)
{
    uint64_t x = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double cluster_uniform(uint64_t seed, uint64_t index)
{
    return (double)(cluster_random(seed, index) >> 11) * 0x1p-53;
}

void cluster_pause(const cluster_t *c)
{
    static _Atomic uint64_t turn;
    if (!c->ask.delays)
        return;
    uint64_t x = cluster_random(c->ask.seed ^ (c->rank + 1), turn++);
    if (x % 16 == 0)
        usleep((useconds_t)(x / 16 % c->ask.delays) + 1);
}

bool cluster_same(const cluster_t *c, const char *what, const void *shared,
                  const void *alone, size_t count, size_t bytes)
{
    const char *a = shared, *b = alone;
    size_t i = 0;
    while (i < count && !memcmp(a + i * bytes, b + i * bytes, bytes))
        i++;
    if (i < count)
        fprintf(stderr,
                "%s: %s %zu of %zu is not what rank 0 alone has computed\n",
                c->program->name, what, i, count);
    return i == count;
}

/* Collective; rank 0 prints. */
static void report(const cluster_t *c, bool same)
{
    const ddsm_stats_t *s = &c->stats;
    int64_t sum[] = {(int64_t)s->fault_ns,     (int64_t)s->lock_ns,
                     (int64_t)s->barrier_ns,   (int64_t)s->read_faults,
                     (int64_t)s->write_faults, (int64_t)s->fetched_pages,
                     (int64_t)s->fetches,      (int64_t)s->diff_bytes,
                     (int64_t)s->pieces};
    must(c, ddsm_reduce(c->d, sum, sizeof sum / sizeof *sum, DDSM_INT64,
                        DDSM_SUM));
    if (c->rank)
        return;
    /* one thread of a rank calls the barrier, the others wait for it */
    const double percent = 1e-7 / c->ranks / c->seconds;
    const double of_threads = percent / c->ask.threads;
    printf("%s: size %zu, %u iterations, %u ranks x %u threads: %.3f s (rank 0 "
           "alone: %.3f s)\n"
           "  of their time in faults %.1f %%, locks %.1f %%, barriers %.1f "
           "%%\n"
           "  %" PRId64 " faults to read, %" PRId64 " to write; %" PRId64
           " pages came in %" PRId64 " reads, %" PRId64
           " bytes went home in %" PRId64 " pieces\n"
           "  %s the result of rank 0 alone\n",
           c->program->name, c->ask.size, c->ask.iterations, c->ranks,
           c->ask.threads, c->seconds, c->alone, (double)sum[0] * of_threads,
           (double)sum[1] * of_threads, (double)sum[2] * percent, sum[3],
           sum[4], sum[5], sum[6], sum[7], sum[8], same ? "is" : "IS NOT");
}

static int rank_main(drail_job_t *job, void *context)
{
    cluster_t c = *(const cluster_t *)context;
    c.job = job;
    c.rank = drail_job_rank(job);
    c.ranks = drail_job_size(job);
    if (!c.ask.threads) {
        const int most = omp_get_max_threads();
        const unsigned here = drail_job_local_size(job, c.rank);
        c.ask.threads = (unsigned)most > here ? (unsigned)most / here : 1;
    }
    omp_set_num_threads((int)c.ask.threads);
    const bool same = c.program->run(&c);
    report(&c, same);
    ddsm_close(c.d);
    return !same;
}

int cluster_main(const program_t *program, int argc, char **argv)
{
    cluster_t c = {.program = program};
    drail_job_config_t job;
    drail_error_t error = {0};

    int status = options_parse(program, argc, argv, &c.ask);
    if (status)
        return status < 0 ? 0 : status;
    drail_job_config_init(&job);
    job.nranks = c.ask.ranks;
    job.error = &error;
    int rc = drail_job_run(&job, rank_main, &c);
    if (rc)
        fprintf(stderr, "%s: %s\n", program->name, error.text);
    return rc ? rc == DRAIL_EINVAL ? 2 : 1 : 0;
}
