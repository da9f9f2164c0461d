/* SPDX-License-Identifier: BSD-3-Clause */
/* A team: the ranks of a job, their nodes, and what they know of each other. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/run/cores.h"
#include "coll/run/create.h"
#include "coll/run/leftovers.h"
#include "coll/run/meet.h"

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

int team_fail(dcoll_team_t *team, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(team->error.text, sizeof team->error.text, format, args);
    va_end(args);
    team->error.code = code;
    return code;
}

int team_rail_fail(dcoll_team_t *team, int code)
{
    return team_fail(team, code, "%s", drail_last_error(team->rail));
}

int team_connect(dcoll_team_t *team, unsigned peer)
{
    if (team->connected[peer])
        return 0;
    int rc = drail_connect(team->rail, peer);
    if (rc)
        return team_rail_fail(team, rc);
    team->connected[peer] = true;
    return 0;
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

/* The cores of all ranks: what we wait for may need ours. */
static int exchange_cores(dcoll_team_t *team)
{
    struct cores mine;
    struct cores *all = calloc(team->shape.nranks, sizeof *all);
    if (!all)
        return DRAIL_ENOMEM;
    cores_find(&mine);
    int rc = drail_job_allgather(team->job, &mine, sizeof mine, all,
                                 team->timeout_ms);
    if (!rc)
        team->crowded = cores_crowded(all, team->shape.nranks, team->rank);
    free(all);
    return rc;
}

/* Each rank has read a file of its own, and judged by its own machine. All see
 * the same difference. */
static void compare_tables(dcoll_team_t *team)
{
    for (unsigned r = 1; r < team->shape.nranks; r++) {
        if (team->members[r].table == team->members[0].table)
            continue;
        dcoll_table_free(&team->table);
        if (team->rank == 0)
            fprintf(stderr,
                    "dcoll: tables are ignored: rank %u would choose by other "
                    "rows than rank 0\n",
                    r);
        return;
    }
}

static int exchange_members(dcoll_team_t *team)
{
    /* No other team on these rails has had requests with these numbers: late
     * notifications of one that is gone must not count for us. It takes more
     * than a microsecond to prepare a request. */
    struct member mine = {
        .pid = getpid(),
        .first_id =
            (uint32_t)(platform_now(team->platform) / 1000u % REQUEST_IDS),
        .keep_bytes = team->cfg.keep_bytes,
        .table = dcoll_table_checksum(&team->table),
    };
    void *copy = NULL;
    size_t bytes = team->locals * sizeof(struct ledger);
    int rc = 0;
    if (team->rank == team->first)
        rc = segment_create(&team->ledgers, bytes, &mine.segment);
    /* also after a failure: the others wait for us */
    int failed = rc;
    rc = drail_job_allgather(team->job, &mine, sizeof mine, team->members,
                             team->timeout_ms);
    if (!rc)
        rc = failed;
    team->next_id = team->members[0].first_id;
    if (!rc)
        compare_tables(team);
    for (unsigned r = 0; !rc && r < team->shape.nranks; r++)
        if (team->members[r].keep_bytes < team->cfg.keep_bytes)
            team->cfg.keep_bytes = team->members[r].keep_bytes;
    if (!rc && team->rank != team->first)
        rc = segment_attach(&team->ledgers, bytes,
                            &team->members[team->first].segment);
    if (!rc)
        rc = drail_mem_alloc(team->rail, sizeof *team->look.copy,
                             DRAIL_ACCESS_LOCAL | DRAIL_ACCESS_KEEP, &copy,
                             &team->look.mem);
    team->look.copy = copy;
    return rc;
}

/* The keys of the ledgers, by which ranks of other nodes read them. Also sees
 * to it that all have attached before the first rank goes on. */
static int exchange_ledgers(dcoll_team_t *team, int failed)
{
    drail_key_t mine = {0};
    int rc = failed;
    if (!rc)
        rc = drail_mem_register(team->rail, team->ledgers.base,
                                team->ledgers.bytes, DRAIL_ACCESS_REMOTE_READ,
                                &team->ledger_mem);
    if (!rc)
        drail_mem_key(team->ledger_mem, &mine);
    drail_key_t *keys = calloc(team->shape.nranks, sizeof *keys);
    if (!keys)
        return DRAIL_ENOMEM;
    int error = drail_job_allgather(team->job, &mine, sizeof mine, keys,
                                    team->timeout_ms);
    for (unsigned r = 0; !rc && !error && r < team->shape.nranks; r++) {
        unsigned node = dcoll_shape_node(&team->shape, r);
        if (!keys[r].bytes)
            rc = DRAIL_EJOB;
        keys[r].address +=
            (r - team->shape.node_begin[node]) * sizeof(struct ledger);
        keys[r].bytes = sizeof(struct ledger);
        team->members[r].ledger = keys[r];
    }
    free(keys);
    return rc ? rc : error;
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
    rc = exchange_members(team);
    rc = exchange_ledgers(team, rc);
    if (!rc)
        rc = exchange_cores(team);
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

const dcoll_shape_t *dcoll_team_shape(const dcoll_team_t *team)
{
    return &team->shape;
}

const dcoll_config_t *dcoll_team_config(const dcoll_team_t *team)
{
    return &team->cfg;
}

const char *dcoll_last_error(const dcoll_team_t *team)
{
    return team->error.text;
}
