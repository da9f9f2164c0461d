/* SPDX-License-Identifier: BSD-3-Clause */
/* Attempts of a bond to free LMRs of members: the test decides which fail. */
#ifndef TESTS_PROVIDER_MEMBER_FREES_H
#define TESTS_PROVIDER_MEMBER_FREES_H

#include "util.h"

#include <stdarg.h>

#include "providers/core/extensions.h"

/** The test's: false, a peer may still access the LMR. */
static bool may_free(DAT_LMR_HANDLE lmr);

STAND_IN DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
    uint64_t word[5] = {0}; /* a fetch and add has so many */
    unsigned count = op == DAPL_WRITES_COUNTED_OP ? 1 : 5;
    va_list args;
    if (op == DAPL_LMR_TRY_FREE_OP)
        return may_free(handle) ? real(dat_extension_op)(handle, op)
                                : DAT_CLASS_ERROR | DAT_INVALID_STATE;
    va_start(args, op);
    for (unsigned i = 0; i < count; i++)
        word[i] = va_arg(args, uint64_t);
    va_end(args);
    return real(dat_extension_op)(handle, op, word[0], word[1], word[2],
                                  word[3], word[4]);
}

#endif
