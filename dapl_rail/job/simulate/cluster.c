/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/simulate/cluster.h"
#include "dapl_rail/platform/fnv.h"

#define LIBRARY   "dapl_rail/libdapl_sim.so"
#define PREFIX    "sim:"
#define SUFFIX    ".platform"
#define NAME_MOST 64 /* characters of a cluster's name */

/* From the folder of libdapl_rail. */
static int library_load(const struct sim_api **sim, drail_error_t *err)
{
    Dl_info self;
    char path[PATH_MAX], real[PATH_MAX];
    if (!dladdr(&simulate_hooks, &self) || !realpath(self.dli_fname, real))
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
    char why[SIM_WHY_MAX];
    if (sim->platform_read(name, ranks, p, why))
        return error_set(err, DRAIL_EINVAL, "%s", why);
    if (p->rails > SIMULATED_RAILS)
        return error_set(err, DRAIL_EINVAL, "%s: %u rails; allowed are 1 to %u",
                         name, p->rails, SIMULATED_RAILS);
    return 0;
}

/* The platform's name, and its length: "NAME", "sim:NAME" or "…/NAME.platform".
 */
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
             /* the reader zeroes *p, so its padding is equal, too */
             (unsigned long long)fnv_add(FNV_EMPTY, p, sizeof *p));
    return known;
}

/* Are there enough nodes, and cores on each of them for its ranks? */
static int check_ranks(const struct cluster *c, const drail_job_config_t *cfg)
{
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

int cluster_make(struct cluster *c, const drail_job_config_t *cfg)
{
    *c = (struct cluster){.platform = simulate_hooks};
    int rc = library_load(&c->sim, cfg->error);
    if (!rc)
        rc = platform_read(c->sim, cfg->simulate, cfg->nranks, &c->described,
                           cfg->error);
    if (rc)
        return rc;
    c->platform.nrails = c->described.rails;
    c->platform.hollow = cfg->hollow ? simulate_hollow : NULL;
    c->known = cluster_known(cfg->simulate, &c->described);
    c->platform.cluster = c->known.name;
    if (nodes_make(&c->nodes, cfg->nranks, cfg->nodes,
                   cfg->ppn ? cfg->ppn : c->described.node.ranks))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    return check_ranks(c, cfg);
}

void cluster_free(struct cluster *c)
{
    nodes_free(&c->nodes);
}

int drail_rails_simulated(const char *platform, char (*names)[DRAIL_NAME_MAX],
                          unsigned max, unsigned *count,
                          drail_cluster_t *cluster, drail_error_t *err)
{
    const struct sim_api *sim;
    struct sim_platform described;
    if (!platform || !count || !cluster || (max && !names))
        return error_set(err, DRAIL_EINVAL,
                         "drail_rails_simulated: NULL argument");
    int rc = library_load(&sim, err);
    if (!rc)
        rc = platform_read(sim, platform, 0, &described, err);
    if (rc)
        return rc;
    *count = described.rails;
    *cluster = cluster_known(platform, &described);
    for (unsigned i = 0; i < described.rails && i < max; i++)
        strcpy(names[i], simulate_hooks.rails[i]);
    return 0;
}
