/* SPDX-License-Identifier: BSD-3-Clause */
/* target where there is no device, teams, cancel, allocators, and affinity. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

#pragma omp declare target
static int offset = 3;
static int square(int x)
{
    return x * x + offset;
}
#pragma omp end declare target

static int a[N], b[N];

/* firstprivate variables are copies, all others the program's own. */
static void variables(void)
{
    int sum = 0, one = 5;
    double four[4] = {1, 2, 3, 4};
#pragma omp target map(tofrom : sum) firstprivate(one, four)
    {
        one++;
        four[0] = 9;
        sum = one + (int)four[0];
    }
    printf("%d %d %g\n", sum, one, four[0]);
}

static void loops(void)
{
    int sum = 0;
#pragma omp target data map(to : a) map(from : b)
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
            a[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : sum)             \
    reduction(+ : sum)
        for (int i = 0; i < N; i++) {
            b[i] = square(a[i] % 10);
            sum += b[i];
        }
#pragma omp target update from(b)
    }
#pragma omp target enter data map(to : a)
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : a)
        a[1] = 70;
#pragma omp target depend(inout : a) map(a)
        a[1] += 7;
    }
#pragma omp target exit data map(from : a)
    printf("%d %d %d\n", sum, b[77], a[1]);
}

/* A target region in others has a thread of its own, whose team loops and
 * barriers belong to. */
static void in_regions(void)
{
    int iterations = 0, number = -1;
#pragma omp parallel reduction(+ : iterations)
    {
#pragma omp target map(tofrom : iterations)
#pragma omp for
        for (int i = 0; i < N; i++)
            iterations++;
#pragma omp single
#pragma omp target map(from : number)
        {
#pragma omp barrier
            number = 10 * omp_get_thread_num() + omp_get_num_threads();
        }
    }
    printf("%d %d\n", iterations == N * omp_get_max_threads(), number);
}

static void memory(void)
{
    const int device = omp_get_default_device(),
              host = omp_get_initial_device();
    const size_t volume[] = {2, 3}, to[] = {1, 1}, from[] = {0, 2};
    const size_t to_extent[] = {4, 5}, from_extent[] = {3, 6};
    int *p = omp_target_alloc(100 * sizeof *p, device);
    int grid[20] = {0}, other[18];
#pragma omp target teams num_teams(3) is_device_ptr(p)
    p[omp_get_team_num()] = omp_get_num_teams();
    omp_target_memcpy(grid, p, 3 * sizeof *p, sizeof *p, 0, host, device);
    printf("%d %d %d %d %d\n", grid[1], grid[3], omp_is_initial_device(),
           omp_get_num_devices(), omp_target_is_present(grid, host));
    for (int i = 0; i < 18; i++)
        other[i] = i;
    omp_target_memcpy_rect(grid, other, sizeof *grid, 2, volume, to, from,
                           to_extent, from_extent, host, host);
    for (int i = 0; i < 20; i++)
        printf(" %d", grid[i]);
    printf("\n");
    omp_target_free(p, device);
}

static void teams(void)
{
    int sum = 0, most = 0;
#pragma omp teams num_teams(4) reduction(+ : sum) reduction(max : most)
    {
        sum += 10 * omp_get_team_num() + omp_get_num_teams();
#pragma omp distribute parallel for reduction(max : most)
        for (int i = 0; i < 8; i++) {
            most = most > omp_get_team_num() ? most : omp_get_team_num();
#pragma omp atomic
            a[i]++;
        }
    }
    printf("%d %d %d %d %d\n", sum, most, a[3], omp_get_num_teams(),
           omp_get_team_num());
}

