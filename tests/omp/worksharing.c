/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of all schedules, sections, single, ordered. Prints the same for any
 * number of threads. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1003 };
static int times[N];

static void check(const char *name)
{
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        wrong += times[i] != 1;
        times[i] = 0;
    }
    printf("%s: %d wrong\n", name, wrong);
}

/* Each iteration runs once. */
#define LOOP(name, clauses)                                                    \
    _Pragma(clauses) for (int i = 0; i < N; i++) times[i]++;                   \
    check(name);

static void schedules(void)
{
    LOOP("static", "omp parallel for schedule(static)")
    LOOP("static, 7", "omp parallel for schedule(static, 7)")
    LOOP("dynamic", "omp parallel for schedule(dynamic)")
    LOOP("dynamic, 13", "omp parallel for schedule(dynamic, 13)")
    LOOP("guided", "omp parallel for schedule(guided)")
    LOOP("guided, 5", "omp parallel for schedule(guided, 5)")
    LOOP("monotonic", "omp parallel for schedule(monotonic: dynamic, 3)")
    LOOP("nonmonotonic", "omp parallel for schedule(nonmonotonic: guided)")
    LOOP("auto", "omp parallel for schedule(auto)")
    LOOP("runtime", "omp parallel for schedule(runtime)")
    for (int kind = omp_sched_static; kind <= omp_sched_auto; kind++) {
        omp_set_schedule((omp_sched_t)kind, 11);
        LOOP("runtime", "omp parallel for schedule(runtime)")
    }
}

static void in_a_region(void)
{
    long long sum = 0;
    int last = -1;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 10) nowait
        for (int i = 0; i < N; i++)
            times[i] += i % 2;
#pragma omp for schedule(dynamic, 10) nowait
        for (int i = 0; i < N; i++)
            sum += i;
#pragma omp for schedule(guided) nowait
        for (long i = N - 1; i >= 0; i -= 3)
            sum += i;
#pragma omp for schedule(dynamic) nowait
        for (unsigned long long i = ~0ULL - 30; i < ~0ULL - 2; i += 4)
            sum += (long long)(~0ULL - i);
#pragma omp for schedule(static, 2) collapse(2)
        for (int i = 0; i < 17; i++)
            for (int j = 0; j < 19; j++)
                sum += i * j;
#pragma omp for schedule(dynamic, 3) lastprivate(last)
        for (int i = 0; i < N; i++) {
            times[i] += !(i % 2);
            last = i;
        }
    }
    check("nowait");
    printf("sum: %lld, last %d\n", sum, last);
}

static void repeated(void)
{
    long sum = 0;
#pragma omp parallel
    for (int round = 0; round < 200; round++) {
#pragma omp for schedule(dynamic) reduction(+ : sum) nowait
        for (int i = 0; i < 5; i++)
            sum += i + round;
    }
    printf("200 loops: %ld\n", sum);
}

/* An empty loop, and one with fewer iterations than threads. */
static void short_loops(void)
{
    int count = 0;
#pragma omp parallel reduction(+ : count)
    {
#pragma omp for schedule(dynamic)
        for (int i = 5; i < 5; i++)
            count += 1000;
#pragma omp for schedule(guided)
        for (int i = 0; i < 1; i++)
            count++;
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++)
            count++;
    }
    printf("short: %d\n", count);
}

#define ORDERED(name, clauses)                                                 \
    {                                                                          \
        int next = 0, wrong = 0;                                               \
        _Pragma(clauses) for (int i = 0; i < 101; i++)                         \
        {                                                                      \
            times[i]++;                                                        \
            _Pragma("omp ordered")                                             \
            {                                                                  \
                wrong += next != i;                                            \
                next = i + 1;                                                  \
            }                                                                  \
        }                                                                      \
        printf("ordered, %s: %d wrong, %d\n", name, wrong, next);              \
        for (int i = 0; i < 101; i++)                                          \
            times[i] = 0;                                                      \
    }

