/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request: schedule, memory and connections of a collective, prepared once.
 * All ranks prepare it together: they compare what they call, attach to the
 * node's memory, and exchange the keys of what peers put into.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What each rank says first. */
struct opening {
    struct call call;
    uint64_t id;
    uint64_t mode;   /* what else must be equal, from tables and settings */
    uint64_t remote; /* puts or notifications in my schedule */
    int64_t error;   /* of preparing my part */
    struct segment_card node;
};

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* ------------------------------------------------- what a schedule needs */

struct needs {
    unsigned transfers;
    bool temp, node; /* sources or targets of puts */
    bool ready;      /* RECV keys are sent or received */
    bool remote;
};

static void need_space(dcoll_request_t *q, struct needs *n, dcoll_space_t space)
{
    n->temp = n->temp || space == DCOLL_TEMP;
    n->node = n->node || space == DCOLL_NODE;
    q->uses_send = q->uses_send || space == DCOLL_SEND;
    q->uses_recv = q->uses_recv || space == DCOLL_RECV;
}

static struct needs find_needs(dcoll_request_t *q)
{
    struct needs n = {.temp = q->schedule.temp_bytes > 0,
                      .node = q->schedule.node_bytes > 0};
    for (unsigned i = 0; i < q->schedule.nops; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i];
        if (op->kind == DCOLL_PUT || op->kind == DCOLL_GET) {
            bool put = op->kind == DCOLL_PUT;
            n.transfers++;
            if (op->bytes)
                need_space(q, &n, put ? op->src.space : op->dst.space);
        }
        bool ready = (op->kind == DCOLL_NOTIFY || op->kind == DCOLL_WAIT) &&
                     op->tag == DCOLL_READY;
        n.ready = n.ready || ready;
        if (ready && op->kind == DCOLL_NOTIFY)
            q->uses_recv = true;
        n.remote = n.remote || op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
                   op->kind == DCOLL_NOTIFY || op->kind == DCOLL_WAIT;
    }
    if (q->schedule.shared)
        *(q->args.in_place ? &q->uses_recv : &q->uses_send) = true;
    return n;
}

/* Notifications with a lag are due that many starts later: so many are as if
 * they had come. */
static void precredit(dcoll_request_t *q)
{
    for (unsigned i = 0; i < q->schedule.nops; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i];
        if (op->kind != DCOLL_WAIT || !op->lag)
            continue;
        int32_t *due = &q->due[op->tag * q->team->shape.nranks + op->peer];
        if (!*due)
            q->creditors[q->ncreditors++] = op->peer;
        *due += (int32_t)op->lag;
    }
}

/* ---------------------------------------------------------------- memory */

static size_t flags_count(const dcoll_request_t *q)
{
    return (size_t)q->team->locals * q->schedule.flags;
}

/* The header, a word for each flag, a line for each flag and depth, keys. */
static size_t flags_bytes(const dcoll_request_t *q)
{
    return sizeof(struct node_header) +
           flags_count(q) * (1 + q->args.depth) * sizeof(struct line) +
           q->team->locals * sizeof(struct shared_key);
}

static size_t segment_bytes(const dcoll_request_t *q)
{
    return round_up(flags_bytes(q), 4096) +
           q->args.depth * q->stride[DCOLL_NODE];
}

static void use_segment(dcoll_request_t *q)
{
    q->header = (struct node_header *)q->node.base;
    q->words = (struct line *)(q->header + 1);
    q->lines = q->words + flags_count(q);
    q->shared =
        (struct shared_key *)(q->lines + flags_count(q) * q->args.depth);
    q->base[DCOLL_NODE] = q->node.base + round_up(flags_bytes(q), 4096);
}

static bool has_segment(const dcoll_request_t *q)
{
    return q->schedule.flags || q->schedule.node_bytes;
}

static int alloc_temp(dcoll_request_t *q)
{
    void *temp;
    if (!q->schedule.temp_bytes)
        return 0;
    int rc =
        drail_mem_alloc(q->team->rail, q->args.depth * q->stride[DCOLL_TEMP],
                        DRAIL_ACCESS_REMOTE_WRITE, &temp, &q->mem[DCOLL_TEMP]);
    if (rc)
        return team_rail_fail(q->team, rc);
    q->base[DCOLL_TEMP] = temp;
    return 0;
}

/* One key per rank, and behind them our own, from which READY is put. */
static int alloc_keys(dcoll_request_t *q)
{
    void *keys;
    unsigned n = q->team->shape.nranks;
    int rc = drail_mem_alloc(q->team->rail, (n + 1) * sizeof(drail_key_t),
                             DRAIL_ACCESS_REMOTE_WRITE, &keys, &q->keys_mem);
    if (rc)
        return team_rail_fail(q->team, rc);
    q->keys = keys;
    q->my_key = q->keys + n;
    return 0;
}

