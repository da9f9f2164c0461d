/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys teams: the ranks of a job and their nodes. */
#include <stdio.h>
#include <stdlib.h>

#include "coll/run/create.h"
#include "coll/run/leftovers.h"
#include "coll/run/meet.h"
#include "coll/run/members.h"

/* Shorter transfers are copied: a handshake costs more than a copy. */
#define ZERO_COPY_BYTES 16384
#define KEEP_BYTES      (64u << 20)

void dcoll_config_init(dcoll_config_t *cfg)
{
    *cfg = (dcoll_config_t){
        .depth = 2,
        .zero_copy_bytes = ZERO_COPY_BYTES,
        .keep_bytes = KEEP_BYTES,
    };
}

/* Ranks of a node follow each other: where a job's do not, each run of them is
 * a node of ours. */
static int shape_make(dcoll_team_t *team)
{
    const drail_job_t *job = team->job;
    unsigned size = drail_job_size(job), nodes = 0;
    team->node_begin = calloc(size + 1, sizeof *team->node_begin);
    if (!team->node_begin)
        return DRAIL_ENOMEM;
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
    return err->code = DRAIL_EINVAL;
}

/* Without a good table, rules decide. */
static void load_table(dcoll_team_t *team)
{
    const char *path = team->cfg.table;
    char why[256], rails[DCOLL_TABLE_RAILS] = "";
    team->cfg.table = NULL; /* the caller's text */
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

int dcoll_team_create(drail_job_t *job, drail_t *rail,
                      const dcoll_config_t *cfg, dcoll_team_t **out,
                      drail_error_t *err)
{
    drail_error_t unwanted;
    dcoll_config_t defaults;
    err = err ? err : &unwanted;
    if (!job || !rail || !out)
        return DRAIL_EINVAL;
    if (!cfg) {
        dcoll_config_init(&defaults);
        cfg = &defaults;
    }
    int rc = config_check(cfg, err);
    if (rc)
        return rc;
    dcoll_team_t *team = calloc(1, sizeof *team);
    if (!team)
        return DRAIL_ENOMEM;
    team->job = job;
    team->platform = drail_job_platform(job);
    team->rail = rail;
    team->cfg = *cfg;
    team->ledgers = SEGMENT_NONE;
    TAILQ_INIT(&team->requests);
    TAILQ_INIT(&team->active);
    team->pool.rail = rail;
    team->timeout_ms = drail_config_of(rail)->timeout_ms;
    rc = shape_make(team);
    if (rc)
        goto out;
    team->connected = calloc(team->shape.nranks, sizeof *team->connected);
    team->members = calloc(team->shape.nranks, sizeof *team->members);
    rc = DRAIL_ENOMEM;
    team->met = calloc(team->shape.nranks, sizeof *team->met);
    if (!team->connected || !team->members || !team->met)
        goto out;
    load_table(team);
    rc = members_exchange(team);
    if (!rc)
        rc = meet_connect(team);
out:
    if (rc) {
        err->code = rc;
        snprintf(err->text, sizeof err->text, "dcoll_team_create: %.*s",
                 (int)sizeof err->text / 2,
                 team->error.code ? team->error.text : drail_strerror(rc));
        dcoll_team_free(team);
        return rc;
    }
    *out = team;
    return 0;
}

void dcoll_team_free(dcoll_team_t *team)
{
    if (!team)
        return;
    while (!TAILQ_EMPTY(&team->requests))
        request_destroy(TAILQ_FIRST(&team->requests));
    pool_free(&team->pool);
    ledger_look_no_more(team);
    if (team->look.mem)
        drail_mem_release(team->look.mem); /* or drail_close does */
    leftovers_release(team, team->ledger_mem, &team->ledgers);
    leftovers_free(team);
    free(team->node_begin);
    free(team->connected);
    free(team->met);
    free(team->members);
    dcoll_table_free(&team->table);
    free(team);
}
