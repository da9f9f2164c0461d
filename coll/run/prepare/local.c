/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/node/pool.h"
#include "coll/run/prepare/local.h"

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

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
    q->pulls = q->schedule.shared && !q->args.traffic;
    for (unsigned i = 0; i < q->schedule.nops; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i];
        if (op->kind == DCOLL_PUT || op->kind == DCOLL_GET) {
            bool put = op->kind == DCOLL_PUT;
            n.transfers++;
            q->pulls = q->pulls && !put;
            if (op->bytes || op->sized)
                need_space(q, &n, put ? op->src.space : op->dst.space);
        }
        if (op->kind == DCOLL_PICK) {
            n.transfers++;
            n.remote = true;
        }
        bool ready = (op->kind == DCOLL_NOTIFY || op->kind == DCOLL_WAIT) &&
                     op->tag == DCOLL_READY;
        n.ready = n.ready || ready;
        q->pulls = q->pulls && !ready;
        if (ready && op->kind == DCOLL_NOTIFY)
            q->uses_recv = true;
        n.remote = n.remote || op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
                   op->kind == DCOLL_NOTIFY || op->kind == DCOLL_WAIT;
    }
    if (q->schedule.shared)
        *(q->args.in_place ? &q->uses_recv : &q->uses_send) = true;
    return n;
}

/* A WAIT with a lag passes in the first lag starts: as if these notifications
 * had come already. */
static void grant_first_credits(dcoll_request_t *q)
{
    for (unsigned i = 0; i < q->schedule.nops; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i];
        if (op->kind != DCOLL_WAIT || !op->lag)
            continue;
        int32_t *due = &partner_of(&q->partners, op->peer)->due[op->tag];
        if (!*due && !op->every) /* one for many starts: too few to matter */
            q->creditors[q->ncreditors++] = op->peer;
        *due += (int32_t)(op->every ? op->lag / op->every : op->lag);
    }
}

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

size_t request_node_bytes(const dcoll_request_t *q)
{
    return round_up(flags_bytes(q), 4096) +
           q->args.depth * q->stride[DCOLL_NODE];
}

void request_use_node(dcoll_request_t *q)
{
    q->header = (struct node_header *)q->node.base;
    q->words = (struct line *)(q->header + 1);
    q->lines = q->words + flags_count(q);
    q->shared =
        (struct shared_key *)(q->lines + flags_count(q) * q->args.depth);
    q->base[DCOLL_NODE] = q->node.base + round_up(flags_bytes(q), 4096);
}

bool request_has_node(const dcoll_request_t *q)
{
    return q->schedule.flags || q->schedule.node_bytes;
}

int request_hollow(dcoll_request_t *q, dcoll_space_t space, bool on)
{
    const struct drail_platform *p = q->team->platform;
    unsigned char *base = q->base[space];
    size_t bytes = base ? q->args.depth * q->stride[space] : 0;
    int rc = platform_hollow(p, base, bytes, on);
    return rc && on ? team_fail(q->team, rc, "no memory for a request") : rc;
}

/* One window per rank, and my own, from which READY is put. */
static size_t windows_bytes(const dcoll_request_t *q, const struct needs *needs)
{
    size_t n = q->team->shape.nranks, own = q->algorithm->placed ? n : 1;
    return needs->ready ? (n + own) * sizeof(struct window) : 0;
}

/* Takes TEMP, and behind it the windows, from the pool. */
static int take_memory(dcoll_request_t *q, const struct needs *needs)
{
    size_t temp = q->args.depth * q->stride[DCOLL_TEMP];
    size_t windows = windows_bytes(q, needs);
    if (!temp && !windows)
        return 0;
    int rc = pool_take(&q->team->pool, temp + windows, &q->memory);
    if (rc)
        return team_rail_fail(q->team, rc);
    q->base[DCOLL_TEMP] = q->memory->address;
    q->mem[DCOLL_TEMP] = q->memory->mem;
    if (windows) {
        q->windows = (struct window *)(q->memory->address + temp);
        q->mine = q->windows + q->team->shape.nranks;
    }
    return request_hollow(q, DCOLL_TEMP, true);
}

static struct footprint footprint_of(const dcoll_request_t *q,
                                     const struct needs *needs)
{
    bool registered = needs->node && needs->remote;
    const size_t n = q->team->shape.nranks;
    const size_t sizes = q->begin ? n + 1 : 0, counts = q->counts ? n * n : 0;
    return (struct footprint){
        .bytes =
            sizeof *q + sizes * sizeof *q->begin + counts * sizeof *q->counts +
            q->schedule.capacity * sizeof *q->schedule.ops +
            needs->transfers * sizeof *q->reqs +
            q->partners.count *
                (sizeof *q->partners.at + DCOLL_TAGS * sizeof *q->creditors) +
            (flags_count(q) + 1) * sizeof *q->seen +
            q->args.depth * q->stride[DCOLL_TEMP] + windows_bytes(q, needs) +
            (request_has_node(q) ? request_node_bytes(q) : 0),
        .files = registered ? drail_nrails(q->team->rail) : 0,
    };
}

static int create_node(dcoll_request_t *q, struct segment_locator *locator)
{
    size_t bytes = request_node_bytes(q);
    int rc = segment_create(&q->node, bytes, locator);
    return rc ? team_fail(q->team, rc, "no shared memory of %zu bytes: %s",
                          bytes, drail_strerror(rc))
              : 0;
}

int prepare_local(dcoll_request_t *q, struct needs *needs,
                  struct segment_locator *locator)
{
    dcoll_team_t *team = q->team;
    unsigned n = team->shape.nranks;
    dcoll_generate(q->algorithm, &team->shape, &q->args, team->rank,
                   &q->schedule);
    if (q->schedule.error)
        return team_fail(team, q->schedule.error, "no memory for a schedule");
    if (q->schedule.temp_bytes > PTRDIFF_MAX / q->args.depth ||
        q->schedule.node_bytes > PTRDIFF_MAX / q->args.depth)
        return team_fail(team, DRAIL_ENOMEM, "no memory for so many bytes");
    *needs = find_needs(q);
    q->stride[DCOLL_TEMP] = round_up(q->schedule.temp_bytes, CACHE_LINE);
    q->stride[DCOLL_NODE] = round_up(q->schedule.node_bytes, CACHE_LINE);
    int found = partners_find(&q->partners, &q->schedule, n, team->rank);
    q->reqs = calloc(needs->transfers + 1, sizeof *q->reqs);
    q->creditors = calloc((size_t)DCOLL_TAGS * q->partners.count + 1,
                          sizeof *q->creditors);
    q->seen = calloc(flags_count(q) + 1, sizeof *q->seen);
    int rc = q->args.traffic ? dealing_open(&q->dealing, n) : 0;
    if (rc || found || !q->reqs || !q->seen || !q->creditors)
        return team_fail(team, DRAIL_ENOMEM, "no memory for a request");
    grant_first_credits(q);
    q->footprint = footprint_of(q, needs);
    rc = take_memory(q, needs);
    if (!rc && request_has_node(q) && team->rank == team->first)
        rc = create_node(q, locator);
    return rc;
}
