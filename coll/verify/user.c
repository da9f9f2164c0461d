/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Users: they fill their buffers before each start, and check the results after
 * it. Each start has its own contents, and RECV is overwritten before. At a
 * root in place, SEND of a gather is the root's block of RECV, RECV of a
 * scatter is its block of SEND, and SEND of a reduction is RECV. On any rank in
 * place, RECV of a reduce-scatter is the first block of SEND, and RECV of a
 * scan is SEND.
 */
#include "verify.h"

#define SCRIBBLE ((uint64_t)1 << 63)

/* In place: does block `block` of RECV hold input before the start? Sets which
 * of this rank's input blocks that is. */
static bool in_place(const struct verifier *v, unsigned rank, size_t block,
                     size_t *which)
{
    const dcoll_args_t *a = &v->program->args;
    *which = 0;
    if (!a->in_place)
        return false;
    switch (a->collective) {
    case DCOLL_GATHER:
    case DCOLL_ALLGATHER:
        return block == rank;
    case DCOLL_REDUCE:
        return rank == a->root;
    case DCOLL_ALLREDUCE:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        return true;
    case DCOLL_ALLTOALL:
        *which = block;
        return true;
    case DCOLL_SCATTER:
        *which = rank;
        return rank == a->root;
    default:
        return false;
    }
}

/* The block that a cell of a buffer of so many blocks is in; *cell becomes its
 * place in the block. */
static size_t block_of(const struct verifier *v, unsigned blocks, size_t *cell)
{
    const dcoll_args_t *a = &v->program->args;
    const size_t byte = *cell * v->grain;
    unsigned block = a->begin ? 0 : (unsigned)(byte / a->bytes);
    if (a->begin && blocks == v->nranks)
        while (byte >= a->begin[block + 1])
            block++;
    if (blocks == v->nranks)
        *cell -= dcoll_block_begin(a, block) / v->grain;
    return block;
}

static size_t block_of_send(const struct verifier *v, unsigned rank,
                            size_t *cell)
{
    return block_of(v, dcoll_send_blocks(&v->program->args, v->nranks, rank),
                    cell);
}

static size_t block_of_recv(const struct verifier *v, unsigned rank,
                            size_t *cell)
{
    return block_of(v, dcoll_recv_blocks(&v->program->args, v->nranks, rank),
                    cell);
}

static uint64_t output(const struct verifier *v, unsigned start, unsigned rank,
                       size_t block, size_t cell)
{
    const dcoll_args_t *a = &v->program->args;
    switch (a->collective) {
    case DCOLL_ALLTOALL:
        return verify_input(v, start, (unsigned)block, rank, cell);
    case DCOLL_BCAST:
        return verify_input(v, start, a->root, 0, cell);
    case DCOLL_SCATTER:
        return verify_input(v, start, a->root, rank, cell);
    default:
        return verify_input(v, start, (unsigned)block, 0, cell);
    }
}

/* Irregular: the value of a cell of a rank's SEND, … */
static uint64_t sent(const struct verifier *v, unsigned start, unsigned rank,
                     size_t cell)
{
    const dcoll_traffic_t *t = v->program->args.traffic;
    uint64_t cells = t->max_rank * verify_unit(v);
    return 1 + ((uint64_t)start * v->nranks + rank) * cells + cell;
}

/* … and of its RECV at the end. */
static uint64_t received(const struct verifier *v, unsigned start,
                         unsigned rank, size_t cell)
{
    size_t unit = verify_unit(v);
    unsigned from = 0;
    for (; cell >= count_of(v, from, rank) * unit; from++)
        cell -= count_of(v, from, rank) * unit;
    for (unsigned to = 0; to < rank; to++)
        cell += count_of(v, from, to) * unit;
    return sent(v, start, from, cell);
}

bool verify_origin(const struct verifier *v, unsigned start, uint64_t value,
                   struct origin *origin)
{
    uint64_t cells = v->program->args.traffic->max_rank * verify_unit(v);
    uint64_t first = 1 + (uint64_t)start * v->nranks * cells;
    if (value < first || value - first >= v->nranks * cells)
        return false;
    *origin = (struct origin){.from = (unsigned)((value - first) / cells),
                              .cell = (value - first) % cells};
    for (; origin->to < v->nranks; origin->to++) {
        size_t part = count_of(v, origin->from, origin->to) * verify_unit(v);
        if (origin->cell < part)
            return true;
        origin->cell -= part;
    }
    return false;
}

/* Elements with destinations: each is whole, for this rank, and comes once, in
 * any order. */
static bool has_come(const struct verifier *v, unsigned rank, size_t cell)
{
    const struct player *p = &v->players[rank];
    const struct cell *recv = &p->user[DCOLL_RECV][cell];
    struct origin origin;
    if (!verify_origin(v, p->start, recv->value, &origin) || origin.to != rank)
        return false;
    size_t at = origin.cell, part = cell % verify_unit(v);
    for (unsigned from = 0; from < origin.from; from++)
        at += count_of(v, from, rank) * verify_unit(v);
    bool again = p->came[at] == p->start + 1;
    p->came[at] = p->start + 1;
    return !again && at % verify_unit(v) == part &&
           (!part || recv[-1].value + 1 == recv->value);
}

/* Any collective: the value of a cell of SEND; of RECV before, and after. */
static uint64_t of_send(const struct verifier *v, unsigned rank, size_t cell)
{
    unsigned start = v->players[rank].start;
    if (is_irregular(v))
        return sent(v, start, rank, cell);
    size_t block = block_of_send(v, rank, &cell);
    return verify_input(v, start, rank, block, cell);
}

