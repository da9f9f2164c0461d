/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "outcome.h"
#include "shared.h"

static size_t outcome_size(unsigned nranks)
{
    return sizeof(outcome_t) + nranks * sizeof(drail_error_t);
}

outcome_t *outcome_create(unsigned nranks)
{
    outcome_t *outcome = shared_alloc(outcome_size(nranks));
    if (outcome)
        outcome->nranks = nranks;
    return outcome;
}

void outcome_destroy(outcome_t *outcome)
{
    munmap(outcome, outcome_size(outcome->nranks));
}

void outcome_set(outcome_t *outcome, unsigned rank, int code,
                 const char *format, ...)
{
    drail_error_t *error = &outcome->rank[rank];
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->code = code;
}

const drail_error_t *outcome_cause(const outcome_t *outcome)
{
    const drail_error_t *first = NULL;
    for (unsigned i = 0; i < outcome->nranks; i++) {
        const drail_error_t *error = &outcome->rank[i];
        if (!error->code)
            continue;
        if (error->code != DRAIL_EPEER && error->code != DRAIL_EINTR)
            return error;
        if (!first)
            first = error;
    }
    return first;
}
