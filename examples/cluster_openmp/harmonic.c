/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest program whose ranks share memory and have threads: a harmonic
 * sum. All ranks compute its terms, rank 0 adds them.
 *
 * cc -fopenmp harmonic.c $(pkg-config --cflags --libs ddsm)
 */
#include <dsm/ddsm.h>
#include <stdio.h>

enum { N = 1 << 20 };
static double *x; /* shared by all ranks */
static drail_error_t error;

static void fill(size_t first, size_t last, void *context)
{
    (void)context;
#pragma omp parallel for
    for (size_t i = first; i < last; i++)
        x[i] = 1.0 / (double)(i + 1);
}

static int rank_main(drail_job_t *job, void *context)
{
    ddsm_t *d;
    (void)context;
    if (ddsm_open(job, NULL, &d, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    x = ddsm_alloc(d, N * sizeof *x, &(ddsm_place_t){.element = sizeof *x});
    /* each rank fills its part, by threads; then a barrier */
    int rc = x ? ddsm_for(d, 0, N, fill, NULL) : DRAIL_ENOMEM;
    if (rc == 0 && ddsm_rank(d) == 0) {
        double sum = 0;
        for (size_t i = 0; i < N; i++)
            sum += x[i]; /* a fault fetches what other ranks have filled */
        printf("%u ranks: %.9f\n", ddsm_size(d), sum);
    }
    if (rc)
        fprintf(stderr, "%s\n", ddsm_last_error(d));
    ddsm_close(d);
    return rc != 0;
}

int main(void)
{
    drail_job_config_t config;
    drail_job_config_init(&config);
    config.error = &error;
    if (drail_job_run(&config, rank_main, NULL)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return 0;
}
