/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"
#include "overlap.h"

#define PASS_NS     UINT64_C(10000000) /* calls of a kind take about so long */
#define CALLS_LEAST 5
#define CALLS_MOST  100

/* Nanoseconds of one call. */
typedef struct took {
    uint64_t compute, total;
} took_t;

/* Computes for @p ns. Tests the request --overlap-tests times at equal
 * distances, which makes progress. A test that finds it complete has ended the
 * request. */
static int compute(coll_run_t *run, dcoll_request_t *request, uint64_t ns,
                   took_t *took, bool *complete)
{
    uint64_t tests = run->opts->overlap_tests, parts = tests ? tests : 1;
    int rc = 0;
    for (uint64_t i = 0; !rc && i < parts; i++) {
        uint64_t from = clock_ns();
        busy_for(&run->busy, ns / parts);
        took->compute += clock_ns() - from;
        if (tests && !*complete) {
            rc = dcoll_test(request);
            *complete = !rc;
        }
        rc = rc == DRAIL_EAGAIN ? 0 : rc;
    }
    return rc;
}

/* Makes one call with @p ns of computation; 0: none. */
static int one(coll_run_t *run, unsigned setup, uint64_t ns, took_t *took)
{
    dcoll_request_t *request = NULL;
    bool complete = false;
    *took = (took_t){0};
    int rc = dcoll_barrier(coll_bed_of(run, setup)->team);
    uint64_t from = clock_ns();
    if (!rc)
        rc = run->work->begin(run, setup, &request);
    if (!rc && ns)
        rc = compute(run, request, ns, took, &complete);
    if (!rc && !complete)
        rc = dcoll_wait(request, -1);
    took->total = clock_ns() - from;
    return rc;
}

static uint64_t median(double *values, unsigned n)
{
    stats_sort(values, n);
    return (uint64_t)stats_quantile(values, n, 0.5);
}

/* Medians of n calls. No total is below its computation, so neither is the
 * median of the totals below that of the computations. */
static int several(coll_run_t *run, unsigned setup, unsigned n, uint64_t ns,
                   took_t *took)
{
    double compute[CALLS_MOST], total[CALLS_MOST];
    int rc = 0;
    for (unsigned i = 0; !rc && i < n; i++) {
        rc = one(run, setup, ns, took);
        compute[i] = (double)took->compute;
        total[i] = (double)took->total;
    }
    if (!rc)
        *took = (took_t){median(compute, n), median(total, n)};
    return rc;
}

static unsigned how_many(const coll_run_t *run, uint64_t call_ns)
{
    uint64_t n = PASS_NS / (call_ns ? call_ns : 1);
    if (run->opts->simulated) /* all alike */
        return 1;
    return n < CALLS_LEAST  ? CALLS_LEAST
           : n > CALLS_MOST ? CALLS_MOST
                            : (unsigned)n;
}

int coll_overlap(coll_run_t *run, coll_cell_t *cell, uint64_t call_ns)
{
    took_t pure, with;
    unsigned n = how_many(run, call_ns);
    int rc = several(run, cell->setup, n, 0, &pure);
    if (!rc)
        rc = several(run, cell->setup, n, pure.total, &with);
    uint64_t sums[COLL_SUMS] = {0};
    if (!rc) {
        sums[OVERLAP_PURE] = pure.total;
        sums[OVERLAP_COMPUTE] = with.compute;
        sums[OVERLAP_TOTAL] = with.total;
        rc = coll_exchange_sums(run, sums);
    }
    if (rc || run->rank)
        return rc;
    double scale = 1e-3 / run->ranks;
    cell->overlap.calls += n;
    coll_overlap_add(&cell->overlap, (double)sums[OVERLAP_PURE] * scale,
                     (double)sums[OVERLAP_COMPUTE] * scale,
                     (double)sums[OVERLAP_TOTAL] * scale);
    return 0;
}
