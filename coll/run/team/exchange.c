/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "coll/run/team/exchange.h"
#include "coll/run/node/cma.h"
#include "coll/run/team/contention.h"
#include "coll/run/ports_left.h"

/* What a rank has found out about itself. */
struct finding {
    bool contended; /* contention_found() */
    bool may_read;  /* cma_permitted() */
};

int team_gather_new(dcoll_team_t *team, struct team_gather *gather)
{
    drail_job_t *job = team->job;
    *gather = (struct team_gather){0};
    int rc = drail_gathered_new(job, sizeof(struct member), &team->members);
    if (!rc)
        rc = drail_gathered_new(job, sizeof(drail_key_t), &team->ledger_keys);
    if (!rc)
        rc = drail_gathered_new(job, sizeof(struct cores), &gather->cores);
    return rc ? rc
              : drail_gathered_new(job, sizeof(struct finding),
                                   &gather->findings);
}

void team_gather_free(struct team_gather *gather)
{
    drail_gathered_free(gather->cores);
    drail_gathered_free(gather->findings);
}

/* Each rank has read its own file. If their tables differ, all ranks ignore
 * them. */
static void compare_tables(dcoll_team_t *team)
{
    for (unsigned r = 1; r < team->shape.nranks; r++) {
        if (team_member(team, r)->table == team_member(team, 0)->table)
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

static unsigned find_far_rail(const drail_t *rail)
{
    unsigned r = 0;
    while (r + 1 < drail_nrails(rail) && drail_rail_at(rail, r)->host_only)
        r++;
    return r;
}

static void find_wires(const drail_t *rail, struct member *mine)
{
    bool wires = true;
    mine->wire_MBps = INFINITY;
    for (unsigned r = 0; r < drail_nrails(rail); r++) {
        const drail_rail_info_t *info = drail_rail_at(rail, r);
        mine->host_only |= info->host_only;
        if (info->host_only)
            continue;
        wires &= info->is_polled;
        mine->wires++;
        mine->wire_MBps = fmin(mine->wire_MBps, info->nominal_MBps);
    }
    if (!wires)
        mine->wires = 0;
}

/* By the fewest and slowest wires of all ranks, so that all predict the same.
 * Nodes of one host do not need wires if a rail stays within the host. */
static void prepare_prediction(dcoll_team_t *team)
{
    unsigned wires = UINT_MAX;
    double rate = INFINITY;
    team->learns = true;
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        const struct member *m = team_member(team, r);
        team->learns &= m->learns;
        unsigned its = m->host_only && !team->several_hosts ? 0 : m->wires;
        if (its < wires)
            wires = its;
        rate = fmin(rate, m->wire_MBps);
    }
    team->learns &= team->shape.nnodes == 1 || wires > 0;
    team->prediction.declared = predict_model(wires, rate);
    team->prediction.model = team->prediction.declared;
}

static int exchange_members(dcoll_team_t *team)
{
    /* Late notifications of a freed team on these rails must not count for this
     * one. So the first id is the time in µs: preparing a request takes longer
     * than a µs, and no other team has had these ids. */
    struct member mine = {
        .pid = getpid(),
        .self = (uintptr_t)&team->word,
        .first_id =
            (uint32_t)(platform_now(team->platform) / 1000u % REQUEST_IDS),
        .keep_bytes = team->cfg.keep_bytes,
        .table = dcoll_table_checksum(&team->table),
        .learns = team->cfg.learn && !team->table.count,
        .watches = ports_left_matter(team),
    };
    void *copy = NULL;
    size_t bytes = team->locals * sizeof(struct ledger);
    int rc = 0;
    if (getrandom(&team->word, sizeof team->word, 0) != sizeof team->word)
        rc = DRAIL_EJOB;
    mine.word = team->word;
    find_wires(team->rail, &mine);
    team->far_rail = find_far_rail(team->rail);
    if (!rc && team->rank == team->first)
        rc = segment_create(&team->ledgers, bytes, &mine.segment);
    /* also after a failure: the others wait for this rank */
    int failed = rc;
    rc = drail_gathered_exchange(team->members, &mine, team->timeout_ms);
    if (!rc)
        rc = failed;
    if (!rc) {
        team->next_id = team_member(team, 0)->first_id;
        compare_tables(team);
    }
    team->ports_left.watched = !rc;
    for (unsigned r = 0; !rc && r < team->shape.nranks; r++)
        team->ports_left.watched &= team_member(team, r)->watches;
    for (unsigned r = 0; !rc && r < team->shape.nranks; r++)
        if (team_member(team, r)->keep_bytes < team->cfg.keep_bytes)
            team->cfg.keep_bytes = team_member(team, r)->keep_bytes;
    if (!rc && team->rank != team->first)
        rc = segment_attach(&team->ledgers, bytes,
                            &team_member(team, team->first)->segment);
    if (!rc)
        team->ledger =
            (struct ledger *)team->ledgers.base + (team->rank - team->first);
    if (!rc)
        rc = drail_mem_alloc(team->rail, sizeof *team->remote_ledger.copy,
                             DRAIL_ACCESS_LOCAL | DRAIL_ACCESS_KEEP, &copy,
                             &team->remote_ledger.mem);
    team->remote_ledger.copy = copy;
    return rc;
}

/* Exchanges the keys of the ledgers, with which ranks of other nodes read them.
 * After it, all ranks have attached to their node's ledgers. */
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
    int error =
        drail_gathered_exchange(team->ledger_keys, &mine, team->timeout_ms);
    for (unsigned r = 0; !rc && !error && r < team->shape.nranks; r++) {
        const drail_key_t *key = drail_gathered_of(team->ledger_keys, r);
        if (!key->bytes)
            rc = DRAIL_EJOB;
    }
    return rc ? rc : error;
}

