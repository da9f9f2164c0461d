/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads share and what they keep: data, heap, stacks, threadprivate;
 * critical sections, locks, barriers. Prints the same for any number of
 * threads, but for that number. */
#define _GNU_SOURCE
#ifndef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2 /* then functions have other names, too */
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 4000 };
static int in_data = 3, in_bss[N];
static int mine = 5;
static struct {
    double x[6];
    int n;
} record;
#pragma omp threadprivate(mine, record)

static void memory(void)
{
    int on_stack[100] = {0}, *on_heap = malloc(N * sizeof *on_heap);
    int sum = 0, *by_threads[64] = {0}, threads = 0, wrong = 0;
    char *text = strdup("shared text");
    in_data = 4;
#pragma omp parallel reduction(+ : sum, wrong)
    {
        const int id = omp_get_thread_num();
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < N; i++) {
            in_bss[i] = i + in_data;
            on_heap[i] = -i;
        }
#pragma omp for
        for (int i = 0; i < 100; i++)
            on_stack[i] = i;
#pragma omp for
        for (int i = 0; i < N; i++)
            sum += in_bss[N - 1 - i] + on_heap[i];
        by_threads[id] = calloc(10, sizeof(int));
        by_threads[id][3] = id + 1;
#pragma omp barrier
        wrong += by_threads[(id + 1) % threads][3] != (id + 1) % threads + 1;
        wrong += strcmp(text, "shared text") != 0;
        int local = id * 10;
        int *const *const all = by_threads;
#pragma omp barrier
        all[id][4] = local;
#pragma omp barrier
        wrong += all[threads - 1 - id][4] != (threads - 1 - id) * 10;
    }
    int stack_sum = 0;
    for (int i = 0; i < 100; i++)
        stack_sum += on_stack[i];
    for (int i = 0; i < threads; i++)
        free(by_threads[i]);
    on_heap = realloc(on_heap, 2 * N * sizeof *on_heap);
    printf("memory: %d %d %d %d\n", sum, stack_sum, wrong, on_heap[N - 1]);
    free(on_heap);
    free(text);
}

/* A thread uses a variable on another thread's stack. */
static void stacks(void)
{
    int *published = NULL, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int here = 0;
        for (int round = 0; round < 20; round++) {
#pragma omp single
            {
                here = round * 3;
                published = &here;
            }
            wrong += *published != round * 3;
#pragma omp barrier
        }
    }
    printf("stacks: %d wrong\n", wrong);
}

static void threadprivates(void)
{
    int wrong = 0;
    mine = 50;
    record.x[5] = 2.5;
    record.n = 7;
#pragma omp parallel copyin(mine, record) reduction(+ : wrong)
    {
        wrong += mine != 50 || record.x[5] != 2.5 || record.n != 7;
        mine += omp_get_thread_num();
    }
#pragma omp parallel reduction(+ : wrong)
    {
        wrong += mine != 50 + omp_get_thread_num();
#pragma omp single copyprivate(mine)
        mine = -1;
        wrong += mine != -1;
    }
    printf("threadprivate: %d wrong\n", wrong);
}

static void critical_sections(void)
{
    static long a, b, c;
    int nested = 0;
#pragma omp parallel
    for (int i = 0; i < 60; i++) {
#pragma omp critical
        a++;
#pragma omp critical(one)
        {
            b += 2;
#pragma omp critical(two)
            c += b % 2 + 1;
        }
#pragma omp critical(two)
        nested++;
    }
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    printf("critical: %ld %ld %ld %d\n", a / threads, b / threads, c / threads,
           nested / threads);
}

static void locks(void)
{
    static omp_lock_t lock;
    static omp_nest_lock_t nest;
    static int under, tested, nested, depths, threads;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        for (int i = 0; i < 40; i++) {
            omp_set_lock(&lock);
            under++;
            omp_unset_lock(&lock);
            while (!omp_test_lock(&lock))
                ;
            tested++;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            depths += omp_test_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            nested++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("locks: %d %d %d %d\n", under / threads, tested / threads,
           nested / threads, depths / threads);
}

static void barriers(void)
{
    static int step[64];
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num(), all = omp_get_num_threads();
        for (int i = 1; i <= 50; i++) {
            step[id] = i;
#pragma omp barrier
            wrong += step[(id + 1) % all] != i;
#pragma omp barrier
        }
    }
    printf("barriers: %d wrong\n", wrong);
}

