/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads of a construct share besides its variables: reductions over
 * tasks, scans, lastprivate(conditional:). */
#include <omp.h>
#include <stdio.h>

enum { MOST = 900, VALUES = 600 };

struct vector {
    double x[VALUES];
};

static void add(struct vector *to, const struct vector *from)
{
    for (int i = 0; i < VALUES; i++)
        to->x[i] += from->x[i];
}
#pragma omp declare reduction(add                                              \
                              : struct vector                                  \
                              : add(&omp_out, &omp_in))                        \
    initializer(omp_priv = (struct vector){{0}})

/* A region, and constructs in it. */
static void of_constructs(int n)
{
    int loop = 0, scope = 0, sections = 0, region = 5, whole = 0;
#pragma omp parallel reduction(task, + : region)
    {
#pragma omp for reduction(task, + : loop)
        for (int i = 0; i < n; i++) {
#pragma omp task in_reduction(+ : loop)
            loop += i;
        }
        if (loop == n * (n - 1) / 2)
#pragma omp atomic
            whole++; /* all have added their copies */
#pragma omp scope reduction(task, + : scope)
        {
#pragma omp task in_reduction(+ : scope)
            scope++;
        }
#pragma omp sections reduction(task, + : sections)
        {
#pragma omp section
            {
#pragma omp task in_reduction(+ : sections)
                sections += n;
            }
#pragma omp section
            sections += 4;
        }
#pragma omp task in_reduction(+ : region)
        region += n;
        region++;
    }
    const int threads = omp_get_max_threads();
    printf("%d %d %d %d %d\n", loop, scope == threads, sections,
           region == 5 + (n + 1) * threads, whole == threads);
}

/* Groups in groups; variables of any size. */
static void of_groups(int n)
{
    int sum = 0, most = -1;
    struct vector v = {{0}};
    double all = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(add : v)
    for (int k = 0; k < 20; k++) {
#pragma omp task in_reduction(+ : sum) in_reduction(add : v)
        {
            sum += n;
            v.x[k] += k;
#pragma omp taskgroup task_reduction(max : most)
            {
#pragma omp task in_reduction(+ : sum) in_reduction(max : most)
                {
                    sum++;
                    most = most < n ? n : most;
                }
            }
        }
    }
    for (int i = 0; i < VALUES; i++)
        all += v.x[i];
    printf("%d %d %g\n", sum, most, all);
}

static void of_taskloops(int n)
{
    int sum = 0, product = 1;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop reduction(+ : sum) grainsize(3)
        for (int i = 0; i < n; i++)
            sum += i;
#pragma omp taskgroup task_reduction(* : product)
#pragma omp taskloop in_reduction(* : product) nogroup
        for (int i = 1; i < 9; i++)
            product *= i;
    }
    printf("%d %d\n", sum, product);
}

/* Groups of tasks where there is no region. */
static void of_main(int n)
{
    int sum = 0, group = 0;
#pragma omp taskloop shared(sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp taskgroup
#pragma omp task shared(group)
    group += n;
    printf("%d %d\n", sum, group);
}

static void conditional(int n)
{
    int a = -1, b = -1, c = -1;
#pragma omp parallel for lastprivate(conditional : a) schedule(dynamic)
    for (int i = 0; i < n; i++)
        if (i % 3 == 0)
            a = i;
#pragma omp parallel
    {
#pragma omp for lastprivate(conditional : b) nowait
        for (int i = 0; i < n; i++)
            if (i % 5 == 0)
                b = i;
#pragma omp for lastprivate(conditional : c) schedule(guided) ordered
        for (int i = 0; i < n; i++)
#pragma omp ordered
            if (i % 7 == 0)
                c = i;
    }
    printf("%d %d %d\n", a, b, c);
}

static void scans(int n)
{
    static int values[MOST], sums[MOST], before[MOST];
    int sum = 0, other = 0;
    long check = 0;
    for (int i = 0; i < n; i++)
        values[i] = i % 7;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; i++) {
        sum += values[i];
#pragma omp scan inclusive(sum)
        sums[i] = sum;
    }
#pragma omp parallel for reduction(inscan, + : other)
    for (int i = 0; i < n; i++) {
        before[i] = other;
#pragma omp scan exclusive(other)
        other += values[i];
    }
    for (int i = 0; i < n; i++)
        check = (31 * check + 3 * sums[i] + before[i]) % 1000003;
    printf("%d %d %ld\n", sum, other, check);
}

int main(void)
{
    for (int round = 0; round < 8; round++) {
        const int n = 40 + 107 * round;
        of_constructs(n);
        of_groups(n);
        of_taskloops(n);
        of_main(n);
        conditional(n);
        scans(n);
    }
    return 0;
}
