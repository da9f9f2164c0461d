/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks in virtual time: actors of one process, which this one forks. The world
 * they live in is the library of the simulated rails (providers/sim/world.h),
 * which is loaded when it is needed.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "providers/sim/world.h"

#define LIBRARY "dapl_rail/libdapl_sim.so"
#define NS      1e-9 /* in seconds */

#define PREFIX    "sim:"
#define SUFFIX    ".platform"
#define NAME_MOST 64 /* of a cluster's name */

/* What ranks have gathered, while any of them uses it, or is still to come. */
struct shared {
    unsigned users; /* ranks, and the round that is under way */
    void *common;   /* made of it */
    max_align_t all[];
};

/* Where ranks all-gather. */
struct gathering {
    struct shared *shared; /* who comes first has made it */
    unsigned round, come;
    bool no_memory; /* it could not: all ranks are told, none waits */
};

struct ended {       /* shared with the caller */
    unsigned failed; /* ranks */
    unsigned rank;   /* the first of them */
    int status;
};

struct cluster {
    struct drail_platform platform; /* first: hooks get its address */
    const struct sim_api *sim;
    const drail_job_config_t *cfg;
    drail_rank_main_t rank_main;
    void *arg;
    const drail_job_t *process; /* the job of the one process */
    struct sim_platform described;
    drail_cluster_t known; /* ... as callers know it */
    struct nodes nodes;
    struct gathering gathering;
    struct ended *ended;
};

struct place {
    struct cluster *cluster;
    unsigned rank;
};

/* ------------------------------------------------------------------- hooks */

static const struct sim_api *sim_of(const struct drail_platform *p)
{
    return ((const struct cluster *)p)->sim;
}

static uint64_t now(const struct drail_platform *p)
{
    return sim_of(p)->now();
}

static void sleep_until(const struct drail_platform *p, uint64_t ns)
{
    sim_of(p)->sleep_until(ns);
}

static void wait(const struct drail_platform *p, _Atomic uint32_t *flag,
                 uint32_t value, uint64_t until_ns, bool shared)
{
    (void)shared;
    if (atomic_load(flag) == value)
        sim_of(p)->flag_wait(until_ns);
}

/* Ranks of a node see it at different addresses. */
static void wake(const struct drail_platform *p, _Atomic uint32_t *flag,
                 bool shared)
{
    (void)flag, (void)shared;
    sim_of(p)->flag_wake();
}

static void set(const struct drail_platform *p, _Atomic uint32_t *flag,
                uint32_t value)
{
    sim_of(p)->flag_set((uint32_t *)flag, value);
}

static void settle(const struct drail_platform *p)
{
    sim_of(p)->flags_settle();
}

static void between_polls(const struct drail_platform *p)
{
    sim_of(p)->pause();
}

static int threads_start(const struct drail_platform *p, unsigned n,
                         platform_body_t body, void *arg,
                         struct platform_threads **threads)
{
    return sim_of(p)->threads_start(n, body, arg, (void *)threads)
               ? DRAIL_ENOMEM
               : 0;
}

static void threads_join(const struct drail_platform *p,
                         struct platform_threads *threads)
{
    sim_of(p)->threads_join((void *)threads);
}

/* The caller is one of them. */
struct others {
    platform_body_t body;
    void *arg;
};

static void other_run(void *arg, unsigned index)
{
    const struct others *others = arg;
    others->body(others->arg, index + 1);
}

static int threads_run(const struct drail_platform *p, unsigned n,
                       platform_body_t body, void *arg)
{
    struct others others = {body, arg};
    struct sim_threads *threads;
    if (sim_of(p)->threads_start(n - 1, other_run, &others, &threads))
        return DRAIL_ENOTSUP;
    body(arg, 0);
    sim_of(p)->threads_join(threads);
    return 0;
}

