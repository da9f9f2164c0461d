/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipeline of threads, ordered by flags in plain memory, as LU of the NAS
 * Parallel Benchmarks has it: the loop that waits for a flag has a flush, and
 * no flush follows it; one flush ends what is written and its flag. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum { THREADS = 16, ROUNDS = 40, WORDS = 1200 };
static int flag[THREADS];
static long data[THREADS][WORDS];
static int errors;

static void await(int at, int value)
{
    while (flag[at] == value) {
#pragma omp flush(flag)
        sched_yield();
    }
}

static void work(int id, int round)
{
    int wrong = 0;
    for (int w = 0; w < WORDS; w++) {
        const long before = id ? data[id - 1][w] : round;
        wrong += before != round + (long)id * w;
        data[id][w] = before + w;
    }
    if (wrong) {
#pragma omp critical
        errors += wrong;
    }
}

int main(void)
{
#pragma omp parallel
    {
        const int id = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        for (int round = 1; round <= ROUNDS; round++) {
            if (id > 0)
                await(id - 1, 0);
            if (id < last)
                await(id, 1);
            work(id, round);
            if (id > 0)
                flag[id - 1] = 0;
            if (id < last)
                flag[id] = 1;
#pragma omp flush(flag)
        }
    }
    printf("errors: %d\n", errors);
    return errors != 0;
}
