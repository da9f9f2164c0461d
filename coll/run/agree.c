/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks prepare of a request together: they compare what they call, attach
 * to the node's memory, and exchange the keys of what peers put into.
 */
#include "coll/run/agree.h"

static uint64_t mode_of(const dcoll_request_t *q)
{
    return (uint64_t)q->args.groups << 32 | q->team->shape.ports << 16 |
           q->args.depth << 2 | q->args.paced << 1 | q->args.zero_copy;
}

static int compare_calls(dcoll_request_t *q, const struct opening *all)
{
    dcoll_team_t *team = q->team;
    char ours[128], theirs[128];
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        if (call_same(&all[r].call, &q->call) && all[r].id == q->id) {
            if (all[r].mode == mode_of(q))
                continue;
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u and rank %u have different settings or "
                             "tables: zero copy, ports, groups, depth, pacing",
                             team->rank, r);
        }
        call_text(&q->call, ours, sizeof ours);
        call_text(&all[r].call, theirs, sizeof theirs);
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u calls %s, but rank %u calls %s", team->rank,
                         ours, r, theirs);
    }
    return 0;
}

static int first_error(dcoll_request_t *q, const struct opening *all)
{
    dcoll_team_t *team = q->team;
    for (unsigned r = 0; r < team->shape.nranks; r++)
        if (all[r].error)
            return r == team->rank
                       ? (int)all[r].error
                       : team_fail(team, (int)all[r].error, "rank %u: %s", r,
                                   drail_strerror((int)all[r].error));
    return 0;
}

static int attach(dcoll_request_t *q, const struct opening *all,
                  const struct needs *needs)
{
    dcoll_team_t *team = q->team;
    int rc = 0;
    if (!request_has_node(q))
        return 0;
    if (team->rank != team->first)
        rc = segment_attach(&q->node, request_node_bytes(q),
                            &all[team->first].node);
    if (rc)
        return team_fail(team, rc, "can't attach to the node's memory");
    request_use_node(q);
    rc = request_hollow(q, DCOLL_NODE, true);
    if (rc || !needs->node || !needs->remote)
        return rc;
    rc = drail_mem_register(team->rail, q->base[DCOLL_NODE],
                            q->args.depth * q->stride[DCOLL_NODE],
                            DRAIL_ACCESS_REMOTE_WRITE, &q->mem[DCOLL_NODE]);
    return rc ? team_rail_fail(team, rc) : 0;
}

/* Those of partners are kept. */
static int exchange_targets(dcoll_request_t *q, int failed, struct target *all)
{
    dcoll_team_t *team = q->team;
    struct target mine = {
        .temp_stride = q->stride[DCOLL_TEMP],
        .node_stride = q->stride[DCOLL_NODE],
        .keys = q->args.depth * q->stride[DCOLL_TEMP],
    };
    if (q->memory)
        drail_mem_key(q->memory->mem, &mine.memory);
    if (q->mem[DCOLL_NODE])
        drail_mem_key(q->mem[DCOLL_NODE], &mine.node);
    int rc = drail_job_allgather(team->job, &mine, sizeof mine, all,
                                 team->timeout_ms);
    if (rc)
        return team_fail(team, rc, "exchanging keys: %s", drail_strerror(rc));
    for (unsigned i = 0; i < q->partners.count; i++)
        q->partners.at[i].target = all[q->partners.at[i].rank];
    return failed;
}

static int connect_peers(dcoll_request_t *q)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < q->schedule.nops; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i];
        if (op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
            op->kind == DCOLL_NOTIFY || op->kind == DCOLL_WAIT ||
            (op->kind == DCOLL_PICK && op->peer != q->team->rank &&
             op->peer - q->team->first < q->team->locals))
            rc = team_connect(q->team, op->peer);
    }
    return rc;
}

static struct weight heavier(struct weight a, struct weight b)
{
    return (struct weight){
        .bytes = a.bytes > b.bytes ? a.bytes : b.bytes,
        .files = a.files > b.files ? a.files : b.files,
    };
}

int request_agree(dcoll_request_t *q, int failed, const struct needs *needs,
                  const struct segment_card *card, union agree_room *room,
                  bool *known)
{
    dcoll_team_t *team = q->team;
    struct opening *all = &room->opening;
    bool second = false;
    struct opening mine = {
        .call = q->call,
        .id = q->id,
        .mode = mode_of(q),
        .remote = needs->remote || request_has_node(q),
        .error = failed,
        .weight = q->weight,
        .node = *card,
    };
    int rc = drail_job_allgather(team->job, &mine, sizeof mine, all,
                                 team->timeout_ms);
    if (rc)
        return team_fail(team, rc, "preparing a collective: %s",
                         drail_strerror(rc));
    rc = compare_calls(q, all);
    if (rc)
        return rc;
    rc = first_error(q, all);
    *known = rc != 0;
    if (rc)
        return rc;
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        second = second || all[r].remote;
        q->weight = heavier(q->weight, all[r].weight);
    }
    if (!second)
        return 0;
    rc = attach(q, all, needs);
    rc = exchange_targets(q, rc, &room->target);
    if (!rc)
        rc = connect_peers(q);
    segment_close_file(&q->node);
    return rc;
}