static void array_reductions(void)
{
    double sums[8] = {0};
    long low = 0, high = 0;
#pragma omp parallel for reduction(+ : sums[:8], low, high)
    for (int i = 0; i < N; i++) {
        sums[i % 8] += i;
        low += i < N / 2;
        high += i >= N / 2;
    }
    printf("arrays: %g %g %ld %ld\n", sums[0], sums[7], low, high);
}

/* System calls on shared memory. */
static void files(void)
{
    static double out[N], in[N];
    double *heap = malloc(N * sizeof *heap);
    FILE *file = tmpfile();
    volatile size_t bytes = sizeof in;
    int wrong = 0;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++) {
            out[i] = i * 0.25 + round;
            in[i] = heap[i] = -1;
        }
        rewind(file);
        wrong += fwrite(out, sizeof *out, N, file) != N;
        fflush(file);
        wrong += pwrite(fileno(file), out, sizeof out, 0) != sizeof out;
        lseek(fileno(file), 0, SEEK_SET);
        wrong +=
            (round == 0   ? read(fileno(file), in, sizeof in)
             : round == 1 ? read(fileno(file), in, bytes)
                          : pread(fileno(file), in, bytes, 0)) != sizeof in;
        rewind(file);
        wrong += fread(heap, sizeof *heap, N, file) != N;
#pragma omp parallel for reduction(+ : wrong)
        for (int i = 0; i < N; i++)
            wrong += in[N - 1 - i] != out[N - 1 - i] ||
                     heap[N - 1 - i] != out[N - 1 - i];
    }
    fclose(file);
    free(heap);
    printf("files: %d wrong\n", wrong);
}

/* Memory that functions of the C library return. */
static void returned(void)
{
    static char *text, *root, *here, *line;
    size_t room = 0;
    int wrong = 0;
    FILE *file = tmpfile();
    fputs("one\na second line\n", file);
    rewind(file);
#pragma omp parallel reduction(+ : wrong)
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            wrong += asprintf(&text, "%s %d", "text", 42) != 7;
            root = realpath("/usr/..", NULL);
            here = getcwd(NULL, 0);
        }
#pragma omp master
        while (getline(&line, &room, file) >= 0)
            ;
#pragma omp barrier
        wrong += strcmp(text, "text 42") || strcmp(root, "/") || *here != '/';
        wrong += strcmp(line, "a second line\n");
    }
    line = realloc(line, 2 * room);
    wrong += line[0] != 'a';
    fclose(file);
    free(line);
    free(text);
    free(root);
    free(here);
    printf("returned: %d wrong\n", wrong);
}

struct vec {
    double x, y;
};
#pragma omp declare reduction(plus                                             \
                              : struct vec                                     \
                              : omp_out.x += omp_in.x, omp_out.y += omp_in.y)  \
    initializer(omp_priv = {0, 0})

static void declared_reductions(void)
{
    struct vec sum = {1, 2};
#pragma omp parallel for reduction(plus : sum)
    for (int i = 0; i < N; i++) {
        sum.x += i;
        sum.y -= i;
    }
    printf("declared: %g %g\n", sum.x, sum.y);
}

/* Regions in regions have one thread. */
static void nested(void)
{
    int wrong = 0, sum = 0;
#pragma omp parallel reduction(+ : wrong, sum)
    {
        const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3) reduction(+ : wrong, sum)
        {
            wrong += omp_get_num_threads() != 1 || omp_get_level() != 2;
            wrong += omp_get_ancestor_thread_num(1) != outer;
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 10; i++)
                sum += i;
#pragma omp single
            sum++;
        }
    }
    int threads = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    printf("nested: %d wrong, %d\n", wrong, sum / threads);
}

static void sizes(void)
{
    int seen[4] = {0};
#pragma omp parallel num_threads(3)
#pragma omp atomic
    seen[0]++;
#pragma omp parallel num_threads(1)
    seen[1] += omp_get_num_threads();
#pragma omp parallel if (seen[1] > 7)
    seen[2] += omp_get_num_threads();
    omp_set_num_threads(2);
#pragma omp parallel
#pragma omp atomic
    seen[3]++;
    printf("sizes: %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3]);
}

int main(void)
{
    memory();
    stacks();
    threadprivates();
    critical_sections();
    locks();
    barriers();
    array_reductions();
    files();
    returned();
    declared_reductions();
    nested();
    sizes();
    printf("%d levels, parallel %d, wtime %d\n", omp_get_level(),
           omp_in_parallel(), omp_get_wtime() > 0 && omp_get_wtick() > 0);
    return 3;
}