/* Exchanges the cores on which ranks may run. A simulated rank has a core of
 * its own, and each node is a host. */
static int exchange_cores(dcoll_team_t *team, drail_gathered_t *cores)
{
    struct cores mine;
    if (platform_is_simulated(team->platform)) {
        team->several_hosts = team->shape.nnodes > 1;
        return 0;
    }
    cores_find(&mine);
    int rc = drail_gathered_exchange(cores, &mine, team->timeout_ms);
    if (rc)
        return rc;
    const struct cores *all = drail_gathered_of(cores, 0);
    team->oversubscribed =
        cores_oversubscribed(all, team->shape.nranks, team->rank);
    team->ncore_sharers =
        cores_sharers(all, team->shape.nranks, team->rank, team->core_sharers);
    team->several_hosts =
        cores_several_hosts(all, team->shape.nranks, team->rank);
    unsigned n = team->shape.nranks;
    for (unsigned r = 0; n <= PREDICTED_RANKS && r < n; r++)
        team->prediction.crowded |= cores_oversubscribed(all, n, r);
    return 0;
}

/* Do all rails map the memory of ranks of the node? A rail with a link model
 * does not count: it would take time for data that no link carries. */
static bool all_rails_map(const drail_t *rail)
{
    for (unsigned r = 0; r < drail_nrails(rail); r++)
        if (strcmp(drail_rail_at(rail, r)->fabric, "shm"))
            return false;
    return true;
}

/* Of ranks of several hosts; of others it knows which cores they use. */
static bool is_contended(const dcoll_team_t *team)
{
    return team->several_hosts && !platform_is_simulated(team->platform) &&
           !team->oversubscribed && contention_found(team->platform);
}

/* Exchanges what each rank has found out. Ranks read each other's memory only
 * if all ranks of the node may. */
static int exchange_findings(dcoll_team_t *team, drail_gathered_t *all)
{
    struct finding mine = {.contended = is_contended(team),
                           .may_read = cma_permitted(team)};
    int rc = drail_gathered_exchange(all, &mine, team->timeout_ms);
    team->rails_map = all_rails_map(team->rail);
    team->readable = !rc;
    team->oversubscribed |= mine.contended;
    for (unsigned r = 0; !rc && r < team->shape.nranks; r++) {
        const struct finding *its = drail_gathered_of(all, r);
        team->contended |= its->contended;
        if (r - team->first < team->locals)
            team->readable &= its->may_read;
    }
    if (team->shape.nnodes == 1) /* simulated ranks have a simulated clock */
        team->learns &=
            team->readable && !platform_is_simulated(team->platform);
    return rc;
}

int team_exchange(dcoll_team_t *team, const struct team_gather *gather)
{
    int rc = exchange_members(team);
    rc = exchange_ledgers(team, rc);
    if (!rc)
        rc = exchange_cores(team, gather->cores);
    if (!rc)
        prepare_prediction(team);
    return rc ? rc : exchange_findings(team, gather->findings);
}
