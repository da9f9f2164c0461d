/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks, dependences, taskloops, teams of the host. */
#include <omp.h>
#include <stdio.h>

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > 8) final(n < 5)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

/* Where the tasks of a loop begin. */
static void strict(void)
{
    int begun = 0;
    long first = 0, loops = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(strict : 7) firstprivate(begun)
        for (int i = 0; i < 100; i++)
            if (!begun++)
#pragma omp atomic
                first += i;
#pragma omp taskloop num_tasks(strict : 9) firstprivate(begun)
        for (int i = 100; i > 0; i--)
            if (!begun++)
#pragma omp atomic
                loops++;
    }
    printf("strict: %ld %ld\n", first, loops);
}

int main(void)
{
    long result = 0, sum = 0, chain = 1, grouped = 0, teams = 0, pieces = 0;
    int wrong = 0;
#pragma omp parallel
#pragma omp single
    {
        result = fibonacci(16);
#pragma omp task depend(out : chain)
        chain = 3;
#pragma omp task depend(inout : chain)
        chain *= 7;
#pragma omp task depend(in : chain) shared(wrong)
        wrong += chain != 21;
#pragma omp taskwait depend(in : chain)
#pragma omp taskgroup
        {
            for (int i = 0; i < 30; i++)
#pragma omp task firstprivate(i) untied
#pragma omp atomic
                grouped += i;
#pragma omp taskyield
        }
        wrong += grouped != 435;
    }
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(7)
        for (int i = 0; i < 100; i++)
#pragma omp atomic
            sum += i;
#pragma omp taskloop num_tasks(4)
        for (unsigned long long i = 50; i > 10; i -= 3)
#pragma omp atomic
            pieces += (long)i;
#pragma omp taskloop
        for (long i = 9; i > -9; i -= 2)
#pragma omp atomic
            pieces += i;
    }
    /* each thread makes tasks */
    int made = 0, threads = 0;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        for (int i = 0; i < 10; i++)
#pragma omp task
#pragma omp atomic
            made++;
    }
#pragma omp teams num_teams(1) reduction(+ : teams)
    {
        teams += omp_get_team_num() + 1;
#pragma omp distribute parallel for reduction(+ : teams)
        for (int i = 0; i < 10; i++)
            teams += i;
    }
    printf("tasks: %ld %ld %ld %ld %d %d\n", result, chain, grouped, sum, wrong,
           made / threads);
    printf("taskloops: %ld, teams %ld\n", pieces, teams);
    strict();
    return 0;
}
