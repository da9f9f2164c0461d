/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a job know and nobody else. */
#ifndef DRAIL_JOB_SECRET_H
#define DRAIL_JOB_SECRET_H

#include "dapl_rail/dapl_rail.h"

#define SECRET_MIN 16u /* characters */
#define SECRET_MAX 256u

struct secret {
    size_t length;
    char text[SECRET_MAX + 1];
};

/* From this file, or NULL: DRAIL_SECRET_FILE, or DRAIL_SECRET. */
int secret_find(struct secret *secret, const char *file, drail_error_t *err);
/* A new one, of 64 hexadecimal digits. */
int secret_make(struct secret *secret, drail_error_t *err);
/* From the text, if it has a fitting length. */
int secret_set(struct secret *secret, const char *text, size_t length);

#endif
