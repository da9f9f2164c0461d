/* SPDX-License-Identifier: BSD-3-Clause */
/* The secret that all ranks of a job know, and nobody else. */
#ifndef DRAIL_JOB_SECRET_H
#define DRAIL_JOB_SECRET_H

#include "dapl_rail/dapl_rail.h"

#define SECRET_MIN 16u /* characters */
#define SECRET_MAX 256u

struct secret {
    size_t length;
    char text[SECRET_MAX + 1];
};

/* Reads this file; NULL: the one of DRAIL_SECRET_FILE, else DRAIL_SECRET. */
int secret_find(struct secret *secret, const char *file, drail_error_t *err);
/* Makes one of 64 random hexadecimal digits. */
int secret_make(struct secret *secret, drail_error_t *err);
/* Copies this text; DRAIL_EINVAL if its length is not allowed. */
int secret_set(struct secret *secret, const char *text, size_t length);

#endif
