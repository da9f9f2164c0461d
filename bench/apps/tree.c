/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "tree.h"

#define AXES 3

cell_t tree_item(const body_t *body)
{
    return (cell_t){.key = body->key,
                    .pos = {body->pos[0], body->pos[1], body->pos[2]},
                    .mass = body->mass,
                    .level = BODY_LEVELS};
}

/* --------------------------------------------------------------- build --- */

typedef struct builder {
    tree_t *tree;
    const cell_t *items;
    double side; /* of the cube */
} builder_t;

static unsigned shift_of(unsigned level) /* to the digit below it */
{
    return 3 * (BODY_LEVELS - 1 - level);
}

/* Digits that the first and the last of sorted items have in common. */
static unsigned common(uint64_t first, uint64_t last)
{
    uint64_t differ = first ^ last;
    return differ ? (unsigned)(__builtin_clzll(differ) - 1) / 3 : BODY_LEVELS;
}

/* The end of the child that begins with item `at`. */
static size_t child_end(const cell_t *items, size_t at, size_t end,
                        unsigned level)
{
    if (level == BODY_LEVELS) /* all in one place */
        return at + 1;
    unsigned shift = shift_of(level);
    uint64_t digits = items[at].key >> shift;
    while (at < end && items[at].key >> shift == digits)
        at++;
    return at;
}

static void add(cell_t *sum, const cell_t *child)
{
    for (unsigned k = 0; k < AXES; k++)
        sum->pos[k] += child->mass * child->pos[k];
    sum->mass += child->mass;
}

/* Adds the cell of at least one item. @return its index. */
static size_t build(builder_t *b, size_t begin, size_t end)
{
    size_t index = b->tree->ncells++;
    cell_t cell = {0};
    if (end - begin == 1) {
        cell = b->items[begin];
    } else {
        cell.level = common(b->items[begin].key, b->items[end - 1].key);
        uint64_t inside = (BODY_KEYS >> 3 * cell.level) - 1;
        cell.key = b->items[begin].key & ~inside;
        double side = ldexp(b->side, -(int)cell.level);
        cell.side2 = side * side;
        for (size_t at = begin, to; at < end; at = to) {
            to = child_end(b->items, at, end, cell.level);
            add(&cell, &b->tree->cells[build(b, at, to)]);
        }
        for (unsigned k = 0; k < AXES; k++)
            cell.pos[k] /= cell.mass;
    }
    cell.next = (uint32_t)b->tree->ncells;
    b->tree->cells[index] = cell;
    return index;
}

void tree_build(tree_t *tree, const cell_t *items, size_t n, const cube_t *cube)
{
    builder_t b = {tree, items, cube->side};
    tree->ncells = 0;
    if (n)
        build(&b, 0, n);
}

/* --------------------------------------------------------------- force --- */

/* Rounding never makes the nearer one the farther one, as each operation grows
 * with its operands: what is closed for a box is for all in it. */
static double square(const double *way)
{
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
}

static bool is_far(const tree_t *tree, const cell_t *cell, double distance2)
{
    return cell->side2 < tree->theta2 * distance2;
}

bool tree_force(const tree_t *tree, body_t *body)
{
    double acc[AXES] = {0};
    uint32_t looks = 0;
    bool known = true;
    for (size_t i = 0; i < tree->ncells; looks++) {
        const cell_t *c = &tree->cells[i];
        double way[AXES];
        for (unsigned k = 0; k < AXES; k++)
            way[k] = c->pos[k] - body->pos[k];
        double distance2 = square(way);
        if (c->side2 > 0 && !is_far(tree, c, distance2)) {
            known = known && c->next > i + 1;
            i++;
            continue;
        }
        i = c->next;
        if (distance2 == 0) /* itself, or at its place: no direction */
            continue;
        double soft = distance2 + tree->soft2;
        double pull = c->mass / (soft * sqrt(soft));
        for (unsigned k = 0; k < AXES; k++)
            acc[k] += pull * way[k];
    }
    for (unsigned k = 0; k < AXES; k++)
        body->acc[k] = acc[k];
    body->cost = looks;
    return known;
}

/* ---------------------------------------------------- what others need --- */

static double box_distance2(const box_t *box, const double *pos)
{
    double way[AXES];
    for (unsigned k = 0; k < AXES; k++)
        way[k] = fmax(0, fmax(box->low[k] - pos[k], pos[k] - box->high[k]));
    return square(way);
}

/* Has it bodies of this rank alone? Else its sums are not those of all. */
static bool is_own(const cell_t *cell, uint64_t first, uint64_t end)
{
    return cell->key >= first &&
           end - cell->key >= BODY_KEYS >> 3 * cell->level;
}

size_t tree_essential(const tree_t *tree, const box_t *box, uint64_t first,
                      uint64_t end, cell_t *items, size_t *looks)
{
    size_t n = 0;
    *looks = 0;
    for (size_t i = 0; i < tree->ncells; (*looks)++) {
        const cell_t *c = &tree->cells[i];
        bool body = c->side2 <= 0;
        if (!body && !(is_own(c, first, end) &&
                       is_far(tree, c, box_distance2(box, c->pos)))) {
            i++;
            continue;
        }
        items[n++] = *c;
        i = c->next;
    }
    return n;
}
