/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMP_RUNTIME_FAIL_H
#define OMP_RUNTIME_FAIL_H

#include <stdbool.h>

enum {
    FAILED = 1,
    NOT_SERVED = 2, /* a construct or a setting */
};

/* Ends this rank, and thereby the program, with one sentence. */
__attribute__((noreturn, format(printf, 2, 3))) void
fail(int status, const char *format, ...);

/* Of the ranks that share @said, only the first one that fails says why. */
void fail_once(_Atomic bool *said);

#endif
