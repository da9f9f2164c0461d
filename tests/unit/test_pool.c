/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmark pins its OpenMP pool itself, as the library does not. */
#include <dirent.h>

#include "unit.h"
#include "bench/pair/pool.h"

#define THREADS 3u

/* Threads of this process that may run on this core only. */
static unsigned count_on(int cpu)
{
    unsigned n = 0;
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (struct dirent *d; (d = readdir(threads));) {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (d->d_name[0] == '.' ||
            sched_getaffinity(atoi(d->d_name), sizeof set, &set))
            continue;
        n += CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set);
    }
    closedir(threads);
    return n;
}

/* From the last allowed core on, and round again. */
static void in_turn(void **state)
{
    cores_t cores;
    unsigned want[CPU_SETSIZE] = {0};
    cores_allowed(&cores);
    assert_true(cores.count > 0);
    unsigned base = cores.count - 1;
    pool_pin(&cores, base, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        want[(base + i) % cores.count]++;
    for (unsigned c = 0; c < cores.count; c++)
        assert_int_equal(count_on(cores.cpu[c]), want[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
