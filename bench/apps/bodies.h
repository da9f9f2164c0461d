/* SPDX-License-Identifier: BSD-3-Clause */
/* Bodies of N-BODY: their places, their order, their motion. */
#ifndef BENCH_APPS_BODIES_H
#define BENCH_APPS_BODIES_H

#include <stddef.h>
#include <stdint.h>

/** Digits of a key: octants within octants. */
#define BODY_LEVELS 21
/** One more than the last key. */
#define BODY_KEYS (UINT64_C(1) << 3 * BODY_LEVELS)

typedef struct body {
    double pos[3], vel[3], acc[3], mass;
    uint64_t key;
    uint32_t id;
    uint32_t cost; /**< cells that the last force has taken */
} body_t;

/** Empty: low above high. */
typedef struct box {
    double low[3], high[3];
} box_t;

/** What contains all bodies: keys are of places in it. */
typedef struct cube {
    double low[3], side;
} cube_t;

/** Plummer's model in the units of M. Hénon (G = M = 1, energy -1/4), as
 *  S. Aarseth, M. Hénon, R. Wielen, "A comparison of numerical methods for the
 *  study of star cluster dynamics", 1974, draw it. The centre rests at 0. */
void bodies_plummer(body_t *bodies, size_t n, uint64_t seed);

box_t bodies_box(const body_t *bodies, size_t n);
void box_add(box_t *box, const box_t *other);
cube_t box_cube(const box_t *box);

/** Gives all their keys (Morton's order), and sorts them by these, then by
 *  their id. */
void bodies_sort(body_t *bodies, size_t n, const cube_t *cube);
/** The first of sorted bodies with at least this key. */
size_t bodies_find(const body_t *bodies, size_t n, uint64_t key);

/** Leapfrog: half a kick and, before it or after, the way of a step. */
void bodies_kick(body_t *bodies, size_t n, double half);
void bodies_drift(body_t *bodies, size_t n, double step);

double bodies_kinetic(const body_t *bodies, size_t n);

#endif
