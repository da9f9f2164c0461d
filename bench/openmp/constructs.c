/* SPDX-License-Identifier: BSD-3-Clause */
/* What constructs of OpenMP cost: microseconds of each, a line for each.
 * scripts/compare-openmp compiles it with railomp-cc and with gcc. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long counter;

/* The compiler must keep a construct around it. */
static void nothing(void)
{
    __asm__ volatile("");
}

static void regions(long times)
{
    for (long i = 0; i < times; i++) {
#pragma omp parallel
        nothing();
    }
}

static void regions_with_argument(long times)
{
    long sum = 0;
    for (long i = 0; i < times; i++) {
#pragma omp parallel
        if (omp_get_thread_num() == 0)
            sum++;
    }
    counter = sum;
}

static void reductions(long times)
{
    long sum = 0;
    for (long i = 0; i < times; i++) {
#pragma omp parallel reduction(+ : sum)
        sum++;
    }
    counter = sum;
}

static void barriers(long times)
{
#pragma omp parallel
    for (long i = 0; i < times; i++) {
#pragma omp barrier
    }
}

static void sections(long times)
{
#pragma omp parallel
    for (long i = 0; i < times; i++) {
#pragma omp critical
        nothing();
    }
}

static void counted_sections(long times)
{
#pragma omp parallel
    for (long i = 0; i < times; i++) {
#pragma omp critical
        counter++;
    }
}

static void atomics(long times)
{
#pragma omp parallel
    for (long i = 0; i < times; i++) {
#pragma omp atomic
        counter++;
    }
}

static void chunks(long times)
{
#pragma omp parallel for schedule(dynamic)
    for (long i = 0; i < times; i++)
        nothing();
}

static const struct construct {
    const char *name;
    void (*run)(long times);
    int by_each; /* each thread meets it so many times */
} constructs[] = {
    {"empty region", regions, 0},
    {"region with a shared variable", regions_with_argument, 0},
    {"region with a reduction", reductions, 0},
    {"barrier", barriers, 0},
    {"critical section", sections, 1},
    {"critical section with a counter", counted_sections, 1},
    {"atomic addition", atomics, 1},
    {"chunk of a dynamic loop", chunks, 0},
};

static double microseconds(const struct construct *c, long times)
{
    c->run(times / 10 + 1);
    const double start = omp_get_wtime();
    c->run(times);
    const double us = 1e6 * (omp_get_wtime() - start);
    return us / (double)(c->by_each ? times * omp_get_max_threads() : times);
}

int main(int argc, char **argv)
{
    const long times = argc > 1 ? atol(argv[1]) : 10000;
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++)
        printf("%.4f %s\n", microseconds(&constructs[i], times),
               constructs[i].name);
    return 0;
}
