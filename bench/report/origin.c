/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a result comes from: when it was begun, by which command. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static bool plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("%+,-./:=@_", *c))
            return false;
    return *text;
}

static bool printable(const char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            return false;
    return true;
}

/* As a shell takes it, and always on one line. */
static void argument(FILE *file, const char *text)
{
    bool escaped = !printable(text), quoted = escaped || !plain(text);
    if (quoted)
        fputs(escaped ? "$'" : "'", file);
    for (const char *c = text; *c; c++) {
        if (escaped && iscntrl((unsigned char)*c))
            fprintf(file, "\\%03o", (unsigned char)*c);
        else if (escaped && strchr("'\\", *c))
            fprintf(file, "\\%c", *c);
        else if (quoted && *c == '\'')
            fputs("'\\''", file);
        else
            fputc(*c, file);
    }
    if (quoted)
        fputc('\'', file);
}

static void command(FILE *file, const options_t *opts)
{
    for (int i = 0; i < opts->argc; i++) {
        if (i)
            fputc(' ', file);
        argument(file, opts->argv[i]);
    }
}

const char *report_date(const machine_t *m)
{
    return m->simulated[0] ? "" : m->date;
}

void report_origin(FILE *file, const machine_t *m, const options_t *opts)
{
    const char *date = report_date(m);
    fprintf(file, "# %s%s", date, *date ? ": " : "");
    command(file, opts);
    fputc('\n', file);
}

void report_csv_text(FILE *file, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n");
    fputs(quoted ? ",\"" : ",", file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    if (quoted)
        fputc('"', file);
}

void report_csv_header(FILE *file, const char *columns)
{
    fprintf(file, "%s,date,command\n", columns);
}

void report_csv_origin(FILE *file, const machine_t *m, const options_t *opts)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    report_csv_text(file, report_date(m));
    if (memory) {
        command(memory, opts);
        fclose(memory);
    }
    report_csv_text(file, text ? text : "");
    free(text);
    fputc('\n', file);
}