static void copy(const struct drail_platform *p, void *to, const void *from,
                 size_t bytes)
{
    sim_of(p)->copy(to, from, bytes);
    sim_of(p)->move(to, from, bytes);
}

/* Each operand that is elsewhere comes as a copy would. */
static void combine(const struct drail_platform *p, void *result,
                    const void *left, const void *right, size_t bytes)
{
    if (left != result)
        sim_of(p)->copy(result, left, bytes);
    if (right != result)
        sim_of(p)->copy(result, right, bytes);
}

static int hollow(const struct drail_platform *p, void *address, size_t bytes,
                  bool on)
{
    return sim_of(p)->hollow(address, bytes, on) ? DRAIL_ENOMEM : 0;
}

static void compute(const struct drail_platform *p, uint64_t ns)
{
    sim_of(p)->busy((double)ns * NS);
}

static const char *const rails[] = {"sim0", "sim1", "sim2", "sim3",
                                    "sim4", "sim5", "sim6", "sim7"};

static const struct drail_platform hooks = {
    .now_ns = now,
    .cpu_ns = now,
    .sleep_until = sleep_until,
    .wait = wait,
    .wake = wake,
    .set = set,
    .settle = settle,
    .yield = between_polls,
    .relax = between_polls,
    .threads_start = threads_start,
    .threads_join = threads_join,
    .threads_run = threads_run,
    .copy = copy,
    .combine = combine,
    .compute = compute,
    .rails = rails,
};

/* ------------------------------------------------------------------- ranks */

/* Whatever each of them brings: what is not touched costs nothing. */
static size_t shared_bytes(const struct cluster *c)
{
    return sizeof(struct shared) + (size_t)c->cfg->nranks * JOB_GATHER_BYTES;
}

static struct shared *shared_of(void *all)
{
    return (void *)((char *)all - offsetof(struct shared, all));
}

static void **common(void *all)
{
    return &shared_of(all)->common;
}

static void drop(const struct cluster *c, struct shared *s)
{
    if (!s || --s->users)
        return;
    free(s->common);
    pages_free(s, shared_bytes(c));
}

static void release(void *context, void *all)
{
    const struct place *place = context;
    drop(place->cluster, shared_of(all));
}

/* The memory of the round that is under way, or NULL. */
static struct shared *shared_now(struct cluster *c)
{
    struct gathering *g = &c->gathering;
    if (!g->shared && !g->no_memory) {
        g->shared = pages_new(shared_bytes(c));
        g->no_memory = !g->shared;
        if (g->shared)
            g->shared->users = 1;
    }
    return g->shared;
}

static int gather_shared(void *context, const void *mine, size_t bytes,
                         void *all, int timeout_ms)
{
    const struct place *place = context;
    struct cluster *c = place->cluster;
    struct gathering *g = &c->gathering;
    unsigned round = g->round;
    uint64_t until = c->sim->now() + (uint64_t)timeout_ms * MS;
    struct shared *s = shared_now(c);
    if (!s)
        return DRAIL_ENOMEM;
    memcpy((char *)s->all + place->rank * bytes, mine, bytes);
    s->users++;
    if (++g->come == c->cfg->nranks) {
        *g = (struct gathering){.round = round + 1};
        drop(c, s);
        c->sim->wake(g);
    }
    while (g->round == round) {
        if (c->sim->now() >= until) {
            drop(c, s);
            return DRAIL_ETIMEOUT;
        }
        c->sim->wait(g, until);
    }
    *(void **)all = s->all;
    return 0;
}

static int gather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms)
{
    const struct place *place = context;
    void *shared;
    int rc = gather_shared(context, mine, bytes, &shared, timeout_ms);
    if (rc)
        return rc;
    memcpy(all, shared, bytes * place->cluster->cfg->nranks);
    release(context, shared);
    return 0;
}

static const struct job_share sharing = {gather_shared, release, common};

