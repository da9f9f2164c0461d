/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/apps/tree: forces of the tree beside those of all pairs, and forces
 * from parts of it, which are those from the whole. */
#include <math.h>
#include "unit.h"
#include "bench/apps/split.h"
#include "bench/apps/tree.h"

#define BODIES 600
#define SOFT2  0.0025
#define RANKS  3 /* to deal bodies to */
#define PARTS  8 /* of a tree */

static body_t bodies[BODIES];
static cell_t items[BODIES], cells[TREE_CELLS(BODIES)];

static tree_t grow(cube_t *cube, double theta)
{
    tree_t tree = {.cells = cells, .theta2 = theta * theta, .soft2 = SOFT2};
    box_t box = bodies_box(bodies, BODIES);
    *cube = box_cube(&box);
    bodies_sort(bodies, BODIES, cube);
    for (size_t i = 0; i < BODIES; i++)
        items[i] = tree_item(&bodies[i]);
    tree_build(&tree, items, BODIES, cube);
    return tree;
}

/* Of all pairs. */
static void direct(const body_t *body, double *acc)
{
    memset(acc, 0, 3 * sizeof *acc);
    for (size_t i = 0; i < BODIES; i++) {
        double way[3], d2 = SOFT2;
        for (unsigned k = 0; k < 3; k++) {
            way[k] = bodies[i].pos[k] - body->pos[k];
            d2 += way[k] * way[k];
        }
        for (unsigned k = 0; k < 3; k++)
            acc[k] += bodies[i].mass * way[k] / (d2 * sqrt(d2));
    }
}

/* Mean relative error of the accelerations. */
static double error(double theta)
{
    cube_t cube;
    double sum = 0;
    bodies_plummer(bodies, BODIES, 5);
    tree_t tree = grow(&cube, theta);
    for (size_t i = 0; i < BODIES; i++) {
        double acc[3], wrong = 0, whole = 0;
        assert_true(tree_force(&tree, &bodies[i]));
        direct(&bodies[i], acc);
        for (unsigned k = 0; k < 3; k++) {
            wrong += pow(bodies[i].acc[k] - acc[k], 2);
            whole += acc[k] * acc[k];
        }
        sum += sqrt(wrong / whole) / BODIES;
    }
    return sum;
}

static void test_opens_all(void **state)
{
    assert_true(error(0) < 1e-12);
}

static void test_opens_some(void **state)
{
    double narrow = error(0.5), wide = error(1);
    assert_true(narrow > 1e-6 && narrow < 0.02);
    assert_true(wide > narrow && wide < 0.1);
}

/* Where bodies are in one place, there is a cell of them. */
static void test_same_place(void **state)
{
    cube_t cube;
    bodies_plummer(bodies, BODIES, 5);
    for (size_t i = 1; i < BODIES / 2; i++)
        memcpy(bodies[i].pos, bodies[0].pos, sizeof bodies[0].pos);
    tree_t tree = grow(&cube, 0.7);
    assert_true(fabs(tree.cells[0].mass - 1) < 1e-12);
    for (size_t i = 0; i < BODIES; i++) {
        assert_true(tree_force(&tree, &bodies[i]));
        assert_true(isfinite(bodies[i].acc[0]));
    }
}

/* Gathers a rank's own cells and those from others. */
static size_t gather(unsigned me, const uint64_t *split, double theta,
                     const cube_t *cube, cell_t *got)
{
    static cell_t part[BODIES], own[TREE_CELLS(BODIES)];
    size_t n = 0, first, end, looks;
    first = bodies_find(bodies, BODIES, split[me]);
    end = bodies_find(bodies, BODIES, split[me + 1]);
    box_t box = bodies_box(bodies + first, end - first);
    for (unsigned r = 0; r < PARTS; r++) {
        tree_t tree = {.cells = own, .theta2 = theta * theta};
        first = bodies_find(bodies, BODIES, split[r]);
        end = bodies_find(bodies, BODIES, split[r + 1]);
        for (size_t i = first; i < end; i++)
            part[i - first] = tree_item(&bodies[i]);
        tree_build(&tree, part, end - first, cube);
        if (r == me) {
            memcpy(got + n, part, (end - first) * sizeof *got);
            n += end - first;
        } else {
            n += tree_essential(&tree, &box, split[r], split[r + 1], got + n,
                                &looks);
        }
    }
    return n;
}

static void test_parts(void **state)
{
    static cell_t got[BODIES], cells_of_rank[TREE_CELLS(BODIES)];
    static body_t whole[BODIES];
    const double theta = 0.8;
    uint64_t split[PARTS + 1] = {0};
    cube_t cube;
    size_t sum = 0;
    bodies_plummer(bodies, BODIES, 9);
    tree_t tree = grow(&cube, theta);
    for (unsigned r = 1; r < PARTS; r++)
        split[r] = bodies[BODIES * r / PARTS].key;
    split[PARTS] = BODY_KEYS;
    for (size_t i = 0; i < BODIES; i++)
        tree_force(&tree, &bodies[i]);
    memcpy(whole, bodies, sizeof whole);
    for (unsigned r = 0; r < PARTS; r++) {
        tree_t part = tree;
        size_t n = gather(r, split, theta, &cube, got);
        sum += n;
        part.cells = cells_of_rank;
        tree_build(&part, got, n, &cube);
        for (size_t i = bodies_find(bodies, BODIES, split[r]);
             i < bodies_find(bodies, BODIES, split[r + 1]); i++) {
            assert_true(tree_force(&part, &bodies[i]));
            assert_memory_equal(bodies[i].acc, whole[i].acc,
                                sizeof whole[i].acc);
        }
    }
    assert_true(sum < PARTS * BODIES); /* some octants were closed */
}

/* A closed octant that would have to be opened is told. */
static void test_closed(void **state)
{
    cube_t cube;
    bodies_plummer(bodies, BODIES, 9);
    tree_t tree = grow(&cube, 0.8);
    cell_t closed = tree.cells[0];
    tree_build(&tree, &closed, 1, &cube);
    assert_false(tree_force(&tree, &bodies[0]));
}

static void test_split(void **state)
{
    samples_t samples[RANKS];
    uint64_t split[RANKS + 1], costs[RANKS], all;
    cube_t cube;
    bodies_plummer(bodies, BODIES, 3);
    grow(&cube, 1);
    for (size_t i = 0; i < BODIES; i++)
        bodies[i].cost = i < 100 ? 50 : 10;
    all = split_cost(bodies, BODIES);
    for (unsigned r = 0; r < RANKS; r++) /* unequal before */
        split_sample(bodies + (r ? 50 * r : 0), r == 2 ? BODIES - 100 : 50,
                     &samples[r]);
    assert_int_equal(split_keys(samples, RANKS, split), 0);
    assert_int_equal(split[0], 0);
    assert_true(split[RANKS] == BODY_KEYS);
    for (unsigned r = 0; r < RANKS; r++) {
        size_t first = bodies_find(bodies, BODIES, split[r]);
        costs[r] = split_cost(
            bodies + first, bodies_find(bodies, BODIES, split[r + 1]) - first);
        assert_in_range(costs[r], all / RANKS * 8 / 10, all / RANKS * 12 / 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens_all),  cmocka_unit_test(test_opens_some),
        cmocka_unit_test(test_same_place), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_closed),     cmocka_unit_test(test_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
