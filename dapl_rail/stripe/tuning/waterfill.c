/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/stripe/tuning/waterfill.h"

#include <string.h>

#include "dapl_rail/dapl_rail.h"

/* When all rails end, if they do so at the same time. */
static double end_of(unsigned n, const double *rates, const double *backlog,
                     double bytes)
{
    double sum = 0;
    for (unsigned r = 0; r < n; r++) {
        if (rates[r] <= 0)
            continue;
        sum += rates[r];
        bytes += backlog[r];
    }
    return sum > 0 ? bytes / sum : 0;
}

/* Some rail is always left: all parts together are the message, so with
 * DRAIL_MAX_RAILS rails one part is larger than the least. */
void waterfill(unsigned n, const double *rates, const double *backlog,
               double bytes, double *parts)
{
    double left[DRAIL_MAX_RAILS];
    unsigned dropped;
    double end;
    memcpy(left, rates, n * sizeof *left);
    do {
        dropped = 0;
        end = end_of(n, left, backlog, bytes);
        for (unsigned r = 0; r < n; r++) {
            if (left[r] <= 0 || backlog[r] <= 0 ||
                end * left[r] - backlog[r] >= WATERFILL_LEAST * bytes)
                continue;
            left[r] = 0;
            dropped++;
        }
    } while (dropped);
    for (unsigned r = 0; r < n; r++)
        parts[r] = left[r] > 0 ? end * left[r] - backlog[r] : 0;
}
