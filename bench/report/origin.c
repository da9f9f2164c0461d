/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a result comes from: when it was begun, by which command. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "utf8.h"

static bool plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("%+,-./:=@_", *c))
            return false;
    return *text;
}

/* Bytes of the character at @p text, 0 if it can't be shown. */
static unsigned printable(const char *text)
{
    return iscntrl((unsigned char)*text) ? 0 : utf8_length(text);
}

static bool all_printable(const char *text)
{
    unsigned length = 1;
    while (length && *text)
        text += length = printable(text);
    return length;
}

void report_argument(FILE *file, const char *text)
{
    bool escaped = !all_printable(text), quoted = escaped || !plain(text);
    if (quoted)
        fputs(escaped ? "$'" : "'", file);
    for (const char *c = text, *next; *c; c = next) {
        next = c + (printable(c) ? printable(c) : 1);
        if (escaped && !printable(c))
            fprintf(file, "\\%03o", (unsigned char)*c);
        else if (escaped && strchr("'\\", *c))
            fprintf(file, "\\%c", *c);
        else if (quoted && *c == '\'')
            fputs("'\\''", file);
        else
            fwrite(c, 1, (size_t)(next - c), file);
    }
    if (quoted)
        fputc('\'', file);
}

static void command(FILE *file, const options_t *opts)
{
    for (int i = 0; i < opts->argc; i++) {
        if (i)
            fputc(' ', file);
        report_argument(file, opts->argv[i]);
    }
}

static const char *date_of(const machine_t *m)
{
    return m->simulated[0] ? "" : m->date;
}

void report_origin(FILE *file, const machine_t *m, const options_t *opts)
{
    const char *date = date_of(m);
    fprintf(file, "# %s%s", date, *date ? ": " : "");
    command(file, opts);
    fputc('\n', file);
}

void report_csv_quoted(FILE *file, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted)
        fputc('"', file);
    while (*text) {
        unsigned length = utf8_length(text);
        if (*text == '"')
            fputc('"', file);
        fwrite(length ? text : UTF8_REPLACEMENT, 1,
               length ? length : strlen(UTF8_REPLACEMENT), file);
        text += length ? length : 1;
    }
    if (quoted)
        fputc('"', file);
}

void report_csv_origin(FILE *file, const machine_t *m, const options_t *opts)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    fputc(',', file);
    report_csv_quoted(file, date_of(m));
    if (memory) {
        command(memory, opts);
        fclose(memory);
    }
    fputc(',', file);
    report_csv_quoted(file, text ? text : "");
    free(text);
    fputc('\n', file);
}