static int rank_run(struct cluster *c, const drail_job_join_t *how)
{
    drail_job_t *job;
    drail_error_t err;
    if (drail_job_join(how, &job, &err)) {
        fprintf(stderr, "rank %u: %s\n", how->rank, err.text);
        return 1;
    }
    job->stop_all = c->process->stop_all;
    job->share = &sharing;
    int status = c->rank_main(job, c->arg) & 0xff;
    drail_job_leave(job);
    return status;
}

static void rank_live(void *arg, unsigned rank)
{
    struct cluster *c = arg;
    struct place place = {c, rank};
    drail_job_join_t how = {.rank = rank,
                            .size = c->cfg->nranks,
                            .nodes = c->nodes.node,
                            .allgather = gather,
                            .context = &place,
                            .platform = &c->platform};
    int status = rank_run(c, &how);
    if (status && !c->ended->failed++) {
        c->ended->rank = rank;
        c->ended->status = status;
    }
}

/* The process of the ranks: its exit status. */
static int world_run(drail_job_t *process, void *arg)
{
    struct cluster *c = arg;
    c->process = process;
    job_reserve_files(c->cfg->nranks);
    int stuck =
        c->sim->run(&c->described, c->cfg->nranks, c->nodes.node, rank_live, c);
    drop(c, c->gathering.shared); /* of a round that some did not come to */
    if (stuck) {
        fprintf(stderr, "all ranks that have not ended wait for ever\n");
        return 1;
    }
    return c->ended->failed ? c->ended->status : 0;
}

/* ----------------------------------------------------------------- the job */

static int library_load(const struct sim_api **sim, drail_error_t *err)
{
    Dl_info self;
    char path[PATH_MAX], real[PATH_MAX];
    if (!dladdr(&hooks, &self) || !realpath(self.dli_fname, real))
        return error_set(err, DRAIL_ENOTSUP, "where is libdapl_rail?");
    *strrchr(real, '/') = '\0';
    if (snprintf(path, sizeof path, "%s/" LIBRARY, real) >= (int)sizeof path)
        return error_set(err, DRAIL_ENOTSUP, "%s: too long a path", real);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *sim = library ? dlsym(library, "sim_api") : NULL;
    return *sim ? 0
                : error_set(err, DRAIL_ENOTSUP,
                            "simulated rails need SimGrid (Debian: "
                            "libsimgrid3.32, and to build them "
                            "libsimgrid-dev): %s",
                            dlerror());
}

static int platform_read(const struct sim_api *sim, const char *name,
                         unsigned ranks, struct sim_platform *p,
                         drail_error_t *err)
{
    const size_t most = sizeof rails / sizeof *rails;
    char why[SIM_WHY_MAX];
    if (sim->platform_read(name, ranks, p, why))
        return error_set(err, DRAIL_EINVAL, "%s", why);
    if (p->rails > most)
        return error_set(err, DRAIL_EINVAL,
                         "%s: %u rails; allowed are 1 to %zu", name, p->rails,
                         most);
    return 0;
}

/* FNV-1a; the reader begins with zeros, so they are between its figures. */
static uint64_t checksum(const struct sim_platform *p)
{
    const unsigned char *at = (const unsigned char *)p;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof *p; i++)
        hash = (hash ^ at[i]) * 0x100000001b3;
    return hash;
}

/* One, whether it is looked for by its name or given as a path. */
static const char *name_of(const char *platform, int *length)
{
    const char *slash = strrchr(platform, '/');
    const char *name = slash ? slash + 1 : platform;
    if (!slash && !strncmp(name, PREFIX, strlen(PREFIX)))
        name += strlen(PREFIX);
    size_t bytes = strlen(name), suffix = strlen(SUFFIX);
    if (slash && bytes > suffix && !strcmp(name + bytes - suffix, SUFFIX))
        bytes -= suffix;
    *length = (int)bytes;
    return name;
}

