/* SPDX-License-Identifier: BSD-3-Clause */
/* Every failure has a code and a sentence. */
#ifndef DRAIL_BASE_ERROR_H
#define DRAIL_BASE_ERROR_H

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct rail;
struct peer;

/* Each writes the sentence, makes it drail_last_error and returns code. */
int fail(drail_t *t, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int rail_fail(struct rail *rail, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "dat_ep_connect(shm1): DAT_… (DAT_…)", code DRAIL_EDAT or DRAIL_ENOMEM */
int dat_fail(struct rail *rail, const char *call, DAT_RETURN status);
/* What a public call on a peer returns: adds the sentence that only it can
 * know (the peer's error, a time that ran out, an interruption). */
int outcome(drail_t *t, struct peer *peer, int rc, const char *call);
int error_set(drail_error_t *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dat_text(DAT_RETURN status, char *text, size_t size);

#endif
