/* SPDX-License-Identifier: BSD-3-Clause */
/* Every failure has a DRAIL_E… code and a sentence. */
#ifndef DRAIL_BASE_ERROR_H
#define DRAIL_BASE_ERROR_H

#include <stdarg.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

/* Both write the sentence and return code. fail() makes it the one of
 * drail_last_error(); error_set() accepts err NULL. */
int fail(drail_t *t, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int error_set(drail_error_t *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_write(drail_error_t *err, int code, const char *format,
                 va_list args);
/* That of the last failure; its code is 0 if there was none. */
const drail_error_t *error_last(const drail_t *t);
/* Writes the names of a status, "DAT_… (DAT_…)". */
void dat_text(DAT_RETURN status, char *text, size_t size);

#endif
