/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: a cell that COMBINE has written holds a term: its two operands.
 * The operation need not commute, so the ranks of the left operand come
 * directly before those of the right one. It need not be associative either, as
 * floating-point + is not: terms that are bracketed differently differ, and all
 * ranks of an all-reduce must have the same term.
 *
 * If the operation commutes, the ranks of the operands need not follow each
 * other, and the two ways to combine the same operands make one term. Then a
 * result is looked at as a whole: each rank must be in it once.
 */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

#define TERM ((uint64_t)1 << 62) /* in a cell's value, which is its number */

static uint64_t hash(uint64_t left, uint64_t right)
{
    uint64_t x = (left * 0x9e3779b97f4a7c15u) ^ right;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* The slot of a term, or the free slot where it belongs. */
static uint32_t *slot_of(const struct terms *t, uint64_t left, uint64_t right)
{
    size_t slot = hash(left, right) & (t->slots - 1);
    while (t->index[slot] && (t->all[t->index[slot] - 1].left != left ||
                              t->all[t->index[slot] - 1].right != right))
        slot = (slot + 1) & (t->slots - 1);
    return &t->index[slot];
}

/* At most half of the index is in use. */
static bool grow_index(struct verifier *v)
{
    struct terms *t = &v->terms;
    if (2 * (size_t)t->count < t->slots)
        return true;
    size_t slots = t->slots ? 2 * t->slots : 64;
    uint32_t *index = calloc(slots, sizeof *index);
    if (!index) {
        v->error = DRAIL_ENOMEM;
        return false;
    }
    free(t->index);
    t->index = index;
    t->slots = slots;
    for (uint32_t i = 0; i < t->count; i++)
        *slot_of(t, t->all[i].left, t->all[i].right) = i + 1;
    return true;
}

/* Finds or adds a term, and returns its value; 0: v->error is set. */
static uint64_t intern(struct verifier *v, const struct term *term)
{
    struct terms *t = &v->terms;
    if (!grow_index(v) || !verify_room(v, (void **)&t->all, t->count,
                                       &t->capacity, sizeof *t->all))
        return 0;
    uint32_t *slot = slot_of(t, term->left, term->right);
    if (!*slot) {
        t->all[t->count++] = *term;
        *slot = t->count;
    }
    return TERM | *slot;
}

static bool commutes(const struct verifier *v)
{
    return v->program->args.commutes;
}

/* The term of a cell's value; false: it is not made of input. */
static bool term_of(const struct verifier *v, uint64_t value, struct term *out)
{
    unsigned start, rank;
    size_t block, cell;
    if (value & TERM && !(value >> 63)) {
        *out = v->terms.all[(value & ~TERM) - 1];
        return true;
    }
    if (!verify_input_of(v, value, &start, &rank, &block, &cell))
        return false;
    cell += block * (v->program->args.bytes / v->grain);
    *out = (struct term){
        .start = start, .first = rank, .last = rank, .ranks = 1, .cell = cell};
    return true;
}

static size_t byte_of(const struct verifier *v, const struct term *term)
{
    return term->cell * v->grain;
}

/* Combines cell `at` of the operands; 0: they do not fit together. */
static uint64_t combine(struct verifier *v, unsigned rank, size_t at,
                        uint64_t left, uint64_t right)
{
    const struct player *p = &v->players[rank];
    size_t element = v->program->args.element ? v->program->args.element : 1;
    struct term a, b;
    if (!term_of(v, left, &a) || !term_of(v, right, &b)) {
        verify_fail_at(v, rank, p->start, p->op,
                       "byte %zu of an operand comes from no rank",
                       at * v->grain);
        return 0;
    }
    if (a.start != b.start || a.cell != b.cell)
        verify_fail_at(v, rank, p->start, p->op,
                       "byte %zu of start %u is combined with byte %zu of "
                       "start %u",
                       byte_of(v, &a), a.start, byte_of(v, &b), b.start);
    else if (a.ranks + b.ranks > v->nranks)
        verify_fail_at(v, rank, p->start, p->op,
                       "operands of %u and %u ranks: there are %u", a.ranks,
                       b.ranks, v->nranks);
    else if (!commutes(v) && a.last + 1 != b.first)
        verify_fail_at(v, rank, p->start, p->op,
                       "what is of ranks %u … %u does not come before that of "
                       "ranks %u … %u",
                       a.first, a.last, b.first, b.last);
    else if (byte_of(v, &a) % element != at * v->grain % element)
        verify_fail_at(v, rank, p->start, p->op,
                       "byte %zu is not where one of its element would be",
                       byte_of(v, &a));
    if (v->error)
        return 0;
    const bool swap = commutes(v) && left > right;
    return intern(v, &(struct term){.left = swap ? right : left,
                                    .right = swap ? left : right,
                                    .start = a.start,
                                    .first = a.first,
                                    .last = b.last,
                                    .ranks = a.ranks + b.ranks,
                                    .cell = a.cell});
}

bool verify_combine(struct verifier *v, const struct actor *actor,
                    const struct region *left, const struct region *right,
                    const struct region *dst, size_t bytes)
{
    for (size_t i = 0; i < bytes / v->grain; i++) {
        if (!verify_read(v, actor, left, i) || !verify_read(v, actor, right, i))
            return false;
        uint64_t value = combine(v, actor->rank, i, left->cells[i].value,
                                 right->cells[i].value);
        if (!value || !verify_write(v, actor, dst, i, value))
            return false;
    }
    return true;
}

/* Is it the result of the earlier ranks? The first rank sets it. */
static bool as_others(struct verifier *v, unsigned start, size_t cell,
                      uint64_t value)
{
    size_t cells = v->program->args.bytes / v->grain;
    if (v->program->args.collective != DCOLL_ALLREDUCE)
        return true;
    if (!v->results)
        v->results = calloc(v->starts * cells, sizeof *v->results);
    if (!v->results) {
        v->error = DRAIL_ENOMEM;
        return false;
    }
    uint64_t *result = &v->results[start * cells + cell];
    if (!*result)
        *result = value;
    return *result == value;
}

/* The ranks whose elements belong to the result of a rank: 0 … this one. */
static unsigned last_of(const struct verifier *v, unsigned rank)
{
    switch (v->program->args.collective) {
    case DCOLL_SCAN:
        return rank;
    case DCOLL_EXSCAN:
        return rank - 1;
    default:
        return v->nranks - 1;
    }
}

/* Marks the ranks of a term; false: one of them is marked already. */
static bool mark(const struct verifier *v, uint64_t value, bool *marked)
{
    struct term t;
    if (!term_of(v, value, &t))
        return false;
    if (t.ranks > 1)
        return mark(v, t.left, marked) && mark(v, t.right, marked);
    if (marked[t.first])
        return false;
    return marked[t.first] = true;
}

/* Does the term combine ranks 0 … last, each once? */
static bool is_whole(struct verifier *v, uint64_t value, const struct term *t,
                     unsigned last)
{
    if (!commutes(v))
        return t->first == 0 && t->last == last;
    bool *marked = calloc(v->nranks, sizeof *marked);
    if (!marked)
        v->error = DRAIL_ENOMEM;
    bool whole = marked && t->ranks == last + 1 && mark(v, value, marked);
    for (unsigned r = 0; whole && r <= last; r++)
        whole = marked[r];
    free(marked);
    return whole;
}

static void say_ranks(const struct verifier *v, const struct term *t,
                      char *text, size_t size)
{
    if (commutes(v))
        snprintf(text, size, "not of the right ranks, each once, but of %u",
                 t->ranks);
    else
        snprintf(text, size, "that of ranks %u … %u alone", t->first, t->last);
}

/* The cell of the input that a cell of the rank's RECV is made of. */
static size_t source_of(const struct verifier *v, unsigned rank, size_t cell)
{
    const dcoll_args_t *args = &v->program->args;
    return args->collective == DCOLL_REDUCE_SCATTER_BLOCK
               ? rank * (args->bytes / v->grain) + cell
               : cell;
}

bool verify_result(struct verifier *v, unsigned rank, size_t cell,
                   uint64_t value)
{
    unsigned start = v->players[rank].start;
    struct term t;
    char found[128] = "what no rank has given";
    if (!term_of(v, value, &t))
        ;
    else if (t.start != start || t.cell != source_of(v, rank, cell))
        snprintf(found, sizeof found, "byte %zu of start %u", byte_of(v, &t),
                 t.start);
    else if (!is_whole(v, value, &t, last_of(v, rank)))
        say_ranks(v, &t, found, sizeof found);
    else if (!as_others(v, start, cell, value))
        snprintf(found, sizeof found,
                 "bracketed in another way than elsewhere");
    else
        return true;
    verify_fail(v, "start %u, after it byte %zu of rank %u's RECV is %s", start,
                cell * v->grain, rank, found);
    return false;
}

void verify_terms_free(struct verifier *v)
{
    free(v->terms.all);
    free(v->terms.index);
    free(v->results);
}
