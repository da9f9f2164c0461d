/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "rows.h"

static void print_row(const option_row_t *row)
{
    const char *alias = option_alias(row->name);
    char left[40];
    snprintf(left, sizeof left, "%s%s%s", row->name, row->value ? " " : "",
             row->value ? row->value : "");
    printf("  %-22s %s%s%s%s\n", left, row->help, alias ? " (also " : "",
           alias ? alias : "", alias ? ")" : "");
}

static const option_row_t *print_rows(const char *subject,
                                      const option_row_t *rows, size_t count,
                                      void *arg)
{
    const char **last = arg;
    if (count && (!*last || strcmp(*last, subject)))
        printf("\n%s:\n", subject);
    if (count)
        *last = subject;
    for (size_t i = 0; i < count; i++)
        print_row(&rows[i]);
    return NULL;
}

void option_print_help(const option_table_t *table)
{
    const char *subject = NULL;
    printf("usage: %s [options]", table->command);
    for (unsigned i = 0; i < OPERANDS_MAX && table->operands[i]; i++)
        printf(" %s", table->operands[i]);
    printf("\n%s\n", table->summary);
    option_rows_visit(table, print_rows, &subject);
    printf("  %-22s this text\n  %-22s version\n", "--help", "--version");
}
