/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of PMI-2: six characters of length, then "cmd=name;key=value;…". */
#ifndef DRAIL_JOB_PMI2_WIRE_H
#define DRAIL_JOB_PMI2_WIRE_H

#include <stddef.h>

#define PMI2_HEAD 6u    /* characters of the length */
#define PMI2_MOST 4096u /* longest message that is written or accepted */

/* Writes length and message, with a final zero: a command, then pairs of key and
 * value, then NULL. Values must not contain ';'. A pair whose value is NULL or
 * empty is left out: MPICH 5's launcher refuses it. Returns the bytes without the
 * zero, or 0 when they are too many. */
size_t pmi2_write(char text[PMI2_HEAD + PMI2_MOST + 1], const char *command,
                  ...) __attribute__((sentinel));
/* The length of the message that follows; 0: malformed, or too long. */
size_t pmi2_length(const char head[PMI2_HEAD]);
/* Copies the value of a key to value and returns it; NULL when the message does
 * not have the key, or the value has more than bytes - 1 characters. */
const char *pmi2_value(const char *message, const char *key, char *value,
                       size_t bytes);
/* The value as a number of 0 or more; -1: none, or malformed. */
long pmi2_number(const char *message, const char *key);

#endif
