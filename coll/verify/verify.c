/* SPDX-License-Identifier: BSD-3-Clause */
/* The verifier: plays all ranks, each until it blocks. See verify.h for why one
 * interleaving is enough. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

static size_t cells_of(const struct verifier *v, size_t bytes)
{
    return (bytes + v->grain - 1) / v->grain;
}

static unsigned depth_of(const struct verifier *v)
{
    return v->program->args.depth;
}

/* The next cells; before there are any, only counts them. */
static struct cell *claim(struct verifier *v, size_t cells)
{
    size_t begin = v->ncells;
    v->ncells += cells;
    return v->cells ? v->cells + begin : NULL;
}

static void lay_out(struct verifier *v)
{
    unsigned depth = depth_of(v);
    size_t uses = 0;
    v->ncells = 0;
    for (unsigned n = 0; n < v->shape->nnodes; n++) {
        unsigned first = v->shape->node_begin[n];
        size_t bytes = schedule_of(v, first)->node_bytes;
        struct cell *node = claim(v, depth * cells_of(v, bytes));
        for (unsigned r = first; r < v->shape->node_begin[n + 1]; r++) {
            const dcoll_schedule_t *s = schedule_of(v, r);
            struct player *p = &v->players[r];
            p->node = node;
            p->user[DCOLL_SEND] = claim(v, cells_of(v, p->send));
            p->user[DCOLL_RECV] = claim(v, cells_of(v, p->recv));
            p->temp = claim(v, depth * cells_of(v, s->temp_bytes));
            p->lines = claim(v, depth * s->flags * v->line_cells);
            p->keys = v->keys ? claim(v, v->nranks) : NULL;
            p->uses = v->uses ? v->uses + uses : NULL;
            uses += s->nops + USER_OPS;
        }
    }
    v->nuses = uses;
}

static int set_up_player(struct verifier *v, unsigned rank)
{
    struct player *p = &v->players[rank];
    p->snapshot = p->puts = NONE;
    p->send = send_bytes(v, rank);
    p->recv = recv_bytes(v, rank);
    p->clock = calloc(2 * (size_t)v->nranks + v->starts, sizeof *p->clock);
    p->flags = calloc((size_t)schedule_of(v, rank)->flags * v->starts + 1,
                      sizeof *p->flags);
    p->counter = calloc(v->nranks, sizeof *p->counter);
    p->pulled = calloc(v->nranks, sizeof *p->pulled);
    if (!p->clock || !p->flags || !p->counter || !p->pulled)
        return DRAIL_ENOMEM;
    p->clock[rank] = 1;
    p->ready = p->clock + v->nranks;
    p->begin = p->ready + v->nranks;
    return 0;
}

static int set_up(struct verifier *v)
{
    v->messages_free = v->snapshots.free = NONE;
    for (unsigned r = 0; r < v->nranks; r++)
        if (set_up_player(v, r))
            return DRAIL_ENOMEM;
    lay_out(v);
    v->cells = calloc(v->ncells + 1, sizeof *v->cells);
    v->uses = calloc(v->nuses, sizeof *v->uses);
    if (!v->cells || !v->uses)
        return DRAIL_ENOMEM;
    for (size_t i = 0; i < v->ncells; i++)
        v->cells[i].readers = NONE;
    lay_out(v);
    verify_user_alias(v);
    return 0;
}

static void tear_down(struct verifier *v)
{
    for (unsigned r = 0; v->players && r < v->nranks; r++) {
        free(v->players[r].clock);
        free(v->players[r].flags);
        free(v->players[r].counter);
        free(v->players[r].pulled);
    }
    free(v->players);
    free(v->cells);
    free(v->uses);
    free(v->streams);
    free(v->snapshots.clock);
    free(v->snapshots.users);
    free(v->messages);
    free(v->puts);
    free(v->readers);
    free(v->runs);
    verify_terms_free(v);
}

/* ------------------------------------------------------ operations --- */

static struct region region_of(const struct verifier *v, unsigned rank,
                               unsigned start, dcoll_place_t place)
{
    const struct player *p = &v->players[rank];
    const dcoll_schedule_t *s = schedule_of(v, rank);
    unsigned turn = start % depth_of(v);
    struct cell *base = NULL;
    switch (place.space) {
    case DCOLL_SEND:
    case DCOLL_RECV:
        base = p->user[place.space];
        break;
    case DCOLL_TEMP:
        base = p->temp + turn * cells_of(v, s->temp_bytes);
        break;
    case DCOLL_NODE:
        base = p->node + turn * cells_of(v, s->node_bytes);
        break;
    }
    return (struct region){base + place.offset / v->grain, place.offset, rank,
                           place.space};
}

