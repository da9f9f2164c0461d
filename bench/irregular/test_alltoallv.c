/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `railbench alltoallv`, from the checked options to the report, in the form of
 * figs. 15 to 23 of Liu et al. 2002.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irregular.h"
#include "bench/coll/run.h"

#define AT(member) offsetof(options_t, alltoallv.member)
#define WHOLE      0

static bool is_pattern(const char *name)
{
    if (!strncmp(name, "file:", 5))
        return name[5] && strlen(name) < PATTERN_NAME_MAX - 1;
    for (unsigned i = 0; i < COUNTS_FILE; i++)
        if (!strcmp(name, counts_names[i]))
            return true;
    return false;
}

static int parse_patterns(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    (void)row;
    struct alltoallv_options *o = &((options_t *)field)->alltoallv;
    char name[PATTERN_NAME_MAX];
    snprintf(allowed, size,
             "a list of at most %d of spike, transpose, uniform, zipf, "
             "alltoone, file:PATH, each once",
             PATTERNS_MAX);
    o->npatterns = 0;
    while (option_next(&text, name, sizeof name)) {
        if (!is_pattern(name) || o->npatterns == PATTERNS_MAX)
            return -1;
        for (unsigned i = 0; i < o->npatterns; i++)
            if (!strcmp(o->patterns[i], name))
                return -1;
        memcpy(o->patterns[o->npatterns++], name, sizeof name);
    }
    return 0;
}

static int parse_interfaces(const option_row_t *row, const char *text,
                            void *field, char *allowed, size_t size)
{
    (void)row;
    struct alltoallv_options *o = &((options_t *)field)->alltoallv;
    char name[16];
    snprintf(allowed, size, "a list of counts, elements, neighbors, each once");
    o->ninterfaces = 0;
    while (option_next(&text, name, sizeof name)) {
        interface_t its = 0;
        while (its < INTERFACES && strcmp(name, interface_names[its]))
            its++;
        for (unsigned i = 0; i < o->ninterfaces; i++)
            if (o->interfaces[i] == its)
                return -1;
        if (its == INTERFACES)
            return -1;
        o->interfaces[o->ninterfaces++] = its;
    }
    return 0;
}

static int parse_elements(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    snprintf(allowed, size,
             "LO:HI or a list of at most %d numbers from 0 to 1G (K, M, G: "
             "powers of 1024)",
             SIZES_MAX);
    return sizes_parse(text, opts->sizes, &opts->nsizes);
}

static const option_row_t rows[] = {
    {"--pattern", "P,...",
     "spike, transpose, uniform, zipf, alltoone, file:PATH (default: all but "
     "files)",
     .parse = parse_patterns},
    {"--elements", "LO:HI|a,b",
     "the most from one rank to another; of a file, what its counts are "
     "multiplied with (default 1 to 4K, of files 1)",
     .parse = parse_elements},
    {"--element", "BYTES", "of an element (default 48)",
     .parse = option_parse_count, .field = AT(element), .min = 1,
     .max = 1 << 20},
    {"--rest", "N", "spike, transpose: elements to each other rank (default 1)",
     .parse = option_parse_count, .field = AT(rest), .max = UINT32_MAX},
    {"--exponent", "S", "of zipf (default 1)", .parse = option_parse_number,
     .field = AT(exponent), .max = 16},
    {"--draw", "N", "seed of the patterns spike and uniform (default 1)",
     .parse = option_parse_count, .field = AT(seed), .max = UINT32_MAX},
    {"--interface", "I,...",
     "counts; elements, which say where they go; neighbors: only ranks that "
     "get elements are listed (default counts)",
     .parse = parse_interfaces},
    {"--persistent", NULL, "prepare each call once, and start it",
     .parse = option_parse_flag, .field = AT(persistent)},
    {"--bounded", NULL, "calls tell their bounds, so ranks need not agree",
     .parse = option_parse_flag, .field = AT(bounded)},
    {"--ts", "US", "model: of a start-up (default: measured)",
     .parse = option_parse_us, .field = AT(ts), .max = 1e9},
    {"--tm", "US", "... of composing a byte", .parse = option_parse_us,
     .field = AT(tm), .max = 1e9},
    {"--tc", "US", "... of copying a byte to the interface (default 0)",
     .parse = option_parse_us, .field = AT(tc), .max = 1e9},
    {"--td", "US", "... of moving a byte", .parse = option_parse_us,
     .field = AT(td), .max = 1e9},
    {"--contention", "F", "... factor of node contention (default 1)",
     .parse = option_parse_number, .field = AT(contention), .max = 1e6},
};

static void defaults(options_t *opts)
{
    opts->nsizes = 0;
    opts->alltoallv = (struct alltoallv_options){.element = 48,
                                                 .rest = 1,
                                                 .exponent = 1,
                                                 .seed = 1,
                                                 .ninterfaces = 1,
                                                 .ts = -1,
                                                 .tm = -1,
                                                 .tc = -1,
                                                 .td = -1,
                                                 .contention = 1};
}

static int run(const bench_test_t *test, const options_t *given)
{
    options_t opts = *given;
    coll_plan_t plan = {0};
    counts_t patterns[PATTERNS_MAX] = {0};
    int status = 2;
    if (!irregular_plan(&plan, patterns, &opts, &test->table))
        status = coll_test(test, &opts, &plan, &irregular_work);
    irregular_patterns_free(patterns);
    free(plan.counts);
    return status;
}

const bench_test_t test_alltoallv = {
    .table = {.command = "railbench alltoallv",
              .summary = "Time of an all-to-all of irregular size, and where "
                         "it goes.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |
                        OPTIONS_ALGORITHM | OPTIONS_TEAM | OPTIONS_STATS |
                        OPTIONS_ELEMENTS | OPTIONS_OVERLAP,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "alltoallv",
    .sizes = "1",
    .defaults = defaults,
    .run = run,
    .collective = DCOLL_ALLTOALLV,
};
