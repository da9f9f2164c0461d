/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

void report_write(FILE *file, format_t format, const void *result)
{
    switch (format) {
    case FORMAT_TABLE:
        report_table(file, result);
        break;
    case FORMAT_CSV:
        report_csv(file, result);
        break;
    case FORMAT_JSON:
        report_json(file, result);
        break;
    case FORMAT_HISTOGRAM:
        report_histogram(file, result);
        break;
    }
}
