/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a new team tell each other of themselves. */
#include <string.h>

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "coll/run/team/exchange.h"
#include "coll/run/node/cma.h"

int team_gather_new(dcoll_team_t *team, struct team_gather *room)
{
    drail_job_t *job = team->job;
    *room = (struct team_gather){0};
    int rc = drail_gathered_new(job, sizeof(struct member), &team->members);
    if (!rc)
        rc = drail_gathered_new(job, sizeof(drail_key_t), &team->ledger_keys);
    if (!rc)
        rc = drail_gathered_new(job, sizeof(struct cores), &room->cores);
    return rc ? rc : drail_gathered_new(job, sizeof(bool), &room->readable);
}

void team_gather_free(struct team_gather *room)
{
    drail_gathered_free(room->cores);
    drail_gathered_free(room->readable);
}

/* Each rank has read a file of its own, and judged by its own machine. All see
 * the same difference. */
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

static int exchange_members(dcoll_team_t *team)
{
    /* No other team on these rails has had requests with these numbers: late
     * notifications of one that is gone must not count for us. It takes more
     * than a microsecond to prepare a request. */
    struct member mine = {
        .pid = getpid(),
        .self = (uintptr_t)&team->word,
        .first_id =
            (uint32_t)(platform_now(team->platform) / 1000u % REQUEST_IDS),
        .keep_bytes = team->cfg.keep_bytes,
        .table = dcoll_table_checksum(&team->table),
    };
    void *copy = NULL;
    size_t bytes = team->locals * sizeof(struct ledger);
    int rc = 0;
    if (getrandom(&team->word, sizeof team->word, 0) != sizeof team->word)
        rc = DRAIL_EJOB;
    mine.word = team->word;
    if (!rc && team->rank == team->first)
        rc = segment_create(&team->ledgers, bytes, &mine.segment);
    /* also after a failure: the others wait for us */
    int failed = rc;
    rc = drail_gathered_exchange(team->members, &mine, team->timeout_ms);
    if (!rc)
        rc = failed;
    if (!rc) {
        team->next_id = team_member(team, 0)->first_id;
        compare_tables(team);
    }
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
    int error =
        drail_gathered_exchange(team->ledger_keys, &mine, team->timeout_ms);
    for (unsigned r = 0; !rc && !error && r < team->shape.nranks; r++) {
        const drail_key_t *key = drail_gathered_of(team->ledger_keys, r);
        if (!key->bytes)
            rc = DRAIL_EJOB;
    }
    return rc ? rc : error;
}

/* The cores of all ranks: what we wait for may need ours. Simulated ones have
 * each one of their own, whatever this machine has, and nodes are hosts. */
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
    return 0;
}

/* A link model would take its time for what no link carries. */
static bool rails_map(const drail_t *rail)
{
    for (unsigned r = 0; r < drail_nrails(rail); r++)
        if (strcmp(drail_rail_at(rail, r)->fabric, "shm"))
            return false;
    return true;
}

/* Who may not read is told nothing that he would have to. */
static int exchange_cma(dcoll_team_t *team, drail_gathered_t *all)
{
    bool mine = cma_permitted(team);
    int rc = drail_gathered_exchange(all, &mine, team->timeout_ms);
    team->rails_map = rails_map(team->rail);
    team->readable = !rc;
    for (unsigned r = team->first; r < team->first + team->locals; r++)
        team->readable =
            team->readable && *(const bool *)drail_gathered_of(all, r);
    return rc;
}

int team_exchange(dcoll_team_t *team, const struct team_gather *room)
{
    int rc = exchange_members(team);
    rc = exchange_ledgers(team, rc);
    if (!rc)
        rc = exchange_cores(team, room->cores);
    return rc ? rc : exchange_cma(team, room->readable);
}
