/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that stand in for the calls that post and dequeue: the rails do not
 * offer direct messages (core/extensions.h), which pass those calls by. */
#ifndef TESTS_NO_DIRECT_H
#define TESTS_NO_DIRECT_H

#include <stdarg.h>
#include <stdint.h>

#include "providers/core/extensions.h"
#include "tests/stand_in.h"

STAND_IN DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
    uint64_t a[8];
    va_list args;
    va_start(args, op);
    for (unsigned i = 0; i < 8; i++) /* words, as passed in registers */
        a[i] = va_arg(args, uint64_t);
    va_end(args);
    if (op == DAPL_DIRECT_OP)
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED;
    return real(dat_extension_op)(handle, op, a[0], a[1], a[2], a[3], a[4],
                                  a[5], a[6], a[7]);
}

#endif
