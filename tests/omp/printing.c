/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of all threads: to files that the first thread has opened, to files
 * that another thread has opened, and to standard output. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 40, WORDS = 300 };

/* All threads write; @order: in the order of the loop, or in any. */
static void write_lines(FILE *file)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < LINES; i++) {
#pragma omp ordered
        {
            fprintf(file, "line %d of %s", i, "a file");
            fputc(';', file);
            fputs(" the end", file);
            fwrite("\n", 1, 1, file);
        }
    }
}

static int is_complete(FILE *file)
{
    char line[100], expected[100];
    int wrong = 0;
    rewind(file);
    for (int i = 0; i < LINES; i++) {
        snprintf(expected, sizeof expected, "line %d of a file; the end\n", i);
        wrong += !fgets(line, sizeof line, file) || strcmp(line, expected);
    }
    return wrong + (fgets(line, sizeof line, file) != NULL);
}

static void in_order(void)
{
    FILE *file = tmpfile();
    write_lines(file);
    printf("in order: %d wrong\n", is_complete(file));
    fclose(file);
}

/* Threads that take turns with a lock, and the first thread in between. */
static void by_turns(void)
{
    FILE *file = tmpfile();
    int next = 0, wrong = 0, all = 0, line;
#pragma omp parallel
    for (int i = 0; i < LINES; i++) {
#pragma omp critical
        fprintf(file, "%d\n", next++);
    }
    rewind(file);
    while (fscanf(file, "%d", &line) == 1)
        wrong += line != all++;
    printf("by turns: %d wrong, %d lost\n", wrong, next - all);
    fclose(file);
}

/* Threads take turns with one file. Meanwhile the second thread writes to
 * another file, for which it must look at what others have written to both. */
static void beside_another_file(void)
{
    enum { TURNS = 200, MOST = 3000 };
    FILE *file = tmpfile(), *other = tmpfile();
    int next = 0, wrong = 0, all = 0, line, busy = omp_get_max_threads() - 1;
#pragma omp parallel
    if (omp_get_thread_num() == 1) {
        for (int i = 0, left = 1; i < MOST && left; i++) {
#pragma omp atomic read seq_cst
            left = busy;
            fputs("beside\n", other);
        }
    } else {
        for (int i = 0; i < TURNS; i++)
#pragma omp critical
            fprintf(file, "%d\n", next++);
#pragma omp atomic
        busy--;
    }
    rewind(file);
    while (fscanf(file, "%d", &line) == 1)
        wrong += line != all++;
    printf("beside another file: %d wrong, %d lost\n", wrong, next - all);
    fclose(file);
    fclose(other);
}

/* The file is the last thread's; another one reads what is in it. */
static void of_another(void)
{
    char path[] = "/tmp/printing.XXXXXX", *long_text = malloc(1 << 20);
    FILE *file = NULL;
    int wrong = 0;
    close(mkstemp(path));
    memset(long_text, 'x', (1 << 20) - 1);
    long_text[(1 << 20) - 1] = 0;
#pragma omp parallel
    {
        const int id = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        if (id == last)
            file = fopen(path, "w");
#pragma omp barrier
        if (id == 0)
            fprintf(file, "%s\n", long_text);
#pragma omp barrier
        if (id == last / 2)
            fclose(file);
#pragma omp barrier
        if (id == 0) {
            FILE *again = fopen(path, "r");
            fseek(again, 0, SEEK_END);
            wrong = ftell(again) != 1 << 20;
            fclose(again);
        }
    }
    remove(path);
    free(long_text);
    printf("of another: %d wrong\n", wrong);
}

/* Each thread has a file of its own, several times. */
static void own_files(void)
{
    FILE *file[64] = {NULL};
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num(), all = omp_get_num_threads();
        for (int round = 0; round < 3; round++) {
            int seen = -1;
            file[id] = tmpfile();
#pragma omp barrier
            fprintf(file[(id + 1) % all], "%d\n", id);
#pragma omp barrier
            rewind(file[id]);
            wrong += fscanf(file[id], "%d", &seen) != 1;
            wrong += seen != (id + all - 1) % all;
            fclose(file[id]);
#pragma omp barrier
        }
    }
    printf("own files: %d wrong\n", wrong);
}

/* A stream that a variable names. */
static void streams(void)
{
    FILE *stream = stdout;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 6; i++)
#pragma omp ordered
        fprintf(stream, "stream %d\n", i);
}

/* More than a buffer holds: lines stay whole. */
static void many_lines(void)
{
    const char *path = getenv("PRINTED");
    if (!path)
        return;
#pragma omp parallel
    for (int i = 0; i < WORDS; i++)
        printf("thread %3d: a line of a length that no buffer divides\n",
               omp_get_thread_num());
}

int main(void)
{
    in_order();
    by_turns();
    beside_another_file();
    of_another();
    own_files();
    streams();
    many_lines();
    return 0;
}
