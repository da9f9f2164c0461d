/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MEDIAN_H
#define DCOLL_MEDIAN_H

#define MEDIAN_MOST 12u

/* The median of 1 … MEDIAN_MOST times. */
static inline double median(const double *of, unsigned n)
{
    double sorted[MEDIAN_MOST];
    for (unsigned i = 0; i < n; i++) {
        unsigned k = i;
        for (; k && sorted[k - 1] > of[i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = of[i];
    }
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

#endif
