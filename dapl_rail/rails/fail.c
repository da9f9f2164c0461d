/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/platform/resources.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"

int rail_fail(struct rail *rail, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_write(&rail->error, code, format, args);
    va_end(args);
    if (rail->owner)
        atomic_store_explicit(&rail->owner->last, &rail->error,
                              memory_order_release);
    return code;
}

int dat_fail(struct rail *rail, const char *call, DAT_RETURN status)
{
    char text[128], limits[160] = "";
    bool lacks = DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES;
    dat_text(status, text, sizeof text);
    if (lacks)
        resources_text(limits, sizeof limits, !strcmp(call, "dat_lmr_create"));
    return rail_fail(rail, lacks ? DRAIL_ENOMEM : DRAIL_EDAT, "%s(%s): %s%s",
                     call, rail->info.name, text, limits);
}
