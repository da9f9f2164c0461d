/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/prepare/exchange.h"
#include "coll/run/node/prefault.h"

/* Different numbers of ports of ranks are almost always seen. */
static uint64_t ports_of(const dcoll_request_t *q)
{
    uint64_t sum = 0;
    for (unsigned r = 0; q->port_begin && r < q->team->shape.nranks; r++)
        sum = sum * 31 + q->port_begin[r + 1];
    return sum;
}

static uint64_t mode_of(const dcoll_request_t *q)
{
    return (uint64_t)q->args.groups << 32 | q->team->shape.ports << 16 |
           q->args.depth << 2 | q->args.paced << 1 | q->args.zero_copy;
}

int request_gather_new(drail_job_t *job, struct request_gather *gather)
{
    *gather = (struct request_gather){0};
    int rc =
        drail_gathered_new(job, sizeof(struct proposal), &gather->proposals);
    return rc ? rc
              : drail_gathered_new(job, sizeof(struct target),
                                   &gather->targets);
}

void request_gather_free(struct request_gather *gather)
{
    drail_gathered_free(gather->proposals);
    drail_gathered_free(gather->targets);
}

static const struct proposal *proposal_of(const drail_gathered_t *all,
                                          unsigned rank)
{
    return drail_gathered_of(all, rank);
}

static int compare_calls(dcoll_request_t *q, const drail_gathered_t *all)
{
    dcoll_team_t *team = q->team;
    const struct proposal *mine = proposal_of(all, team->rank);
    char ours[128], theirs[128];
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        const struct proposal *o = proposal_of(all, r);
        if (call_same(&o->call, &q->call) && o->id == q->id) {
            if (o->mode == mine->mode && o->ports == mine->ports)
                continue;
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u and rank %u have different settings or "
                             "tables: zero copy, ports, groups, depth, pacing",
                             team->rank, r);
        }
        call_text(&q->call, ours, sizeof ours);
        call_text(&o->call, theirs, sizeof theirs);
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u calls %s, but rank %u calls %s", team->rank,
                         ours, r, theirs);
    }
    return 0;
}

/* The error that a rank has reported. */
static int error_of(dcoll_team_t *team, unsigned rank, int64_t told)
{
    int error = (int)told;
    return !error || rank == team->rank
               ? error
               : team_fail(team, error, "rank %u: %s", rank,
                           drail_strerror(error));
}

static int first_error(dcoll_request_t *q, const drail_gathered_t *all)
{
    int rc = 0;
    for (unsigned r = 0; r < q->team->shape.nranks && !rc; r++)
        rc = error_of(q->team, r, proposal_of(all, r)->error);
    return rc;
}

static int attach(dcoll_request_t *q, const drail_gathered_t *all,
                  const struct needs *needs)
{
    dcoll_team_t *team = q->team;
    int rc = 0;
    if (!request_has_node(q))
        return 0;
    if (team->rank != team->first)
        rc = segment_attach(&q->node, request_node_bytes(q),
                            &proposal_of(all, team->first)->node);
    if (rc)
        return team_fail(team, rc, "can't attach to the node's memory");
    request_use_node(q);
    prefault_node(q);
    rc = request_hollow(q, DCOLL_NODE, true);
    if (rc || !needs->node || !needs->remote)
        return rc;
    rc = drail_mem_register(team->rail, q->base[DCOLL_NODE],
                            q->args.depth * q->stride[DCOLL_NODE],
                            DRAIL_ACCESS_REMOTE_WRITE, &q->mem[DCOLL_NODE]);
    return rc ? team_rail_fail(team, rc) : 0;
}

/* The request keeps the targets of its partners. Each target has its rank's
 * error, so that no rank connects to one that will not answer. */
static int exchange_targets(dcoll_request_t *q, int failed,
                            drail_gathered_t **all)
{
    dcoll_team_t *team = q->team;
    struct target mine = {
        .temp_stride = q->stride[DCOLL_TEMP],
        .node_stride = q->stride[DCOLL_NODE],
        .windows = q->args.depth * q->stride[DCOLL_TEMP],
        .error = failed,
    };
    if (q->memory)
        drail_mem_key(q->memory->mem, &mine.memory);
    if (q->mem[DCOLL_NODE])
        drail_mem_key(q->mem[DCOLL_NODE], &mine.node);
    int rc = drail_gathered_exchange(*all, &mine, team->timeout_ms);
    if (rc)
        return team_fail(team, rc, "exchanging keys: %s", drail_strerror(rc));
    partners_aim(&q->partners, all);
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

static struct footprint larger_footprint(struct footprint a, struct footprint b)
{
    return (struct footprint){
        .bytes = a.bytes > b.bytes ? a.bytes : b.bytes,
        .files = a.files > b.files ? a.files : b.files,
    };
}

int prepare_exchange(dcoll_request_t *q, int failed, const struct needs *needs,
                     const struct segment_locator *locator,
                     struct request_gather *gather, bool *known)
{
    dcoll_team_t *team = q->team;
    bool second = false;
    struct proposal mine = {
        .call = q->call,
        .id = q->id,
        .mode = mode_of(q),
        .ports = ports_of(q),
        .remote = needs->remote || request_has_node(q),
        .error = failed,
        .footprint = q->footprint,
        .node = *locator,
    };
    int rc =
        drail_gathered_exchange(gather->proposals, &mine, team->timeout_ms);
    if (rc)
        return team_fail(team, rc, "preparing a collective: %s",
                         drail_strerror(rc));
    rc = compare_calls(q, gather->proposals);
    if (rc)
        return rc;
    rc = first_error(q, gather->proposals);
    *known = rc != 0;
    if (rc)
        return rc;
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        const struct proposal *o = proposal_of(gather->proposals, r);
        second = second || o->remote;
        q->footprint = larger_footprint(q->footprint, o->footprint);
    }
    if (!second)
        return 0;
    rc = attach(q, gather->proposals, needs);
    rc = exchange_targets(q, rc, &gather->targets);
    if (!rc)
        rc = connect_peers(q);
    segment_close_file(&q->node);
    return rc;
}
