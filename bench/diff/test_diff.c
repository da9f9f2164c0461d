/* SPDX-License-Identifier: BSD-3-Clause */
/* `railbench diff`: compares two result files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff.h"
#include "bench/report/output.h"
#include "bench/test.h"

static int wrong(const char *operand, const char *path, const char *why)
{
    fprintf(stderr,
            "railbench diff: %s: '%s' is wrong: %s; allowed: a JSON result of "
            "railbench (or .json.gz), or one of each of several launches: "
            "A,B,...\n",
            operand, path, why);
    return -1;
}

static int load(record_t *record, const char *operand, const char *path)
{
    const char *paths[STATS_MAX];
    char why[192] = "there are too many files, or no memory";
    char *list = strdup(path), *rest = list;
    unsigned count = 0;
    int rc = list ? 0 : -1;
    if (!access(path, F_OK)) { /* a file whose name may have commas */
        paths[count++] = list;
        rest = NULL;
    }
    while (!rc && rest && count < STATS_MAX)
        paths[count++] = strsep(&rest, ",");
    if (!rc)
        rc = rest ? -1 : record_load_all(record, paths, count, why, sizeof why);
    record->path = path;
    free(list);
    return rc ? wrong(operand, path, why) : 0;
}

/* Values of the same kind. */
static int check_launches(const diff_result_t *diff)
{
    if (!diff->before.launches == !diff->after.launches)
        return 0;
    return wrong("NEW", diff->opts->operands[1],
                 "one of OLD and NEW is of several launches, the other of one");
}

static int load_both(diff_result_t *diff)
{
    const options_t *opts = diff->opts;
    char why[192];
    if (load(&diff->before, "OLD", opts->operands[0]) ||
        load(&diff->after, "NEW", opts->operands[1]))
        return -1;
    if (!strcmp(diff->before.test, diff->after.test))
        return check_launches(diff);
    snprintf(why, sizeof why, "it is of test '%.32s', and OLD of '%.32s'",
             diff->after.test, diff->before.test);
    return wrong("NEW", opts->operands[1], why);
}

static const char *const fields[] = {"rails", "engine",    "policy",  "team",
                                     "loop",  "algorithm", "variant", "bytes"};
#define FIELDS (sizeof fields / sizeof *fields)

/* A field that tells points apart; numbers are written to @p number. */
static const char *field_of(const record_series_t *s, unsigned i,
                            char number[24])
{
    const char *const texts[FIELDS] = {s->rails,   s->engine, s->policy,
                                       s->team,    s->loop,   s->algorithm,
                                       s->variant, number};
    snprintf(number, 24, "%llu", (unsigned long long)s->bytes);
    return texts[i];
}

/* Has an earlier series the same value, or is there none? */
static bool nothing_new(const record_t *record, unsigned i, unsigned f)
{
    char mine[24], other[24];
    const char *text = field_of(&record->series[i], f, mine);
    for (unsigned k = 0; k < i; k++)
        if (!strcmp(text, field_of(&record->series[k], f, other)))
            return true;
    return !*text;
}

/* "; WHO has rails a,b" and so on. */
static void tell_points(const char *who, const record_t *record)
{
    char number[24];
    fprintf(stderr, "; %s has", who);
    for (unsigned f = 0; f < FIELDS; f++) {
        unsigned told = 0;
        for (unsigned i = 0; i < record->count; i++) {
            if (nothing_new(record, i, f))
                continue;
            if (told++)
                fputc(',', stderr);
            else
                fprintf(stderr, " %s ", fields[f]);
            fputs(field_of(&record->series[i], f, number), stderr);
        }
    }
}

/* Prints one line: the fields that must be equal, and their values in each
 * file. */
static void nothing_in_common(const diff_result_t *diff)
{
    fprintf(stderr,
            "railbench diff: NEW: '%s' is wrong: no rails, engine and size "
            "(and policy, loop ...) are common to both",
            diff->opts->operands[1]);
    tell_points("OLD", &diff->before);
    tell_points("NEW", &diff->after);
    fputs("; allowed: a result with points of OLD\n", stderr);
}

static int diff_run(const bench_test_t *test, const options_t *opts)
{
    diff_result_t *diff = calloc(1, sizeof *diff);
    outputs_t outputs = {0};
    int status = 2;

    if (!diff)
        goto out;
    diff->opts = opts;
    if (load_both(diff) || outputs_open(&outputs, opts, test->table.command))
        goto out;
    if (diff_compare(diff)) {
        fprintf(stderr, "%s: out of memory\n", test->table.command);
        goto out;
    }
    if (!diff->npoints) {
        nothing_in_common(diff);
        goto out;
    }
    machine_describe(&diff->machine, NULL);
    status = diff->count[VERDICT_SLOWER] > 0;
    if (outputs_report(&outputs, diff_report, diff))
        status = 2;
out:
    outputs_discard(&outputs);
    if (diff)
        diff_free(diff);
    free(diff);
    return status;
}

const bench_test_t test_diff = {
    .table = {.command = "railbench diff",
              .summary = "Which points of two JSON results differ, and what "
                         "else does. Exit status 1: something got slower.",
              .operands = {"OLD", "NEW"}},
    .name = "diff",
    .sizes = "0",
    .run = diff_run,
};
