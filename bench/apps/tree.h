/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of J. Barnes and P. Hut ("A hierarchical O(N log N)
 * force-calculation algorithm", Nature 324, 1986), of cells in their key's
 * order, each before what it contains (M. Warren, J. Salmon, "A parallel hashed
 * oct-tree N-body algorithm", 1993).
 *
 * Octants with a single child are not there. So cells, their sums and the order
 * of all sums follow from the bodies alone, and forces from a part of the tree
 * that holds all cells that they open are bit for bit those from all of it.
 */
#ifndef BENCH_APPS_TREE_H
#define BENCH_APPS_TREE_H

#include <stdbool.h>

#include "bodies.h"

/** A body, or an octant of at least two. */
typedef struct cell {
    uint64_t key;        /**< its first one */
    double pos[3], mass; /**< of the centre of mass */
    double side2;        /**< squared side, 0: a body */
    uint32_t level;      /**< of the octant: 0 is the cube */
    uint32_t next;       /**< index of the cell after all in this one; the
                              one after it: nothing in it is known */
} cell_t;

typedef struct tree {
    cell_t *cells;
    size_t ncells;
    double theta2; /**< cells are opened whose side is not below theta times
                        their distance */
    double soft2;  /**< softening length, squared */
} tree_t;

/** Room that n items need. */
#define TREE_CELLS(n) (2 * (n))

cell_t tree_item(const body_t *body);

/** From items (bodies, and octants that are closed) in the order of their
 *  keys. */
void tree_build(tree_t *tree, const cell_t *items, size_t n,
                const cube_t *cube);

/** Acceleration, and the cost. @return false if a closed octant would have had
 *  to be opened. */
bool tree_force(const tree_t *tree, body_t *body);

/** The items that forces on any body in a box may need, from the tree of a rank
 *  that has all bodies with keys from @p first to before @p end. @return their
 *  number; @p looks: at so many cells. */
size_t tree_essential(const tree_t *tree, const box_t *box, uint64_t first,
                      uint64_t end, cell_t *items, size_t *looks);

#endif