/* What this rank can do alone. */
static int prepare(dcoll_request_t *q, struct needs *needs,
                   struct segment_card *card)
{
    dcoll_team_t *team = q->team;
    unsigned n = team->shape.nranks;
    q->algorithm->generate(&team->shape, &q->args, team->rank, &q->schedule);
    if (q->schedule.error)
        return team_fail(team, q->schedule.error, "no memory for a schedule");
    *needs = find_needs(q);
    q->stride[DCOLL_TEMP] = round_up(q->schedule.temp_bytes, CACHE_LINE);
    q->stride[DCOLL_NODE] = round_up(q->schedule.node_bytes, CACHE_LINE);
    q->due = calloc((size_t)DCOLL_TAGS * n, sizeof *q->due);
    q->reqs = calloc(needs->transfers + 1, sizeof *q->reqs);
    q->targets = calloc(n, sizeof *q->targets);
    q->creditors = calloc((size_t)DCOLL_TAGS * n, sizeof *q->creditors);
    q->seen = calloc(flags_count(q) + 1, sizeof *q->seen);
    if (!q->due || !q->reqs || !q->targets || !q->seen || !q->creditors)
        return team_fail(team, DRAIL_ENOMEM, "no memory for a request");
    precredit(q);
    int rc = alloc_temp(q);
    if (!rc && needs->ready)
        rc = alloc_keys(q);
    if (!rc && has_segment(q) && team->rank == team->first)
        rc = segment_create(&q->node, segment_bytes(q), card);
    return rc;
}

/* -------------------------------------------------------------- together */

static uint64_t mode_of(const dcoll_request_t *q)
{
    return (uint64_t)q->args.groups << 32 | q->args.depth << 1 |
           q->args.zero_copy;
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
                             "tables: zero copy, groups, depth",
                             team->rank, r);
        }
        call_text(&q->call, ours, sizeof ours);
        call_text(&all[r].call, theirs, sizeof theirs);
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u calls %s, but rank %u calls %s", team->rank,
                         ours, r, theirs);
    }
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
    if (!has_segment(q))
        return 0;
    if (team->rank != team->first)
        rc = segment_attach(&q->node, segment_bytes(q), &all[team->first].node);
    if (rc)
        return team_fail(team, rc, "can't attach to the node's memory");
    use_segment(q);
    if (!needs->node || !needs->remote)
        return 0;
    rc = drail_mem_register(team->rail, q->base[DCOLL_NODE],
                            q->args.depth * q->stride[DCOLL_NODE],
                            DRAIL_ACCESS_REMOTE_WRITE, &q->mem[DCOLL_NODE]);
    return rc ? team_rail_fail(team, rc) : 0;
}

static int exchange_targets(dcoll_request_t *q, int failed)
{
    dcoll_team_t *team = q->team;
    struct target mine = {.temp_stride = q->stride[DCOLL_TEMP],
                          .node_stride = q->stride[DCOLL_NODE]};
    if (q->mem[DCOLL_TEMP])
        drail_mem_key(q->mem[DCOLL_TEMP], &mine.temp);
    if (q->mem[DCOLL_NODE])
        drail_mem_key(q->mem[DCOLL_NODE], &mine.node);
    if (q->keys_mem)
        drail_mem_key(q->keys_mem, &mine.keys);
    int rc = drail_job_allgather(team->job, &mine, sizeof mine, q->targets,
                                 team->timeout_ms);
    if (rc)
        return team_fail(team, rc, "exchanging keys: %s", drail_strerror(rc));
    return failed;
}

static int connect_peers(dcoll_request_t *q)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < q->schedule.nops; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i];
        if (op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
            op->kind == DCOLL_NOTIFY || op->kind == DCOLL_WAIT)
            rc = team_connect(q->team, op->peer);
    }
    return rc;
}

static int together(dcoll_request_t *q, int failed, const struct needs *needs,
                    const struct segment_card *card)
{
    dcoll_team_t *team = q->team;
    bool second = false;
    struct opening mine = {
        .call = q->call,
        .id = q->id,
        .mode = mode_of(q),
        .remote = needs->remote || has_segment(q),
        .error = failed,
        .node = *card,
    };
    struct opening *all = calloc(team->shape.nranks, sizeof *all);
    if (!all)
        return team_fail(team, DRAIL_ENOMEM, "no memory for a request");
    int rc = drail_job_allgather(team->job, &mine, sizeof mine, all,
                                 team->timeout_ms);
    if (rc) {
        team_fail(team, rc, "preparing a collective: %s", drail_strerror(rc));
        for (unsigned r = 0; r < team->locals; r++)
            if (ledger_check(team, team->first + r))
                break;
        goto out;
    }
    rc = compare_calls(q, all);
    if (rc)
        goto out;
    for (unsigned r = 0; r < team->shape.nranks; r++)
        second = second || all[r].remote;
    if (!second)
        goto out;
    rc = attach(q, all, needs);
    rc = exchange_targets(q, rc);
    if (!rc)
        rc = connect_peers(q);
out:
    free(all);
    return rc;
}

