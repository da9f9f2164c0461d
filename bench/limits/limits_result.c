/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "limits_result.h"

summary_t limits_summary(const limits_result_t *result, const limits_row_t *row)
{
    const sampling_t rule = options_sampling(result->opts);
    double values[STATS_MAX];
    memcpy(values, row->values, row->count * sizeof *values);
    return sampling_summary(&rule, values, row->count);
}