static struct region line_of(const struct verifier *v, unsigned rank,
                             unsigned start, unsigned flag)
{
    size_t line = start % depth_of(v) * schedule_of(v, rank)->flags + flag;
    return (struct region){v->players[rank].lines + line * v->line_cells, 0,
                           rank, REGION_LINE};
}

/* The key of a rank's RECV: what another has of it, or its own. */
static struct region key_of(const struct verifier *v, unsigned rank,
                            unsigned owner)
{
    return (struct region){v->players[rank].keys + owner, owner, rank,
                           REGION_KEY};
}

static struct flag *flag_of(const struct verifier *v, unsigned rank,
                            unsigned start, unsigned flag)
{
    return &v->players[rank]
                .flags[(size_t)start * schedule_of(v, rank)->flags + flag];
}

/* The key is looked at when the put is posted. */
static bool use_key(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct player *p = &v->players[rank];
    if (p->ready[op->peer] != p->start + 1) {
        verify_fail_at(v, rank, p->start, p->op,
                       "put into RECV without READY of this start");
        return false;
    }
    struct actor actor = verify_actor(v, rank);
    struct region key = key_of(v, rank, op->peer);
    return verify_read(v, &actor, &key, 0);
}

static void play_put(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct player *p = &v->players[rank];
    struct actor actor;
    if (op->dst.space == DCOLL_RECV && !use_key(v, rank, op))
        return;
    uint32_t put = verify_start_put(v, rank, op->peer, &actor);
    if (put == NONE)
        return;
    verify_to_complete(v, rank, put);
    if (op->sized && op->src.space == DCOLL_SEND) {
        if (!verify_put_placed(v, op, &actor))
            return;
    } else if (op->bytes) {
        struct region src = region_of(v, rank, p->start, op->src);
        struct region dst = region_of(v, op->peer, p->start, op->dst);
        size_t bytes = op->bytes;
        if (op->sized && !verify_bundle(v, &actor, &src, op->bytes, &bytes))
            return;
        if (!verify_move(v, &actor, &src, &dst, bytes) ||
            !verify_may_move(v, &actor, &src, &dst, bytes, op->bytes))
            return;
    }
    verify_send(v, rank, op, put);
}

/* READY is a put of the key of RECV to where the peer keeps it. */
static void play_notify(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct actor actor;
    uint32_t put = NONE;
    if (op->tag == DCOLL_READY) {
        if (is_irregular(v) && !verify_expected(v, rank))
            return;
        put = verify_start_put(v, rank, op->peer, &actor);
        if (put == NONE)
            return;
        struct region src = key_of(v, rank, rank);
        struct region dst = key_of(v, op->peer, rank);
        if (!verify_read(v, &actor, &src, 0) ||
            !verify_write(v, &actor, &dst, 0, src.cells->value))
            return;
    }
    verify_send(v, rank, op, put);
}

static void play_get(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    unsigned start = v->players[rank].start;
    struct actor actor;
    if (!verify_start_get(v, rank, &actor))
        return;
    struct region src = region_of(v, op->peer, start, op->src);
    struct region dst = region_of(v, rank, start, op->dst);
    verify_move(v, &actor, &src, &dst, op->bytes);
}

static void play_message(struct verifier *v, unsigned rank,
                         const dcoll_op_t *op)
{
    if (op->kind == DCOLL_PUT)
        play_put(v, rank, op);
    else if (op->kind == DCOLL_GET)
        play_get(v, rank, op);
    else
        play_notify(v, rank, op);
}

static bool play_wait(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct player *p = &v->players[rank];
    if (p->start < op->lag)
        return true;
    if (!verify_receive(v, rank, op->peer, op->tag))
        return false;
    if (op->tag == DCOLL_READY && !op->lag)
        p->ready[op->peer] = p->start + 1;
    return true;
}

static void play_copy(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    unsigned start = v->players[rank].start;
    struct actor actor = verify_actor(v, rank);
    struct region src = region_of(v, rank, start, op->src);
    struct region dst = region_of(v, rank, start, op->dst);
    size_t bytes = op->bytes, cells = op->bytes / v->grain;
    if (src.cells == dst.cells)
        return; /* a root that is in place: the executor leaves it out, too */
    if (op->sized && !verify_bundle(v, &actor, &src, op->bytes, &bytes))
        return;
    if (src.cells < dst.cells + cells && dst.cells < src.cells + cells)
        verify_fail_at(v, rank, start, v->players[rank].op,
                       "source and target overlap");
    else if (verify_move(v, &actor, &src, &dst, bytes) &&
             verify_may_move(v, &actor, &src, &dst, bytes, op->bytes) &&
             op->taken)
        verify_may_write(v, &actor, &src, 0, op->bytes);
}

