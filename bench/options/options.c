/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "parsers.h"
#include "rows.h"
#include "spelling.h"

uint64_t options_ppn(const options_t *opts)
{
    return opts->ppn && opts->ppn < opts->ranks ? opts->ppn : opts->ranks;
}

sampling_t options_sampling(const options_t *opts)
{
    return (sampling_t){.repeat = opts->repeat,
                        .certain = opts->simulated,
                        .precision = opts->precision,
                        .seconds = opts->time_budget,
                        .strict = opts->series.count != 0};
}

uint64_t options_apart(const options_t *opts)
{
    return opts->window > opts->batch ? opts->window : opts->batch;
}

uint64_t options_buffers(const options_t *opts)
{
    return opts->buffers || !opts->read ? opts->buffers : options_apart(opts);
}

uint64_t options_warmup(const options_t *opts)
{
    return opts->warmup == WARMUP_DEFAULT ? 10 : opts->warmup;
}

format_t format_of(const char *path)
{
    static const char *const names[] = {FORMAT_NAMES};
    const char *dot = strrchr(path, '.');
    for (unsigned i = 0; dot && i < COUNT(names); i++)
        if (!strcmp(dot + 1, names[i]))
            return (format_t)i;
    return FORMAT_TABLE;
}

static const option_row_t *
find_row(const char *subject, const option_row_t *rows, size_t count, void *of)
{
    (void)subject;
    const char *arg = of;
    for (size_t i = 0; i < count; i++) {
        const char *alias = option_alias(rows[i].name);
        if (option_is(arg, rows[i].name) || (alias && option_is(arg, alias)))
            return &rows[i];
    }
    return NULL;
}

const option_row_t *option_find(const option_table_t *table, const char *arg)
{
    return option_rows_visit(table, find_row, (void *)arg);
}

void option_wrong(const option_table_t *table, const char *option,
                  const char *value, const char *allowed)
{
    fprintf(stderr, "%s: %s: '%s' is wrong; allowed: %s\n", table->command,
            option, value, allowed);
}

static int wrong(const option_table_t *table, const char *option,
                 const char *value, const char *allowed)
{
    option_wrong(table, option, value, allowed);
    return -1;
}

static const option_row_t *try_spelling(const char *subject,
                                        const option_row_t *rows, size_t count,
                                        void *spelling)
{
    (void)subject;
    for (size_t i = 0; i < count; i++)
        spelling_try(spelling, rows[i].name);
    return NULL;
}

static int unknown(const option_table_t *table, const char *arg)
{
    spelling_t spelling = spelling_of(arg);
    option_rows_visit(table, try_spelling, &spelling);
    fprintf(stderr, "%s: unknown option '%s'; allowed: those of '%s --help'",
            table->command, arg, table->command);
    spelling_ask(&spelling, stderr);
    return -1;
}

/* Parses args[*i] and, if it takes one, its value. */
static int parse_one(options_t *opts, const option_table_t *table, int nargs,
                     char **args, int *i)
{
    const char *arg = args[*i], *equals = strchr(arg, '=');
    const option_row_t *row = option_find(table, arg);
    if (!row)
        return unknown(table, arg);
    const char *text = NULL;
    char typed[DRAIL_NAME_MAX]; /* the row's name or its alias */
    snprintf(typed, sizeof typed, "%.*s",
             equals ? (int)(equals - arg) : (int)strlen(arg), arg);
    if (equals)
        text = equals + 1;
    else if (row->value && *i + 1 < nargs)
        text = args[++*i];
    if (row->value && !text)
        return wrong(table, typed, "", row->value);
    if (!row->value && text)
        return wrong(table, typed, text, "no value");

    char allowed[512] = "";
    if (row->parse(row, text, (char *)opts + row->field, allowed,
                   sizeof allowed))
        return wrong(table, typed, text, allowed);
    return 0;
}

/* @p arg as the next operand, or the server's host; false if it is an option,
 * or one too many. */
static bool take_operand(options_t *opts, const option_table_t *table,
                         const char *arg)
{
    if (*arg == '-')
        return false;
    for (unsigned i = 0; i < OPERANDS_MAX && table->operands[i]; i++)
        if (!opts->operands[i]) {
            opts->operands[i] = arg;
            return true;
        }
    if (table->groups & OPTIONS_RAILS && !table->operands[0] && !opts->host) {
        opts->host = arg;
        return true;
    }
    return false;
}

static int check_operands(const options_t *opts, const option_table_t *table)
{
    for (unsigned i = 0; i < OPERANDS_MAX && table->operands[i]; i++)
        if (!opts->operands[i])
            return wrong(table, table->operands[i], "", "the name of a file");
    return 0;
}

static int check_host(const options_t *opts, const option_table_t *table)
{
    return opts->host && !opts->code && !opts->secret
               ? wrong(table, "HOST", opts->host,
                       "with the --code that its --server has printed, or with "
                       "--secret")
               : 0;
}

/* In whatever order they, rails and policies were given. */
static int check_weights(const options_t *opts, const option_table_t *table)
{
    char value[96], allowed[64];
    int used = snprintf(value, sizeof value, "%u weights", opts->nweights);
    bool weighted = false;
    if (!opts->nweights)
        return 0;
    snprintf(allowed, sizeof allowed, "one per rail, that is %u", opts->nrails);
    if (opts->nweights != opts->nrails)
        return wrong(table, "--weights", value, allowed);
    for (unsigned i = 0; i < opts->npolicies; i++) {
        used += snprintf(value + used, sizeof value - (size_t)used, "%s%s",
                         i ? "," : " with policy ",
                         drail_policy_name(opts->policies[i]));
        weighted = weighted || opts->policies[i] == DRAIL_POLICY_WEIGHTED;
    }
    return weighted ? 0
                    : wrong(table, "--weights", value,
                            "with --policy weighted, alone or among others");
}

static int check_payload(const options_t *opts, const option_table_t *table)
{
    if (!opts->no_payload)
        return 0;
    if (!(table->groups & OPTIONS_HOLLOW))
        return wrong(table, "--no-payload", strchr(table->command, ' ') + 1,
                     "with gather, allgather, alltoall, bcast, scatter, "
                     "barrier, reductions, mbw, memcpy and tune, "
                     "which do not look at their bytes");
    if (!opts->simulated)
        return wrong(table, "--no-payload", opts->rails[0],
                     "with simulated rails: --rails sim:NAME");
    if (opts->validate)
        return wrong(table, "--no-payload", "--validate",
                     "one of the two: there are no bytes to check");
    return 0;
}

parsed_t options_parse(options_t *opts, const option_table_t *table, int nargs,
                       char **args)
{
    for (int i = 0; i < nargs; i++) {
        if (!strcmp(args[i], "--help") || !strcmp(args[i], "-h")) {
            option_print_help(table);
            return PARSED_HELP;
        }
        if (!strcmp(args[i], "--version")) {
            printf("railbench %s\n", DRAIL_VERSION);
            return PARSED_HELP;
        }
        if (!take_operand(opts, table, args[i]) &&
            parse_one(opts, table, nargs, args, &i))
            return PARSED_WRONG;
    }
    return check_operands(opts, table) || check_host(opts, table) ||
                   check_weights(opts, table) || check_payload(opts, table)
               ? PARSED_WRONG
               : PARSED_OK;
}
