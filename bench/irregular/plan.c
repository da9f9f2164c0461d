/* SPDX-License-Identifier: BSD-3-Clause */
/* From the options to the plan, before there are ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "irregular.h"

#define FILE_PREFIX "file:"

static int read_pattern(counts_t *c, const char *name,
                        const option_table_t *table)
{
    char why[128], allowed[320];
    if (!counts_read(c, name + strlen(FILE_PREFIX), why, sizeof why))
        return 0;
    snprintf(allowed, sizeof allowed,
             "a file of %u lines with %u numbers from 0 to %u each: %s",
             c->ranks, c->ranks, UINT32_MAX, why);
    option_wrong(table, "--pattern", name, allowed);
    return -1;
}

static int make_pattern(counts_t *c, const options_t *opts, unsigned index,
                        const option_table_t *table)
{
    const struct alltoallv_options *o = &opts->alltoallv;
    const char *name = o->patterns[index];
    *c = (counts_t){.ranks = (unsigned)opts->ranks,
                    .rest = o->rest,
                    .exponent = o->exponent,
                    .seed = o->seed};
    while (c->kind < COUNTS_FILE && strcmp(name, counts_names[c->kind]))
        c->kind++;
    return c->kind == COUNTS_FILE ? read_pattern(c, name, table) : 0;
}

static bool all_files(const struct alltoallv_options *o)
{
    for (unsigned i = 0; i < o->npatterns; i++)
        if (strncmp(o->patterns[i], FILE_PREFIX, strlen(FILE_PREFIX)))
            return false;
    return true;
}

/* Sets options that were not given: all patterns but files, whose counts are as
 * they are. */
static void complete(options_t *opts)
{
    struct alltoallv_options *o = &opts->alltoallv;
    if (!o->npatterns)
        for (unsigned i = 0; i < COUNTS_FILE; i++)
            snprintf(o->patterns[o->npatterns++], PATTERN_NAME_MAX, "%s",
                     counts_names[i]);
    if (!opts->nsizes)
        sizes_parse(all_files(o) ? "1" : "1,4,16,64,256,1K,4K", opts->sizes,
                    &opts->nsizes);
}

/* A pattern at one M: the bounds that serve it, too. */
static int widen(coll_plan_t *plan, const counts_t *c, uint64_t m,
                 const option_table_t *table)
{
    const options_t *opts = plan->opts;
    uint64_t element = opts->alltoallv.element;
    counts_sums_t sums = counts_sum(c, m);
    double have =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double need = 2.0 * (double)opts->ranks * (double)(sums.most * element);
    char value[24], allowed[128];
    snprintf(value, sizeof value, "%llu", (unsigned long long)m);
    if (sums.longest > UINT32_MAX)
        snprintf(allowed, sizeof allowed,
                 "at most %u elements from a rank to another, these are %llu",
                 UINT32_MAX, (unsigned long long)sums.longest);
    else if (need > have)
        snprintf(allowed, sizeof allowed,
                 "what fits the memory of %.1f GB: %llu ranks need %.1f GB",
                 have / 1e9, (unsigned long long)opts->ranks, need / 1e9);
    else {
        dcoll_traffic_t *t = &plan->traffic[1];
        t->max_pair = sums.longest > t->max_pair ? sums.longest : t->max_pair;
        t->max_rank = sums.most > t->max_rank ? sums.most : t->max_rank;
        return 0;
    }
    option_wrong(table, "--elements", value, allowed);
    return -1;
}

static int check_element(const struct alltoallv_options *o,
                         const option_table_t *table)
{
    char value[24];
    for (unsigned i = 0; i < o->ninterfaces; i++)
        if (o->interfaces[i] == INTERFACE_ELEMENTS &&
            o->element < sizeof(uint32_t)) {
            snprintf(value, sizeof value, "%llu",
                     (unsigned long long)o->element);
            option_wrong(table, "--element", value,
                         "at least 4 with --interface elements: there is the "
                         "destination");
            return -1;
        }
    return 0;
}

/* Calls between neighbours have no bounds: their ranks always agree. */
static int check_bounded(const struct alltoallv_options *o,
                         const option_table_t *table)
{
    for (unsigned i = 0; o->bounded && i < o->ninterfaces; i++)
        if (o->interfaces[i] == INTERFACE_NEIGHBORS) {
            option_wrong(table, "--interface", "neighbors",
                         "counts, elements with --bounded: calls between "
                         "neighbors have no bounds");
            return -1;
        }
    return 0;
}

int irregular_plan(coll_plan_t *plan, counts_t *patterns, options_t *opts,
                   const option_table_t *table)
{
    const struct alltoallv_options *o = &opts->alltoallv;
    complete(opts);
    plan->opts = opts;
    plan->patterns = patterns;
    int rc = check_element(o, table);
    if (!rc)
        rc = check_bounded(o, table);
    for (unsigned p = 0; !rc && p < o->npatterns; p++) {
        rc = make_pattern(&patterns[p], opts, p, table);
        for (unsigned i = 0; !rc && i < opts->nsizes; i++)
            rc = widen(plan, &patterns[p], opts->sizes[i], table);
    }
    plan->traffic[1].element = o->element;
    plan->traffic[1].pulled = DCOLL_PULLED_BYTES;
    /* without any traffic, bounds are still needed */
    if (!plan->traffic[1].max_rank)
        plan->traffic[1].max_pair = plan->traffic[1].max_rank = 1;
    plan->traffic[0] = plan->traffic[1];
    plan->traffic[0].labelled = true;
    if (!o->bounded && !o->persistent) {
        const size_t ranks = (size_t)opts->ranks;
        plan->counts = calloc(ranks * ranks, sizeof *plan->counts);
        plan->traffic[0].counts = plan->counts;
    }
    plan->buffer = plan->traffic[1].max_rank * o->element;
    return rc;
}

void irregular_patterns_free(counts_t *patterns)
{
    for (unsigned i = 0; i < PATTERNS_MAX; i++)
        free(patterns[i].file);
}