static void ordered(void)
{
    ORDERED("static", "omp parallel for ordered schedule(static)")
    ORDERED("static, 3", "omp parallel for ordered schedule(static, 3)")
    ORDERED("dynamic", "omp parallel for ordered schedule(dynamic)")
    ORDERED("dynamic, 4", "omp parallel for ordered schedule(dynamic, 4)")
    ORDERED("guided", "omp parallel for ordered schedule(guided)")
    ORDERED("runtime", "omp parallel for ordered schedule(runtime)")
}

/* A thread may be many loops ahead of the others. Nothing orders the regions of
 * one loop against those of the next, so each loop has a sum of its own. */
static void ordered_ahead(void)
{
    int sums[150] = {0}, next[150] = {0}, sum = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    for (int loop = 0; loop < 150; loop++) {
#pragma omp for ordered nowait schedule(static)
        for (int i = 0; i < 16; i++) {
#pragma omp ordered
            {
                wrong += next[loop]++ != i;
                sums[loop] += i;
            }
        }
    }
    for (int loop = 0; loop < 150; loop++)
        sum += sums[loop];
    printf("ordered, ahead: %d, %d wrong\n", sum, wrong);
}

/* Chunks without an ordered region have turns, too. */
static void ordered_now_and_then(void)
{
    int next = 1, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 300; i++) {
        if (i % 3 != 1)
            continue;
#pragma omp ordered
        {
            wrong += next != i;
            next = i + 3;
        }
    }
    printf("ordered, now and then: %d wrong, %d\n", wrong, next);
}

static void sections(void)
{
    int ran[5] = {0}, last = 0;
#pragma omp parallel sections
    {
#pragma omp section
        ran[0]++;
#pragma omp section
        ran[1]++;
    }
#pragma omp parallel
    {
#pragma omp sections nowait
        {
#pragma omp section
            ran[2]++;
#pragma omp section
            ran[3]++;
        }
#pragma omp sections lastprivate(last)
        {
#pragma omp section
            last = 1;
#pragma omp section
            {
                ran[4]++;
                last = 2;
            }
        }
    }
    printf("sections: %d %d %d %d %d, last %d\n", ran[0], ran[1], ran[2],
           ran[3], ran[4], last);
}

static void singles(void)
{
    int ran = 0, copies = 0, bad = 0, masters = 0, all = 0;
#pragma omp parallel reduction(+ : bad, copies)
    {
        for (int round = 0; round < 50; round++) {
            double mine = -1;
            char text[8] = "";
#pragma omp single nowait
            ran++;
#pragma omp barrier
#pragma omp single copyprivate(mine, text)
            {
                mine = round * 2.5;
                snprintf(text, sizeof text, "r%d", round);
            }
            bad += mine != round * 2.5 || atoi(text + 1) != round;
#pragma omp single
            copies++;
        }
#pragma omp master
        masters++;
#pragma omp barrier
#pragma omp masked
        all = omp_get_thread_num() + 100;
    }
    printf("singles: %d %d %d %d %d\n", ran, copies, bad, masters, all);
}

/* Outside of regions a team has one thread. */
static void orphaned(void)
{
    int sum = 0;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; i++)
        sum += i;
#pragma omp sections
    {
#pragma omp section
        sum += 100;
    }
#pragma omp single
    sum += 1000;
#pragma omp barrier
#pragma omp critical
    sum += 10000;
    printf("orphaned: %d\n", sum);
}

/* A thread that the program has made begins a region after those of main. */
static int in_thread, ran_in_thread;
static void *own_thread(void *unused)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < N; i++)
#pragma omp atomic
            in_thread++;
#pragma omp single
        ran_in_thread++;
    }
    return unused;
}

static void own_threads(void)
{
    pthread_t id;
    for (int round = 0; round < 2; round++) {
        pthread_create(&id, NULL, own_thread, NULL);
        pthread_join(id, NULL);
        own_thread(NULL);
    }
    printf("own threads: %d %d\n", in_thread, ran_in_thread);
}

int main(void)
{
    schedules();
    in_a_region();
    repeated();
    short_loops();
    ordered();
    ordered_ahead();
    ordered_now_and_then();
    sections();
    singles();
    orphaned();
    own_threads();
    return 0;
}