/* Partly: at a root in place, two buffers are the same. */
static bool overlap(const struct region *a, const struct region *b,
                    size_t cells)
{
    return a->cells != b->cells && a->cells < b->cells + cells &&
           b->cells < a->cells + cells;
}

static void play_combine(struct verifier *v, unsigned rank,
                         const dcoll_op_t *op)
{
    unsigned start = v->players[rank].start;
    struct actor actor = verify_actor(v, rank);
    struct region left = region_of(v, rank, start, op->src);
    struct region right = region_of(v, rank, start, op->with);
    struct region dst = region_of(v, rank, start, op->dst);
    size_t cells = op->bytes / v->grain;
    if (overlap(&left, &dst, cells) || overlap(&right, &dst, cells))
        verify_fail_at(v, rank, start, v->players[rank].op,
                       "an operand and the result overlap");
    else
        verify_combine(v, &actor, &left, &right, &dst, op->bytes);
    if (op->taken && op->src.space == DCOLL_NODE && left.cells != dst.cells)
        verify_may_write(v, &actor, &left, 0, op->bytes);
    if (op->taken && op->with.space == DCOLL_NODE && right.cells != dst.cells)
        verify_may_write(v, &actor, &right, 0, op->bytes);
}

static void play_deal(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    unsigned start = v->players[rank].start;
    struct actor actor = verify_actor(v, rank);
    struct region src = region_of(v, rank, start, op->src);
    struct region dst = region_of(v, rank, start, op->dst);
    if (op->kind == DCOLL_DELIVER)
        verify_deliver(v, op, &actor, &src, &dst);
    else
        verify_deal(v, op, &actor, &src, &dst);
}

static void play_offer(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    unsigned start = v->players[rank].start;
    struct actor actor = verify_actor(v, rank);
    struct region src = region_of(v, rank, start, op->src);
    struct region dst = region_of(v, rank, start, op->dst);
    if (op->kind == DCOLL_OFFER)
        verify_offer(v, op, &actor, &src, &dst);
    else if (op->kind == DCOLL_PACK)
        verify_pack(v, op, &actor, &src, &dst);
    else if (op->kind == DCOLL_EXPECT)
        verify_expect(v, op, &actor, &src);
    else
        verify_pick(v, op, &actor, &src, &dst);
}

static void play_signal(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct player *p = &v->players[rank];
    struct flag *flag = flag_of(v, rank, p->start, op->flag);
    struct actor actor = verify_actor(v, rank);
    if (flag->release.own) {
        verify_fail_at(v, rank, p->start, p->op,
                       "the flag is signalled twice in a start");
        return;
    }
    if (op->bytes) {
        struct region src = region_of(v, rank, p->start, op->src);
        struct region line = line_of(v, rank, p->start, op->flag);
        if (!verify_move(v, &actor, &src, &line, op->bytes))
            return;
    }
    flag->bytes = op->bytes;
    flag->behind = p->behind;
    verify_release(v, rank, &flag->release);
}

static bool play_await(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct player *p = &v->players[rank];
    if (p->start < op->lag || (op->offered && !p->pulled[op->peer]))
        return true;
    const struct flag *flag = flag_of(
        v, op->peer, (unsigned)dcoll_op_awaited(op, p->start), op->flag);
    if (!flag->release.own)
        return false;
    verify_acquire(v, rank, op->peer, flag->release);
    if (!op->lag)
        verify_hear(p, flag->behind);
    if (!op->bytes != !flag->bytes)
        verify_fail_at(v, rank, p->start, p->op,
                       "signalled with %zu bytes, awaited with %zu",
                       flag->bytes, op->bytes);
    else if (op->bytes > flag->bytes)
        verify_fail_at(v, rank, p->start, p->op,
                       "the payload has only %zu bytes", flag->bytes);
    else if (op->bytes) {
        struct actor actor = verify_actor(v, rank);
        struct region line = line_of(v, op->peer, p->start, op->flag);
        struct region dst = region_of(v, rank, p->start, op->dst);
        verify_move(v, &actor, &line, &dst, op->bytes);
    }
    return true;
}

