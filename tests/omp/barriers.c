/* SPDX-License-Identifier: BSD-3-Clause */
/* Each construct that waits for threads. One thread comes late on purpose; the
 * others must wait for it, or they read old values. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LATE_US = 20000, MOST = 64, ROUNDS = 3 };

static int cell[MOST];

static void late(int is_it)
{
    if (is_it)
        usleep(LATE_US);
}

static int wrong_cells(int count, int value)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += cell[i] != value;
    return wrong;
}

static int after_dynamic(int value)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int all = omp_get_num_threads();
#pragma omp for schedule(dynamic)
        for (int i = 0; i < all; i++) {
            late(i == all - 1);
            cell[i] = value;
        }
        wrong += wrong_cells(all, value);
    }
    return wrong;
}

static int after_guided(int value)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp for schedule(guided) ordered
        for (int i = 0; i < MOST; i++) {
            late(i == MOST - 1);
#pragma omp ordered
            cell[i] = value;
        }
        wrong += wrong_cells(MOST, value);
    }
    return wrong;
}

static int after_sections(int value)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp sections
        {
#pragma omp section
            {
                late(1);
                cell[0] = value;
            }
#pragma omp section
            cell[1] = value;
        }
        wrong += wrong_cells(2, value);
    }
    return wrong;
}

static int after_single(int value)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp single
        {
            late(1);
            cell[0] = value;
        }
        wrong += wrong_cells(1, value);
    }
    return wrong;
}

/* The thread that has copied is late to read: its variable lives so long. */
static int after_copyprivate(int value)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int given = 0;
        late(omp_get_thread_num() == omp_get_num_threads() - 1);
#pragma omp single copyprivate(given)
        given = value;
        wrong += given != value;
    }
    return wrong;
}

static int after_region(int value)
{
#pragma omp parallel
    {
        const int id = omp_get_thread_num();
        late(id == omp_get_num_threads() - 1);
        cell[id] = value;
    }
    return wrong_cells(omp_get_max_threads(), value);
}

static int after_tasks(int value)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num(), all = omp_get_num_threads();
#pragma omp task
        {
            late(id == all - 1);
            cell[id] = value;
        }
#pragma omp barrier
        wrong += wrong_cells(all, value);
    }
    return wrong;
}

/* Each thread in its turn, the last one late. */
static int by_turns(int value)
{
    int next = 0, wrong = 0;
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : wrong)
    for (int i = 0; i < 2 * MOST; i++) {
        late(i == 1);
#pragma omp ordered
        {
            wrong += next != i;
            next = i + 1;
            cell[i % MOST] = value;
        }
    }
    return wrong + wrong_cells(MOST, value);
}

/* What a thread writes to another one's file before a barrier is in the file
 * behind it. The lists of many lines take the owner a while. */
static int in_file(int value)
{
    char path[] = "/tmp/barriers.XXXXXX", line[200];
    FILE *file = NULL;
    int wrong = 0;
    close(mkstemp(path));
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num(), all = omp_get_num_threads();
        if (id == all - 1)
            file = fopen(path, "w");
#pragma omp barrier
        for (int i = 0; i < 5000 && id == 0; i++)
            fputs(line, file);
        if (id == 0)
            fclose(file);
#pragma omp barrier
        FILE *again = fopen(path, "r");
        fseek(again, 0, SEEK_END);
        wrong += ftell(again) != 5000 * (long)(sizeof line - 1);
        fclose(again);
#pragma omp barrier
    }
    remove(path);
    return wrong;
}

/* Parts of a line, each by another thread. */
static void parts_of_lines(void)
{
#pragma omp parallel
    for (int i = 0; i < omp_get_num_threads(); i++) {
        if (omp_get_thread_num() == i)
            printf("part %d, ", i);
#pragma omp barrier
    }
    printf("the end\n");
}

int main(void)
{
    static int (*const tests[])(int) = {
        after_dynamic, after_guided,      after_sections,
        after_single,  after_copyprivate, after_region,
        after_tasks,   by_turns,          in_file};
    for (unsigned t = 0; t < sizeof tests / sizeof *tests; t++) {
        int wrong = 0;
        for (int i = 1; i <= ROUNDS; i++)
            wrong += tests[t]((int)t * ROUNDS + i);
        printf("%u: %d wrong\n", t, wrong);
    }
    parts_of_lines();
    return 0;
}
