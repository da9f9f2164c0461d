/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks, dependences, taskloops, teams of the host. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static void pause_of(int i)
{
    usleep(100 * (unsigned)(i * 7 % 5));
}

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

/* Tasks that are ordered by dependences, each after a pause of its own. */
static void orders(void)
{
    enum { TASKS = 60 };
    int chain[4] = {0}, wrong = 0, readers = 0, last = 0;
    omp_depend_t object;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < TASKS; i++)
#pragma omp task depend(inout : chain[i % 4]) firstprivate(i)
        {
            pause_of(i);
            if (chain[i % 4]++ != i / 4)
#pragma omp atomic
                wrong++;
        }
        for (int i = 0; i < 8; i++)
#pragma omp task depend(in : chain[0], chain[1]) firstprivate(i)
        {
            pause_of(i);
            if (chain[0] + chain[1] != TASKS / 2)
#pragma omp atomic
                wrong++;
#pragma omp atomic
            readers++;
        }
#pragma omp depobj(object) depend(inout : chain[0])
#pragma omp task depend(depobj : object)
        if (readers != 8)
#pragma omp atomic
            wrong++;
#pragma omp depobj(object) destroy
#pragma omp task depend(out : last)
        {
            pause_of(1);
            last = 1;
        }
#pragma omp task depend(in : last) if (0)
        wrong += last != 1;
#pragma omp task depend(mutexinoutset : last)
        last++;
#pragma omp task depend(mutexinoutset : last)
        last++;
#pragma omp taskwait depend(in : last)
        wrong += last != 3;
    }
    printf("orders: %d %d %d\n", wrong, chain[3], last);
}

/* A thread in taskwait waits for the children of its task, one at the end of a
 * group for all tasks below, and one in a barrier for all tasks. */
static void waits(void)
{
    int children = 0, below = 0, wrong = 0, final = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(i)
        {
            pause_of(i);
#pragma omp atomic
            children++;
        }
#pragma omp taskwait
        wrong += children != 10;
#pragma omp taskgroup
        for (int i = 0; i < 5; i++)
#pragma omp task firstprivate(i)
            for (int k = 0; k < 3; k++)
#pragma omp task firstprivate(i, k)
            {
                pause_of(i + k);
#pragma omp atomic
                below++;
            }
        wrong += below != 15;
#pragma omp task final(1)
        {
#pragma omp task
            final += omp_in_final();
            final += omp_in_final();
        }
#pragma omp taskloop nogroup
        for (int i = 0; i < 20; i++)
#pragma omp atomic
            below++;
    }
    wrong += below != 35 || final != 2 || omp_in_final();
    printf("waits: %d\n", wrong);
}

/* By a thread that sleeps in the barrier: the one that has made it is busy. */
static void run_by_another(void)
{
    enum { NAP_US = 1000, NAPS = 5000 };
    int ran = 0;
#pragma omp parallel
#pragma omp single
    {
        usleep(20 * NAP_US);
#pragma omp task shared(ran)
        {
#pragma omp atomic write
            ran = 1;
        }
        const int naps = omp_get_num_threads() > 1 ? NAPS : 0;
        for (int i = 0, seen = 0; i < naps && !seen; i++) {
#pragma omp atomic read
            seen = ran;
            usleep(NAP_US);
            if (i == NAPS - 1)
                printf("a task waits for the thread that has made it\n");
        }
    }
    printf("run: %d\n", ran);
}

/* A thread awaits one task while another one ends, many times. */
static void awaits_one(void)
{
    enum { TIMES = 20000 };
    int one = 0, other = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= TIMES; i++) {
#pragma omp task depend(out : one) shared(one) firstprivate(i)
        one = i;
#pragma omp task depend(out : other) shared(other)
        other++;
#pragma omp taskwait depend(in : one)
        wrong += one != i;
    }
    printf("awaits one: %d wrong, %d\n", wrong, other);
}

/* Many that end at the same time. */
static void short_tasks(void)
{
    enum { TIMES = 300, TASKS = 200 };
    static int done[TASKS];
    int wrong = 0;
#pragma omp parallel
#pragma omp single
    for (int time = 1; time <= TIMES; time++) {
        for (int i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i)
            done[i]++;
#pragma omp taskwait
        for (int i = 0; i < TASKS; i++)
            wrong += done[i] != time;
    }
    printf("short tasks: %d wrong\n", wrong);
}

int main(void)
{
    orders();
    waits();
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
    awaits_one();
    short_tasks();
    run_by_another();
    return 0;
}
