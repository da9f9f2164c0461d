/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMP_RUNTIME_FAIL_H
#define OMP_RUNTIME_FAIL_H

enum {
    FAILED = 1,
    NOT_SERVED = 2, /* a construct or a setting */
};

/* Ends this rank, and thereby the program, with one sentence. */
__attribute__((noreturn, format(printf, 2, 3))) void
fail(int status, const char *format, ...);

/* The same, because of an error of the transport or libddsm. If it is that
 * another rank is gone, that rank knows why, or the process that has forked it
 * knows which signal it was: they may speak first. */
__attribute__((noreturn, format(printf, 2, 3))) void
fail_of(int code, const char *format, ...);

/* The same when libddsm or the rails can't be opened. The status tells whether
 * a setting is wrong. */
__attribute__((noreturn)) void fail_open(int code, const char *why);

/* Of the ranks that share @status, only the first one that fails says why, and
 * all end with its status. 0: none has failed. */
void fail_once(_Atomic int *status);

/* From now on sentences name the rank. */
void fail_as(unsigned rank);

#endif
