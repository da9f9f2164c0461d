/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify.h"

static struct region region_of(const struct verifier *v, unsigned rank,
                               unsigned start, dcoll_place_t place)
{
    const struct player *p = &v->players[rank];
    const dcoll_schedule_t *s = schedule_of(v, rank);
    unsigned slot = start % depth_of(v);
    struct cell *base = NULL;
    switch (place.space) {
    case DCOLL_SEND:
    case DCOLL_RECV:
        base = p->user[place.space];
        break;
    case DCOLL_TEMP:
        base = p->temp + slot * cells_of(v, s->temp_bytes);
        break;
    case DCOLL_NODE:
        base = p->node + slot * cells_of(v, s->node_bytes);
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

/* A rank's copy of the key of the owner's RECV. */
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

/* A put into RECV reads the key when it is posted. */
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
    if (is_placed(v, op)) {
        if (!verify_put_placed(v, op, &actor))
            return;
    } else if (op->bytes && !v->program->messages_only) {
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

/* READY is a put of the key of RECV into the peer's copy. */
static void play_notify(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct actor actor;
    uint32_t put = NONE;
    if (op->tag == DCOLL_READY && !v->program->messages_only) {
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
        return; /* a root in place: the executor leaves it out, too */
    if (op->sized && !verify_bundle(v, &actor, &src, op->bytes, &bytes))
        return;
    if (src.cells < dst.cells + cells && dst.cells < src.cells + cells)
        verify_fail_at(v, rank, start, v->players[rank].op,
                       "source and target overlap");
    else if (verify_move(v, &actor, &src, &dst, bytes))
        verify_may_move(v, &actor, &src, &dst, bytes, op->bytes);
}

/* Do they overlap partly? At a root in place, two buffers may be the same. */
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

bool verify_play(struct verifier *v, unsigned rank, const dcoll_op_t *op)
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
        if (!v->program->messages_only)
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
