/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "app.h"
#include "bodies.h"

#define AXES 3

/* ----------------------------------------------------------- the model --- */

static void draw_direction(double *to, double length, uint64_t *seed)
{
    double z = 2 * app_uniform(seed) - 1;
    double phi = 2 * M_PI * app_uniform(seed), flat = sqrt(1 - z * z);
    to[0] = length * flat * cos(phi);
    to[1] = length * flat * sin(phi);
    to[2] = length * z;
}

/* In parts of the escape velocity: the density is x^2 (1 - x^2)^(7/2). */
static double draw_speed(uint64_t *seed)
{
    double x, y;
    do {
        x = app_uniform(seed);
        y = 0.1 * app_uniform(seed);
    } while (y > x * x * pow(1 - x * x, 3.5));
    return x;
}

static void rest_at_centre(body_t *bodies, size_t n)
{
    double pos[AXES] = {0}, vel[AXES] = {0};
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < AXES; k++) {
            pos[k] += bodies[i].pos[k] / (double)n;
            vel[k] += bodies[i].vel[k] / (double)n;
        }
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < AXES; k++) {
            bodies[i].pos[k] -= pos[k];
            bodies[i].vel[k] -= vel[k];
        }
}

void bodies_plummer(body_t *bodies, size_t n, uint64_t seed)
{
    const double unit = 3 * M_PI / 16; /* of length */
    for (size_t i = 0; i < n; i++) {
        double r, share;
        do { /* few are far away: without those */
            share = app_uniform(&seed);
            r = share > 0 ? 1 / sqrt(pow(share, -2.0 / 3) - 1) : 0;
        } while (r > 9);
        double escape = M_SQRT2 * pow(1 + r * r, -0.25);
        bodies[i] =
            (body_t){.mass = 1.0 / (double)n, .id = (uint32_t)i, .cost = 1};
        draw_direction(bodies[i].pos, unit * r, &seed);
        draw_direction(bodies[i].vel, escape * draw_speed(&seed) / sqrt(unit),
                       &seed);
    }
    rest_at_centre(bodies, n);
}

/* -------------------------------------------------------------- places --- */

box_t bodies_box(const body_t *bodies, size_t n)
{
    box_t box = {{INFINITY, INFINITY, INFINITY},
                 {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < AXES; k++) {
            box.low[k] = fmin(box.low[k], bodies[i].pos[k]);
            box.high[k] = fmax(box.high[k], bodies[i].pos[k]);
        }
    return box;
}

void box_add(box_t *box, const box_t *other)
{
    for (unsigned k = 0; k < AXES; k++) {
        box->low[k] = fmin(box->low[k], other->low[k]);
        box->high[k] = fmax(box->high[k], other->high[k]);
    }
}

cube_t box_cube(const box_t *box)
{
    cube_t cube = {.side = 0};
    for (unsigned k = 0; k < AXES; k++) {
        cube.low[k] = box->low[k];
        cube.side = fmax(cube.side, box->high[k] - box->low[k]);
    }
    return cube;
}

static uint64_t spread(uint64_t x) /* two zeros after each bit */
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

static uint64_t key_of(const body_t *body, const cube_t *cube)
{
    const double cells = 1 << BODY_LEVELS;
    uint64_t key = 0;
    for (unsigned k = 0; k < AXES; k++) {
        double at = cube->side > 0
                        ? (body->pos[k] - cube->low[k]) / cube->side * cells
                        : 0;
        key |= spread((uint64_t)fmin(at, cells - 1)) << k;
    }
    return key;
}

static int compare(const void *a, const void *b)
{
    const body_t *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void bodies_sort(body_t *bodies, size_t n, const cube_t *cube)
{
    for (size_t i = 0; i < n; i++)
        bodies[i].key = key_of(&bodies[i], cube);
    qsort(bodies, n, sizeof *bodies, compare);
}

size_t bodies_find(const body_t *bodies, size_t n, uint64_t key)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (bodies[middle].key < key)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* -------------------------------------------------------------- motion --- */

void bodies_kick(body_t *bodies, size_t n, double half)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < AXES; k++)
            bodies[i].vel[k] += bodies[i].acc[k] * half;
}

void bodies_drift(body_t *bodies, size_t n, double step)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < AXES; k++)
            bodies[i].pos[k] += bodies[i].vel[k] * step;
}

double bodies_kinetic(const body_t *bodies, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < AXES; k++)
            sum += bodies[i].mass * bodies[i].vel[k] * bodies[i].vel[k] / 2;
    return sum;
}