static void limits(void)
{
    int threads[2] = {0}, limit[2] = {0};
#pragma omp teams num_teams(2) thread_limit(2)
    {
#pragma omp parallel
#pragma omp single
        {limit[0] = omp_get_thread_limit();
    threads[0] = omp_get_num_threads();
}
}
#pragma omp target teams num_teams(2) thread_limit(3) map(tofrom               \
                                                          : threads, limit)
{
#pragma omp parallel
#pragma omp single
    {
        limit[1] = omp_get_thread_limit();
        threads[1] = omp_get_num_threads();
    }
}
printf("%d %d %d %d %d\n", threads[0], limit[0], threads[1], limit[1],
       omp_get_thread_limit() > 3);
}

/* OMP_CANCELLATION is not set: it has no effect. */
static void cancel(void)
{
    int loop = 0, sections = 0, tasks = 0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : loop)
        for (int i = 0; i < N; i++) {
            loop++;
#pragma omp cancel for if (i == 5)
#pragma omp cancellation point for
        }
#pragma omp sections reduction(+ : sections)
        {
#pragma omp section
            {
#pragma omp cancel sections
                sections++;
            }
#pragma omp section
            sections++;
        }
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < 9; i++)
#pragma omp task shared(tasks)
        {
#pragma omp cancel taskgroup if (i == 3)
#pragma omp atomic
            tasks++;
        }
#pragma omp barrier
#pragma omp cancel parallel
    }
    printf("%d %d %d %d\n", loop, sections, tasks, omp_get_cancellation());
}

static void allocators(void)
{
    const omp_alloctrait_t traits[] = {{omp_atk_alignment, 4096}};
    const omp_allocator_handle_t own =
        omp_init_allocator(omp_default_mem_space, 1, traits);
    const omp_alloctrait_t odd[] = {{omp_atk_alignment, 24}};
    int *x = omp_alloc(sizeof *x, own);
    int *y = omp_calloc(N, sizeof *y, omp_default_mem_alloc);
    int *z = omp_aligned_calloc(64, N, sizeof *z, omp_null_allocator);
    int zeros = 0, sum = 0;
    printf("%d %d %d %d\n", (int)((uintptr_t)x % 4096),
           (int)((uintptr_t)z % 64),
           omp_get_default_allocator() == omp_default_mem_alloc,
           omp_init_allocator(omp_default_mem_space, 1, odd) ==
               omp_null_allocator);
#pragma omp parallel for reduction(+ : zeros)
    for (int i = 0; i < N; i++) {
        zeros += !y[i] + !z[i];
        y[i] = i;
    }
    y = omp_realloc(y, 9 * N * sizeof *y, own, omp_default_mem_alloc);
    omp_set_default_allocator(own);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += y[i];
    printf("%d %d %d %d\n", zeros, sum, (int)((uintptr_t)y % 4096),
           omp_get_default_allocator() == own);
    omp_set_default_allocator(omp_default_mem_alloc);
    omp_free(x, own);
    omp_free(y, own);
    omp_free(z, omp_null_allocator);
    omp_destroy_allocator(own);
}

/* Fields of all widths; text that is longer than its room. */
static void affinity(void)
{
    static char lines[64][100];
    char text[100];
    int length = (int)omp_get_affinity_format(text, sizeof text);
    printf("%d %s\n", length, text);
    omp_set_affinity_format(
        "L%L|%4n|%.4n|%0.4n|%0.6{thread_num}|%{num_threads}|%8N|%%|%a|%T%t");
#pragma omp parallel
    omp_capture_affinity(lines[omp_get_thread_num()], 100, NULL);
    for (int i = 0; i < omp_get_max_threads(); i++)
        printf("%s\n", lines[i]);
    length = (int)omp_capture_affinity(text, 4, "%0.8n");
    printf("%d %s\n", length, text);
    omp_capture_affinity(text, sizeof text, "%A");
    printf("%s\n", text);
    omp_set_affinity_format("level %L thread %i affinity %A");
}

int main(void)
{
    affinity();
    variables();
    loops();
    in_regions();
    memory();
    teams();
    limits();
    cancel();
    allocators();
    return 0;
}
