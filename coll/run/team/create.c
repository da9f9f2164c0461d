/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees teams. */
#include <stdio.h>
#include <stdlib.h>

#include "coll/run/prepare/create.h"
#include "coll/run/node/deferred_release.h"
#include "coll/run/prepare/entry_barrier.h"
#include "coll/run/team/create.h"
#include "coll/run/team/exchange.h"
#include "coll/run/team/agree.h"
#include "coll/run/team/wire_times.h"

/* Shorter blocks are copied: the READY handshake costs more than a copy. */
#define ZERO_COPY_BYTES 16384
#define KEEP_BYTES      (64u << 20)

void dcoll_config_init(dcoll_config_t *cfg)
{
    *cfg = (dcoll_config_t){
        .depth = 2,
        .zero_copy_bytes = ZERO_COPY_BYTES,
        .keep_bytes = KEEP_BYTES,
        .learn = true,
    };
}

/* Ranks of a node of the team are consecutive: if those of a node of the job
 * are not, each run of consecutive ranks is a node of the team. */
static void shape_make(dcoll_team_t *team)
{
    const drail_job_t *job = team->job;
    unsigned size = drail_job_size(job), nodes = 0;
    for (unsigned r = 0; r < size; r++)
        if (r == 0 || drail_job_node(job, r) != drail_job_node(job, r - 1))
            team->node_begin[nodes++] = r;
    team->node_begin[nodes] = size;
    team->shape = (dcoll_shape_t){
        .nranks = size,
        .nnodes = nodes,
        .node_begin = team->node_begin,
        .ports = team->cfg.ports ? team->cfg.ports : drail_nrails(team->rail),
    };
    team->rank = drail_job_rank(job);
    team->node = dcoll_shape_node(&team->shape, team->rank);
    team->first = team->node_begin[team->node];
    team->locals = dcoll_shape_locals(&team->shape, team->rank);
}

/* Ranks that have different numbers of ports. */
static int ports_make(dcoll_team_t *team)
{
    const unsigned *begin = team->cfg.port_begin, n = team->shape.nranks;
    team->cfg.port_begin = NULL; /* it belongs to the caller */
    if (!begin)
        return 0;
    for (unsigned r = 0; r < n; r++)
        if (begin[r + 1] <= begin[r] ||
            begin[r + 1] - begin[r] > team->shape.ports)
            return team_fail(team, DRAIL_EINVAL,
                             "port_begin: rank %u has %d ports: allowed are 1 "
                             "to %u",
                             r, (int)(begin[r + 1] - begin[r]),
                             team->shape.ports);
    team->port_begin = calloc(n + 1u, sizeof *team->port_begin);
    if (!team->port_begin)
        return team_fail(team, DRAIL_ENOMEM, "out of memory");
    for (unsigned r = 0; r < n; r++)
        team->port_begin[r + 1] = begin[r + 1] - begin[0];
    return 0;
}

static int config_check(const dcoll_config_t *cfg, drail_error_t *err)
{
    if (cfg->depth != 1 && cfg->depth != 2)
        snprintf(err->text, sizeof err->text, "depth %u: allowed are 1 and 2",
                 cfg->depth);
    else if (cfg->ports > DRAIL_MAX_RAILS)
        snprintf(err->text, sizeof err->text, "%u ports: allowed are 0 to %d",
                 cfg->ports, DRAIL_MAX_RAILS);
    else
        return 0;
    return DRAIL_EINVAL;
}

static int refuse(drail_error_t *err, int code, const char *why)
{
    err->code = code;
    snprintf(err->text, sizeof err->text, "dcoll_team_create: %.*s",
             (int)sizeof err->text / 2, why);
    return code;
}

/* Loads the table; if it is not usable, the built-in rules apply. */
static void load_table(dcoll_team_t *team)
{
    const char *path = team->cfg.table;
    char why[256], rails[DCOLL_TABLE_RAILS] = "";
    team->cfg.table = NULL; /* the text belongs to the caller */
    if (team->platform->cluster)
        dcoll_table_add_rail(rails, team->platform->cluster);
    for (unsigned r = 0; r < drail_nrails(team->rail); r++)
        dcoll_table_add_rail(rails, drail_rail_at(team->rail, r)->name);
    if (!path)
        return;
    if (!dcoll_table_load(path, rails, &team->table, why, sizeof why)) {
        dcoll_table_keep(&team->table, &team->shape);
        return;
    }
    dcoll_table_free(&team->table);
    if (team->rank == 0)
        fprintf(stderr, "dcoll: the table %s is ignored: %s\n", path, why);
}

/* Allocates what the team needs before it talks to other ranks.
 * dcoll_team_free() also after an error. */
