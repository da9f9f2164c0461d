/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "limits_result.h"

summary_t limits_summary(const limits_row_t *row)
{
    double values[LIMITS_REPEATS];
    memcpy(values, row->values, row->count * sizeof *values);
    return stats_summary(values, row->count);
}
