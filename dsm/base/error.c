/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "dsm/base/space.h"

int space_fail(ddsm_t *d, int rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->error.text, sizeof d->error.text, format, args);
    va_end(args);
    d->error.code = rc;
    return rc;
}

int space_fail_rails(ddsm_t *d, int rc, const char *what)
{
    const char *sentence = drail_last_error(d->t);
    return space_fail(d, rc, "%s: %s%s%.180s", what, drail_strerror(rc),
                      *sentence ? ": " : "", sentence);
}

int space_break(ddsm_t *d, int rc)
{
    d->broken = rc;
    if (d->control.broken)
        atomic_store(d->control.broken, 1);
    return rc;
}

int space_break_rails(ddsm_t *d, int rc, const char *what)
{
    return d->broken ? d->broken
                     : space_break(d, space_fail_rails(d, rc, what));
}

const char *ddsm_last_error(const ddsm_t *d)
{
    return d->error.text;
}