/* Others may wait for these before they come to prepare the next one. */
static int finish_started(dcoll_team_t *team)
{
    int rc = 0;
    for (dcoll_request_t *q = team->requests; q && !rc; q = q->next)
        if (q->active)
            rc = request_finish(q, team->timeout_ms);
    return rc;
}

int request_create(dcoll_team_t *team, const dcoll_args_t *args,
                   const dcoll_algorithm_t *algorithm, enum owner owner,
                   dcoll_request_t **out)
{
    struct needs needs = {0};
    struct segment_card card = {0};
    dcoll_request_t *q = calloc(1, sizeof *q);
    int rc = q ? finish_started(team)
               : team_fail(team, DRAIL_ENOMEM, "no memory for a request");
    if (rc) {
        free(q);
        return ledger_settle(team, rc);
    }
    q->team = team;
    q->owner = owner;
    q->args = *args;
    q->algorithm = algorithm;
    q->node = SEGMENT_NONE;
    q->call = call_of(args, algorithm, true);
    q->id = team->next_id;
    team->next_id = (q->id + 1) % REQUEST_IDS;
    ledger_enter(team, &q->call);
    q->next = team->requests;
    team->requests = q;
    rc = ledger_meet(team);
    if (!rc) {
        rc = prepare(q, &needs, &card);
        rc = together(q, rc, &needs, &card);
    }
    if (rc) {
        ledger_settle(team, rc);
        request_destroy(q);
        return rc;
    }
    q->call = call_of(args, algorithm, false);
    *out = q;
    return 0;
}

void request_destroy(dcoll_request_t *q)
{
    dcoll_request_t **link = &q->team->requests;
    while (*link && *link != q)
        link = &(*link)->next;
    if (*link)
        *link = q->next;
    for (unsigned i = q->completed; i < q->transfers; i++)
        drail_forget(q->team->rail, &q->reqs[i]);
    request_unbind(q);
    if (q->mem[DCOLL_TEMP])
        drail_mem_release(q->mem[DCOLL_TEMP]);
    if (q->mem[DCOLL_NODE])
        drail_mem_release(q->mem[DCOLL_NODE]);
    if (q->keys_mem)
        drail_mem_release(q->keys_mem);
    segment_close(&q->node);
    dcoll_schedule_free(&q->schedule);
    free(q->due);
    free(q->reqs);
    free(q->targets);
    free(q->seen);
    free(q->creditors);
    free(q);
}

/* ----------------------------------------------------------- users' memory */

static size_t send_bytes(const dcoll_request_t *q)
{
    const dcoll_args_t *a = &q->args;
    bool blocks =
        a->collective == DCOLL_ALLTOALL || a->collective == DCOLL_SCATTER;
    return a->bytes * (blocks ? q->team->shape.nranks : 1);
}

static size_t recv_bytes(const dcoll_request_t *q)
{
    const dcoll_args_t *a = &q->args;
    bool blocks = a->collective == DCOLL_ALLTOALL ||
                  a->collective == DCOLL_ALLGATHER ||
                  a->collective == DCOLL_GATHER;
    return a->bytes * (blocks ? q->team->shape.nranks : 1);
}

/* Peers read the key after a flag of the start that follows. */
static void share(dcoll_request_t *q)
{
    const drail_mem_t *mem = q->mem[q->args.in_place ? DCOLL_RECV : DCOLL_SEND];
    if (q->schedule.shared && mem)
        drail_mem_key(mem, &q->shared[q->team->rank - q->team->first].key);
}

int request_bind(dcoll_request_t *q, const void *send, void *recv)
{
    drail_t *rail = q->team->rail;
    unsigned reading = q->schedule.shared ? DRAIL_ACCESS_REMOTE_READ : 0;
    int rc = 0;
    q->base[DCOLL_SEND] = (unsigned char *)send;
    q->base[DCOLL_RECV] = recv;
    if (q->uses_send && send && send_bytes(q))
        rc = drail_mem_register(rail, (void *)send, send_bytes(q), reading,
                                &q->mem[DCOLL_SEND]);
    if (!rc && q->uses_recv && recv && recv_bytes(q))
        rc = drail_mem_register(rail, recv, recv_bytes(q),
                                DRAIL_ACCESS_REMOTE_WRITE | reading,
                                &q->mem[DCOLL_RECV]);
    if (rc)
        return team_rail_fail(q->team, rc);
    if (q->my_key && q->mem[DCOLL_RECV])
        drail_mem_key(q->mem[DCOLL_RECV], q->my_key);
    share(q);
    return 0;
}

void request_unbind(dcoll_request_t *q)
{
    for (dcoll_space_t s = DCOLL_SEND; s <= DCOLL_RECV; s++) {
        if (q->mem[s])
            drail_mem_release(q->mem[s]);
        q->mem[s] = NULL;
    }
}