static drail_cluster_t cluster_known(const char *platform,
                                     const struct sim_platform *p)
{
    drail_cluster_t known = {.nodes = p->cluster.nodes, .ppn = p->node.ranks};
    int length;
    const char *name = name_of(platform, &length);
    snprintf(known.name, sizeof known.name, "sim:%.*s@%016llx",
             length < NAME_MOST ? length : NAME_MOST, name,
             (unsigned long long)checksum(p));
    return known;
}

static int cluster_make(struct cluster *c)
{
    const drail_job_config_t *cfg = c->cfg;
    c->platform.nrails = c->described.rails;
    c->platform.hollow = cfg->hollow ? hollow : NULL;
    c->known = cluster_known(cfg->simulate, &c->described);
    c->platform.cluster = c->known.name;
    c->ended = mmap(NULL, sizeof *c->ended, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->ended == MAP_FAILED ||
        nodes_make(&c->nodes, cfg->nranks, cfg->nodes,
                   cfg->ppn ? cfg->ppn : c->described.node.ranks))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    return 0;
}

/* Is there a node for each that the caller has asked for, and are there cores
 * for all of its ranks? */
static int cluster_check(const struct cluster *c)
{
    const drail_job_config_t *cfg = c->cfg;
    unsigned nodes = c->described.cluster.nodes, most = 0;
    unsigned cores = c->described.node.sockets * c->described.node.cores;
    for (unsigned i = 0; i < c->nodes.count; i++)
        most = c->nodes.ranks[i] > most ? c->nodes.ranks[i] : most;
    if (c->nodes.count > nodes)
        return error_set(cfg->error, DRAIL_EINVAL,
                         "%s: %u ranks need %u nodes; allowed: up to %u nodes, "
                         "of up to %u ranks",
                         cfg->simulate, cfg->nranks, c->nodes.count, nodes,
                         cores);
    if (most > cores)
        return error_set(cfg->error, DRAIL_EINVAL,
                         "%s: %u ranks on a node; allowed: up to %u, as many "
                         "as cores",
                         cfg->simulate, most, cores);
    return 0;
}

static void cluster_free(struct cluster *c)
{
    nodes_free(&c->nodes);
    if (c->ended != MAP_FAILED)
        munmap(c->ended, sizeof *c->ended);
}

int simulate_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                   void *arg)
{
    struct cluster c = {.platform = hooks,
                        .cfg = cfg,
                        .rank_main = rank_main,
                        .arg = arg,
                        .ended = MAP_FAILED};
    drail_job_config_t process = *cfg;
    process.nranks = 1;
    process.ppn = 0;
    process.nodes = NULL;
    int rc = library_load(&c.sim, cfg->error);
    if (!rc)
        rc = platform_read(c.sim, cfg->simulate, cfg->nranks, &c.described,
                           cfg->error);
    if (!rc)
        rc = cluster_make(&c);
    if (!rc)
        rc = cluster_check(&c);
    if (!rc)
        rc = fork_ranks(&process, world_run, &c);
    if (rc == DRAIL_EJOB && c.ended->failed)
        error_set(cfg->error, rc, "rank %u exited with status %d",
                  c.ended->rank, c.ended->status);
    cluster_free(&c);
    return rc;
}

int drail_rails_simulated(const char *platform, char (*names)[DRAIL_NAME_MAX],
                          unsigned max, unsigned *count,
                          drail_cluster_t *cluster, drail_error_t *err)
{
    const struct sim_api *sim;
    struct sim_platform described;
    if (!platform || !count || !cluster || (max && !names))
        return DRAIL_EINVAL;
    int rc = library_load(&sim, err);
    if (!rc)
        rc = platform_read(sim, platform, 0, &described, err);
    if (rc)
        return rc;
    *count = described.rails;
    *cluster = cluster_known(platform, &described);
    for (unsigned i = 0; i < described.rails && i < max; i++)
        strcpy(names[i], rails[i]);
    return 0;
}
