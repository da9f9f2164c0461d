/* SPDX-License-Identifier: BSD-3-Clause */
/* ordered with depend: iterations wait for others of the nest, whichever thread
 * has them. Each loop is compared with the same one in one thread. */
#include <stdio.h>
#include <string.h>

enum { ROWS = 40, COLUMNS = 50, LAYERS = 6, LONG = 1000 };

static long grid[ROWS][COLUMNS], wanted[ROWS][COLUMNS];

static long cell(long (*g)[COLUMNS], int i, int j)
{
    return (g[i - 1][j] + 3 * g[i][j - 1] + g[i - 1][j - 1] + i) % 10007;
}

static void begin(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            grid[i][j] = wanted[i][j] = i && j ? 0 : i + j;
    for (int i = 1; i < ROWS; i++)
        for (int j = 1; j < COLUMNS; j++)
            wanted[i][j] = cell(wanted, i, j);
}

static void check(const char *name)
{
    printf("%s: %s\n", name,
           memcmp(grid, wanted, sizeof grid) ? "wrong" : "as in one thread");
}

#define WAIT "omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)"
#define SWEEP(name, type, clauses)                                             \
    static void name(void)                                                     \
    {                                                                          \
        begin();                                                               \
        _Pragma("omp parallel")                                                \
            _Pragma(clauses) for (type i = 1; i < ROWS;                        \
                                  i++) for (type j = 1; j < COLUMNS; j++)      \
        {                                                                      \
            _Pragma(WAIT);                                                     \
            grid[i][j] = cell(grid, (int)i, (int)j);                           \
            _Pragma("omp ordered depend(source)");                             \
        }                                                                      \
        check(#name);                                                          \
    }
SWEEP(blocks, int, "omp for ordered(2)")
SWEEP(static_chunks, int, "omp for ordered(2) schedule(static, 3)")
SWEEP(dynamic, int, "omp for ordered(2) schedule(dynamic) nowait")
SWEEP(guided, long, "omp for ordered(2) schedule(guided, 2)")
SWEEP(runtime, unsigned long long, "omp for ordered(2) schedule(runtime)")
SWEEP(unsigned_chunks, unsigned long long,
      "omp for ordered(2) schedule(static, 1)")

/* Down from the end, and with a collapsed nest: two loops are one dimension. */
static void downwards(void)
{
    static long v[LONG];
    long w = 1;
    v[LONG - 1] = 1;
#pragma omp parallel for ordered(1) schedule(dynamic, 7)
    for (long i = LONG - 2; i >= 0; i--) {
#pragma omp ordered depend(sink : i + 1)
        v[i] = (7 * v[i + 1] + i) % 1000003;
#pragma omp ordered depend(source)
    }
    for (long i = LONG - 2; i >= 0; i--)
        w = (7 * w + i) % 1000003;
    printf("downwards: %s\n", v[0] == w ? "as in one thread" : "wrong");
}

static void three_loops(void)
{
    static int order[LAYERS][LAYERS][LAYERS];
    int wrong = 0;
#pragma omp parallel for ordered(3) schedule(static, 1) reduction(+ : wrong)
    for (int i = 0; i < LAYERS; i++)
        for (int j = 0; j < LAYERS; j++)
            for (int k = 0; k < LAYERS; k++) {
#pragma omp ordered depend(sink : i - 1, j + 1, k - 2)
                const int before = i && j + 1 < LAYERS && k >= 2
                                       ? order[i - 1][j + 1][k - 2]
                                       : 0;
                wrong += i && j + 1 < LAYERS && k >= 2 && !before;
                order[i][j][k] = before + 1;
#pragma omp ordered depend(source)
            }
    printf("three loops: %d wrong\n", wrong);
}

int main(void)
{
    for (int round = 0; round < 3; round++) {
        blocks();
        static_chunks();
        dynamic();
        guided();
        runtime();
        unsigned_chunks();
        downwards();
        three_loops();
    }
    return 0;
}