/* false: the rank must wait. */
static bool play_op(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    if (dcoll_op_rests(op, v->players[rank].start))
        return true;
    switch (op->kind) {
    case DCOLL_PUT:
    case DCOLL_GET:
    case DCOLL_NOTIFY:
        if (verify_step(v, rank, op))
            play_message(v, rank, op);
        return true;
    case DCOLL_WAIT:
        return play_wait(v, rank, op);
    case DCOLL_COMPLETE:
        verify_complete(v, rank, op);
        return true;
    case DCOLL_COPY:
        play_copy(v, rank, op);
        return true;
    case DCOLL_COMBINE:
        play_combine(v, rank, op);
        return true;
    case DCOLL_SIGNAL:
        play_signal(v, rank, op);
        return true;
    case DCOLL_AWAIT:
        return play_await(v, rank, op);
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
    case DCOLL_DELIVER:
        play_deal(v, rank, op);
        return true;
    case DCOLL_OFFER:
    case DCOLL_PACK:
    case DCOLL_EXPECT:
    case DCOLL_PICK:
        play_offer(v, rank, op);
        return true;
    }
    return true;
}

/* ----------------------------------------------------------- playing --- */

/* Until the rank blocks or has done all starts; did it get anywhere? */
static bool play_rank(struct verifier *v, unsigned rank)
{
    struct player *p = &v->players[rank];
    const dcoll_schedule_t *s = schedule_of(v, rank);
    bool moved = false;
    for (; p->start < v->starts && !v->error; moved = true) {
        if (!p->begun) {
            verify_user_fill(v, rank);
            p->behind = p->posted = 0;
            p->expected = 0;
            p->begun = true;
        } else if (p->op < s->nops) {
            if (!play_op(v, rank, &s->ops[p->op]))
                return moved;
            p->op++;
        } else {
            verify_user_read(v, rank);
            p->start++;
            p->op = 0;
            p->begun = false;
        }
    }
    return moved;
}

#define NAMED 4 /* blocked ranks that the sentence names */

static void deadlock(struct verifier *v)
{
    char text[NAMED * 200] = "";
    size_t used = 0;
    unsigned blocked = 0;
    for (unsigned r = 0; r < v->nranks; r++) {
        const struct player *p = &v->players[r];
        if (p->start == v->starts || blocked++ >= NAMED)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                 blocked == 1 ? " " : "; ");
        verify_where(v, r, what_of(v, r, p->start, p->op), text + used,
                     sizeof text - used);
        used += strlen(text + used);
    }
    if (blocked)
        verify_fail(v, "deadlock of %u ranks:%s%s", blocked, text,
                    blocked > NAMED ? "; …" : "");
}

static void play(struct verifier *v)
{
    bool moved = true;
    while (moved && !v->error) {
        moved = false;
        for (unsigned r = 0; r < v->nranks && !v->error; r++)
            moved |= play_rank(v, r);
    }
    if (!v->error)
        deadlock(v);
}

/* Do starts differ in what stays in SEND? */
static bool offers(const dcoll_program_t *program)
{
    const dcoll_schedule_t *s = &program->rank[0];
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_OFFER && s->ops[i].dst.space == DCOLL_NODE)
            return true;
    return false;
}

unsigned dcoll_proof_starts(const dcoll_program_t *program)
{
    unsigned group = 1;
    for (unsigned r = 0; r < program->shape->nranks; r++) {
        const dcoll_schedule_t *s = &program->rank[r];
        for (unsigned i = 0; i < s->nops; i++)
            group = s->ops[i].every > group ? s->ops[i].every : group;
    }
    return program->args.depth + group * (offers(program) ? MAPPED_EVERY : 1);
}

int dcoll_verify(const dcoll_program_t *program, unsigned starts, char *why,
                 size_t size)
{
    unsigned n = program->shape->nranks;
    struct verifier v = {.program = program,
                         .shape = program->shape,
                         .nranks = n,
                         .starts = starts,
                         .why = why,
                         .size = size};
    size_t streams = (size_t)n * n * DCOLL_TAGS;
    v.players = calloc(n, sizeof *v.players);
    v.streams = calloc(streams, sizeof *v.streams);
    if (size)
        *why = '\0';
    if (!v.players || !v.streams)
        v.error = DRAIL_ENOMEM;
    for (size_t i = 0; !v.error && i < streams; i++)
        v.streams[i].head = NONE;
    if (program->args.root >= n)
        verify_fail(&v, "root %u of %u ranks", program->args.root, n);
    if (!v.error && is_irregular(&v))
        verify_counts(&v);
    if (!v.error)
        verify_check(&v);
    if (!v.error)
        verify_ports(&v);
    if (!v.error)
        v.error = set_up(&v);
    if (!v.error)
        play(&v);
    if (!v.error)
        verify_uses(&v);
    tear_down(&v);
    if (v.error == DRAIL_ENOMEM)
        snprintf(why, size, "out of memory");
    return v.error;
}
