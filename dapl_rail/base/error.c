/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes, and the sentences that go with them. */
#include <stdarg.h>
#include <stdio.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"

const char *drail_strerror(int code)
{
    switch ((drail_status_t)code) {
    case DRAIL_OK:
        return "success";
    case DRAIL_EINVAL:
        return "invalid argument";
    case DRAIL_ENOMEM:
        return "out of memory or resources";
    case DRAIL_ENORAIL:
        return "no such rail";
    case DRAIL_EOPEN:
        return "rail can't be opened";
    case DRAIL_EDAT:
        return "DAT call failed";
    case DRAIL_EPEER:
        return "peer is gone";
    case DRAIL_ETIMEOUT:
        return "timed out";
    case DRAIL_EAGAIN:
        return "not yet";
    case DRAIL_EACCESS:
        return "remote access refused";
    case DRAIL_ENOTSUP:
        return "not supported";
    case DRAIL_EINTR:
        return "interrupted";
    case DRAIL_EJOB:
        return "a rank of the job failed";
    case DRAIL_ETRUNC:
        return "message truncated";
    }
    return "unknown error";
}

void error_write(drail_error_t *err, int code, const char *format, va_list args)
{
    err->code = code;
    vsnprintf(err->text, sizeof err->text, format, args);
}

int error_set(drail_error_t *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        error_write(err, code, format, args);
        va_end(args);
    }
    return code;
}

int fail(drail_t *t, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_write(&t->error, code, format, args);
    va_end(args);
    atomic_store_explicit(&t->last, &t->error, memory_order_release);
    return code;
}

void dat_text(DAT_RETURN status, char *text, size_t size)
{
    const char *major = NULL, *minor = NULL;
    if (dat_strerror(status, &major, &minor) != DAT_SUCCESS)
        snprintf(text, size, "DAT status 0x%x", status);
    else if (minor && *minor && DAT_GET_SUBTYPE(status) != DAT_NO_SUBTYPE)
        snprintf(text, size, "%s (%s)", major, minor);
    else
        snprintf(text, size, "%s", major);
}

const drail_error_t *error_last(const drail_t *t)
{
    return atomic_load_explicit(&t->last, memory_order_acquire);
}

const char *drail_last_error(const drail_t *t)
{
    return t ? error_last(t)->text : "";
}