static int team_alloc(drail_job_t *job, drail_t *rail,
                      const dcoll_config_t *cfg, struct shrunk *shrunk,
                      dcoll_team_t **out)
{
    unsigned size = drail_job_size(job);
    dcoll_team_t *team = calloc(1, sizeof *team);
    if (!team)
        return DRAIL_ENOMEM;
    team->job = job;
    team->shrunk = shrunk;
    if (shrunk)
        shrunk->team = team;
    team->platform = drail_job_platform(job);
    team->rail = rail;
    team->cfg = *cfg;
    team->ledgers = SEGMENT_NONE;
    TAILQ_INIT(&team->requests);
    TAILQ_INIT(&team->active);
    team->pool.rail = rail;
    team->timeout_ms = drail_config_of(rail)->timeout_ms;
    team->node_begin = calloc(size + 1, sizeof *team->node_begin);
    team->begin = calloc(size + 1, sizeof *team->begin);
    team->connected = calloc(size, sizeof *team->connected);
    team->entered = calloc(size, sizeof *team->entered);
    team->ports_left.rails = calloc(size, sizeof *team->ports_left.rails);
    team->ports_left.begin = calloc(size + 1, sizeof *team->ports_left.begin);
    team->core_sharers = calloc(size, sizeof *team->core_sharers);
    *out = team;
    return team->node_begin && team->begin && team->connected &&
                   team->entered && team->core_sharers &&
                   team->ports_left.rails && team->ports_left.begin
               ? 0
               : DRAIL_ENOMEM;
}

/* Exchanges data with all ranks and connects. After an error, the ledger tells
 * ranks that have succeeded already. */
static int team_join(dcoll_team_t *team, const struct team_gather *gather)
{
    load_table(team);
    int rc = team_exchange(team, gather);
    if (!rc)
        rc = wire_times_measure(team, entry_barrier_connect(team));
    if (!rc)
        return 0;
    if (!team->error.code)
        team_fail(team, rc, "%s", drail_strerror(rc));
    if (team->ledger)
        ledger_break(team, rc);
    return rc;
}

int team_create(drail_job_t *job, drail_t *rail, const dcoll_config_t *cfg,
                struct shrunk *shrunk, dcoll_team_t **out, drail_error_t *err)
{
    drail_error_t why = {0};
    dcoll_team_t *team = NULL;
    struct team_gather gather = {0};
    int rc = config_check(cfg, &why);
    if (!rc)
        rc = team_alloc(job, rail, cfg, shrunk, &team);
    if (!rc) {
        shape_make(team);
        rc = ports_make(team);
        why = team->error;
    }
    if (!rc)
        rc = team_gather_new(team, &gather);
    rc = team_agree(job, rc, drail_config_of(rail)->timeout_ms, &why);
    if (!rc) {
        rc = team_join(team, &gather);
        why = team->error;
    }
    team_gather_free(&gather);
    if (rc) {
        if (team)
            team->shrunk = NULL;
        if (shrunk)
            shrunk->team = NULL;
        dcoll_team_free(team);
        return refuse(err, rc, *why.text ? why.text : drail_strerror(rc));
    }
    *out = team;
    return 0;
}

int dcoll_team_create(drail_job_t *job, drail_t *rail,
                      const dcoll_config_t *cfg, dcoll_team_t **out,
                      drail_error_t *err)
{
    drail_error_t unwanted;
    dcoll_config_t defaults;
    err = err ? err : &unwanted;
    if (!job || !rail || !out)
        return refuse(err, DRAIL_EINVAL, "an argument is NULL");
    dcoll_config_init(&defaults);
    return team_create(job, rail, cfg ? cfg : &defaults, NULL, out, err);
}

void dcoll_team_free(dcoll_team_t *team)
{
    if (!team)
        return;
    team->hurries = team->broken;
    while (!TAILQ_EMPTY(&team->requests))
        request_destroy(TAILQ_FIRST(&team->requests));
    for (drail_mem_t *mem; (mem = pool_shrink(&team->pool));)
        release_or_defer(team, mem, NULL);
    ledger_close(team);
    release_or_defer(team, team->remote_ledger.mem, NULL);
    release_or_defer(team, team->ledger_mem, &team->ledgers);
    if (team->shrunk) {
        release_or_defer(team, team->shrunk->mem, NULL);
        team->shrunk->mem = NULL;
    }
    deferred_release_end(team);
    free(team->node_begin);
    free(team->port_begin);
    free(team->begin);
    free(team->connected);
    free(team->entered);
    free(team->ports_left.rails);
    free(team->ports_left.begin);
    free(team->core_sharers);
    drail_gathered_free(team->members);
    drail_gathered_free(team->ledger_keys);
    dcoll_table_free(&team->table);
    shrunk_free(team->shrunk);
    free(team);
}
