/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a bond carry out each part of a work once, also when they come
 * late, and when they sleep meanwhile. */
#include "unit.h"

#include <stdatomic.h>
#include <time.h>

#include "providers/bond/members/members.h"

#define WORKS 20000u
#define PARTS 7u

static unsigned times[PARTS]; /* that each part was carried out */

static void count(void *arg, unsigned part)
{
    times[part] += *(unsigned *)arg;
}

static void each_part_once(void **state)
{
    static struct bond_ia b = {.params.count = 4};
    const struct timespec rest = {.tv_nsec = 100000};
    assert_int_equal(bond_team_start(&b), 0);
    for (unsigned work = 1; work <= WORKS; work++) {
        unsigned parts = work % PARTS + 1;
        memset(times, 0, sizeof times);
        bond_team_run(&b, parts, count, &work);
        for (unsigned i = 0; i < PARTS; i++)
            assert_int_equal(times[i], i < parts ? work : 0);
        if (work % 100 == 0) /* the threads fall asleep */
            nanosleep(&rest, NULL);
    }
    atomic_store(&b.stop, true);
    bond_team_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
