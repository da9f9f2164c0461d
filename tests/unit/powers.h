/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in the formulas of the papers. */
#ifndef TESTS_POWERS_H
#define TESTS_POWERS_H

#include <stdbool.h>

/* ⌈log_base n⌉ */
static inline unsigned log_up(unsigned n, unsigned base)
{
    unsigned result = 0;
    for (unsigned power = 1; power < n; power *= base)
        result++;
    return result;
}

static inline bool is_power(unsigned n, unsigned base)
{
    while (n % base == 0)
        n /= base;
    return n == 1;
}

/* ⌈a / b⌉ */
static inline unsigned divided_up(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

#endif
