/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/apps: the model that bodies start from, and the energy that they keep
 * over many steps. */
#include <math.h>
#include "unit.h"
#include "bench/apps/nbody.h"

#define BODIES 300

static double energy(const body_t *bodies, size_t n)
{
    double sum = bodies_kinetic(bodies, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double d2 = NBODY_SOFT * NBODY_SOFT;
            for (unsigned k = 0; k < 3; k++)
                d2 += pow(bodies[i].pos[k] - bodies[j].pos[k], 2);
            sum -= bodies[i].mass * bodies[j].mass / sqrt(d2);
        }
    return sum;
}

static void play(nbody_t *p)
{
    nbody_reset(p);
    assert_true(nbody_solve(p) > 0);
    assert_true(fabs(p->kinetic - bodies_kinetic(p->solution, p->n)) < 1e-12);
}

static void test_energy(void **state)
{
    static body_t first[BODIES];
    nbody_t p = {.steps = 100, .theta2 = 0.25};
    assert_int_equal(nbody_make(&p, BODIES), 0);
    bodies_plummer(p.start, BODIES, 2);
    double before = energy(p.start, BODIES);
    assert_true(fabs(before + 0.25) < 0.05);
    play(&p);
    assert_true(fabs(energy(p.solution, BODIES) / before - 1) < 0.01);
    for (size_t i = 0; i < BODIES; i++)
        assert_int_equal(p.solution[i].id, i);

    /* another time the same */
    memcpy(first, p.solution, sizeof first);
    play(&p);
    assert_memory_equal(first, p.solution, sizeof first);
    nbody_free(&p);
}

/* Two bodies on a circle: after half a turn they have changed places. */
static void test_circle(void **state)
{
    const double d2 = 1 + NBODY_SOFT * NBODY_SOFT;
    const double speed = sqrt(0.25 / (d2 * sqrt(d2)));
    body_t start[2] = {
        {.pos = {0.5}, .vel = {0, speed}, .mass = 0.5},
        {.pos = {-0.5}, .vel = {0, -speed}, .mass = 0.5, .id = 1}};
    nbody_t p = {.steps = (unsigned)(M_PI / 2 / speed / NBODY_STEP + 0.5),
                 .theta2 = 1};
    assert_int_equal(nbody_make(&p, 2), 0);
    memcpy(p.start, start, sizeof start);
    play(&p);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 3; k++)
            assert_true(fabs(p.solution[i].pos[k] - start[1 - i].pos[k]) <
                        0.02);
    nbody_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
