/* SPDX-License-Identifier: BSD-3-Clause */
/* --help: the options of a test by subject. */
#include <stdio.h>
#include <string.h>

#include "rows.h"

#define WIDTH  80
#define INDENT 25

/* The words of @p text behind those that are in the line already. @return
 * where the line ends now. */
static int print_words(const char *text, int column)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > INDENT && column + 1 + length > WIDTH) {
            printf("\n%*s", INDENT - 1, "");
            column = INDENT - 1;
        }
        printf(" %.*s", length, text);
        column += 1 + length;
        text += length + strspn(text + length, " ");
    }
    return column;
}

static void print_row(const option_row_t *row)
{
    const char *alias = option_alias(row->name);
    char left[40], also[40] = "";
    snprintf(left, sizeof left, "%s%s%s", row->name, row->value ? " " : "",
             row->value ? row->value : "");
    int column = printf("  %-*s", INDENT - 3, left);
    if (alias)
        snprintf(also, sizeof also, "(also %s)", alias);
    print_words(also, print_words(row->help, column));
    putchar('\n');
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
    printf("usage: %s%s [options]", table->command,
           table->groups & OPTIONS_RAILS ? " [HOST]" : "");
    for (unsigned i = 0; i < OPERANDS_MAX && table->operands[i]; i++)
        printf(" %s", table->operands[i]);
    printf("\n%s\n", table->summary);
    option_rows_visit(table, print_rows, &subject);
    printf("  %-22s this text\n  %-22s version\n", "--help", "--version");
}