static uint64_t of_recv_before(const struct verifier *v, unsigned rank,
                               size_t cell)
{
    const dcoll_args_t *a = &v->program->args;
    size_t which, at = cell;
    if (is_irregular(v))
        return SCRIBBLE | cell;
    if (a->in_place && a->collective == DCOLL_REDUCE_SCATTER_BLOCK)
        return of_send(v, rank, cell);
    size_t block = block_of_recv(v, rank, &at);
    return in_place(v, rank, block, &which)
               ? verify_input(v, v->players[rank].start, rank, which, at)
               : SCRIBBLE | cell;
}

static uint64_t of_recv(const struct verifier *v, unsigned rank, size_t cell)
{
    unsigned start = v->players[rank].start;
    if (is_irregular(v))
        return received(v, start, rank, cell);
    size_t block = block_of_recv(v, rank, &cell);
    return output(v, start, rank, block, cell);
}

static bool is_right(const struct verifier *v, unsigned rank, size_t cell)
{
    return is_irregular(v) && !v->program->args.traffic->labelled
               ? has_come(v, rank, cell)
               : v->players[rank].user[DCOLL_RECV][cell].value ==
                     of_recv(v, rank, cell);
}

static struct actor user(const struct verifier *v, unsigned rank, unsigned op)
{
    const struct player *p = &v->players[rank];
    op += schedule_of(v, rank)->nops;
    return (struct actor){
        rank,
        {rank, p->clock[rank], what_of(v, rank, p->start, op)},
        &p->uses[op]};
}

void verify_user_fill(struct verifier *v, unsigned rank)
{
    struct player *p = &v->players[rank];
    struct actor actor = user(v, rank, USER_FILLS);
    struct region send = {p->user[DCOLL_SEND], 0, rank, DCOLL_SEND};
    struct region recv = {p->user[DCOLL_RECV], 0, rank, DCOLL_RECV};

    p->begin[p->start] = p->clock[rank];
    if (p->keys) {
        struct region key = {p->keys + rank, rank, rank, REGION_KEY};
        if (!verify_write(v, &actor, &key, 0, p->start + 1))
            return;
    }
    for (size_t i = 0; i < p->send / v->grain; i++)
        if (!verify_write(v, &actor, &send, i, of_send(v, rank, i)))
            return;
    for (size_t i = 0; i < p->recv / v->grain; i++)
        if (!verify_write(v, &actor, &recv, i, of_recv_before(v, rank, i)))
            return;
}

static void wrong(struct verifier *v, unsigned rank, size_t at, uint64_t got)
{
    struct player *p = &v->players[rank];
    unsigned start, owner;
    size_t block, cell;
    if (is_irregular(v)) {
        verify_fail(v, "start %u, after it byte %zu of rank %u's RECV is wrong",
                    p->start, at * v->grain, rank);
        return;
    }
    size_t where = at, of = block_of_recv(v, rank, &where);
    size_t offset = where * v->grain;
    if (!verify_input_of(v, got, &start, &owner, &block, &cell)) {
        verify_fail(v,
                    "start %u, after it byte %zu of block %zu in rank %u's "
                    "RECV is %s",
                    p->start, offset, of, rank,
                    got ? "what was there before"
                        : "from memory that was never written");
        return;
    }
    verify_fail(v,
                "start %u, after it byte %zu of block %zu in rank %u's RECV is "
                "byte %zu of block %zu of rank %u in start %u",
                p->start, offset, of, rank, cell * v->grain, block, owner,
                start);
}

/* No rank leaves a barrier before all have come. */
static void left_barrier(struct verifier *v, unsigned rank)
{
    const struct player *p = &v->players[rank];
    for (unsigned r = 0; r < v->nranks; r++) {
        uint32_t begin = v->players[r].begin[p->start];
        if (!begin || p->clock[r] < begin)
            verify_fail(v,
                        "start %u, rank %u leaves the barrier without knowing "
                        "that rank %u has come",
                        p->start, rank, r);
    }
}

void verify_user_read(struct verifier *v, unsigned rank)
{
    struct player *p = &v->players[rank];
    struct actor actor = user(v, rank, USER_READS);
    struct region recv = {p->user[DCOLL_RECV], 0, rank, DCOLL_RECV};

    for (size_t i = 0; i < p->recv / v->grain; i++) {
        uint64_t value = recv.cells[i].value;
        if (!verify_read(v, &actor, &recv, i))
            return;
        if (verify_is_reduction(v)) {
            if (!verify_result(v, rank, i, value))
                return;
        } else if (!is_right(v, rank, i)) {
            wrong(v, rank, i, value);
            return;
        }
    }
    if (v->program->args.collective == DCOLL_BARRIER &&
        !v->program->messages_only)
        left_barrier(v, rank);
}

void verify_user_alias(struct verifier *v)
{
    const dcoll_args_t *a = &v->program->args;
    struct player *root = &v->players[a->root];
    size_t own = dcoll_block_begin(a, a->root) / v->grain;
    if (a->in_place && a->collective == DCOLL_GATHER)
        root->user[DCOLL_SEND] = root->user[DCOLL_RECV] + own;
    else if (a->in_place && a->collective == DCOLL_SCATTER)
        root->user[DCOLL_RECV] = root->user[DCOLL_SEND] + own;
    else if (a->in_place && a->collective == DCOLL_REDUCE)
        root->user[DCOLL_SEND] = root->user[DCOLL_RECV];
    else if (a->in_place && dcoll_in_place_anywhere(a->collective))
        for (unsigned r = 0; r < v->nranks; r++)
            v->players[r].user[DCOLL_RECV] = v->players[r].user[DCOLL_SEND];
}
