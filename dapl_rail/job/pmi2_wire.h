/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of PMI-2: a length in six characters, then "cmd=name;key=value;…".
 */
#ifndef DRAIL_JOB_PMI2_WIRE_H
#define DRAIL_JOB_PMI2_WIRE_H

#include <stddef.h>

#define PMI2_HEAD 6u    /* characters of the length */
#define PMI2_MOST 4096u /* longest message that is written or taken */

/*
 * Writes head and message, with a zero: a command, then keys with their values,
 * each a string without ';', and a last NULL. A key whose value is NULL or
 * empty is left out: MPICH 5's launcher refuses it. Returns the length, or 0
 * when the message is too long.
 */
size_t pmi2_write(char text[PMI2_HEAD + PMI2_MOST + 1], const char *command,
                  ...) __attribute__((sentinel));
/* The length of the message that follows, or 0: not one that is taken. */
size_t pmi2_length(const char head[PMI2_HEAD]);
/* The value of a key of a message, copied; NULL when it has none, or it is too
 * long. */
const char *pmi2_value(const char *message, const char *key, char *value,
                       size_t bytes);
/* ... as a number; or -1. */
long pmi2_number(const char *message, const char *key);

#endif
