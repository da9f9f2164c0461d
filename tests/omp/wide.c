/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of all threads by calls that are seldom used: wide characters, words,
 * pipes, files of memory. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { LINES = 24 };

static void wide(void)
{
    FILE *file = tmpfile();
    wchar_t line[100], expected[100], *lengthy = malloc(4000 * sizeof *lengthy);
    int wrong = 0;
    wmemset(lengthy, L'x', 3999);
    lengthy[3999] = 0;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < LINES; i++) {
#pragma omp ordered
        {
            fwprintf(file, L"line %d of %ls", i, L"a file");
            fputwc(L';', file);
            putwc(L' ', file);
            fputws(L"the end\n", file);
        }
    }
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        fwprintf(file, L"%ls", lengthy);
    rewind(file);
    for (int i = 0; i < LINES; i++) {
        swprintf(expected, 100, L"line %d of a file; the end\n", i);
        wrong += !fgetws(line, 100, file) || wcscmp(line, expected);
    }
    for (int i = 0; i < 3999; i++)
        wrong += fgetwc(file) != L'x';
    wrong += fgetwc(file) != WEOF;
    fclose(file);
    free(lengthy);
    printf("wide: %d wrong\n", wrong);
}

static void words(void)
{
    FILE *file = tmpfile();
    int wrong = 0;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < LINES; i++) {
#pragma omp ordered
        {
            putw(i * 100000, file);
            fwrite_unlocked(&i, sizeof i, 1, file);
            fflush_unlocked(file);
        }
    }
    rewind(file);
    for (int i = 0; i < LINES; i++) {
        int second = -1;
        wrong += getw(file) != i * 100000;
        wrong += fread(&second, sizeof second, 1, file) != 1 || second != i;
    }
    fclose(file);
    printf("words: %d wrong\n", wrong);
}

/* All threads have a file at the same time, which the C library makes at the
 * same address in several processes. Each writes to that of the next one. */
static void pass_on(FILE **file, int id)
{
    const int all = omp_get_num_threads();
#pragma omp barrier
    fprintf(file[(id + 1) % all], "from %d\n", id);
#pragma omp barrier
}

static int is_from(const char *text, int id)
{
    char expected[20];
    const int all = omp_get_num_threads();
    snprintf(expected, sizeof expected, "from %d\n", (id + all - 1) % all);
    return !strncmp(text, expected, strlen(expected));
}

static void pipes(void)
{
    FILE *file[64];
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num();
        char command[100], path[] = "/tmp/wide.XXXXXX", text[20] = "";
        close(mkstemp(path));
        snprintf(command, sizeof command, "cat >%s; exit 3", path);
        file[id] = popen(command, "w");
        pass_on(file, id);
        wrong += pclose(file[id]) != 3 << 8;
        FILE *again = fopen(path, "r");
        fgets(text, sizeof text, again);
        wrong += !is_from(text, id);
        fclose(again);
        remove(path);
        snprintf(command, sizeof command, "echo %d", id);
        again = popen(command, "r");
#pragma omp barrier
        fgets(text, sizeof text, again);
        wrong += atoi(text) != id;
        wrong += pclose(again) != 0;
    }
    printf("pipes: %d wrong\n", wrong);
}

static void of_memory(void)
{
    FILE *file[64];
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num();
        char room[100] = "", *grown = NULL;
        size_t bytes = 0;
        file[id] = fmemopen(room, sizeof room, "w");
        pass_on(file, id);
        fclose(file[id]);
        wrong += !is_from(room, id);
#pragma omp barrier
        file[id] = open_memstream(&grown, &bytes);
        pass_on(file, id);
        fclose(file[id]);
        wrong += !grown || bytes != strlen(grown) || !is_from(grown, id);
        free(grown);
    }
    printf("of memory: %d wrong\n", wrong);
}

int main(void)
{
    wide();
    words();
    pipes();
    of_memory();
    return 0;
}
