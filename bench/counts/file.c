/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts from a file: a line for each rank. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"

static const char blanks[] = " \t,\r\n";

/* The numbers of a line. @return how many, or -1 with the reason. */
static int read_line(counts_t *c, char *text, unsigned row, unsigned line,
                     char *why, size_t size)
{
    unsigned column = 0;
    char *rest, *end;
    for (char *word = strtok_r(text, blanks, &rest); word;
         word = strtok_r(NULL, blanks, &rest)) {
        column++;
        errno = 0;
        unsigned long long n = strtoull(word, &end, 10);
        bool number = *word >= '0' && *word <= '9' && !*end && !errno;
        if (number && n <= UINT32_MAX && row < c->ranks && column <= c->ranks) {
            c->file[(size_t)row * c->ranks + column - 1] = n;
            continue;
        }
        if (!number || n > UINT32_MAX)
            snprintf(why, size, "line %u, column %u is '%.24s'", line, column,
                     word);
        else
            snprintf(why, size, "line %u, column %u is one too many", line,
                     column);
        return -1;
    }
    return (int)column;
}

static int read_rows(counts_t *c, FILE *file, char *why, size_t size)
{
    char *text = NULL;
    size_t room = 0;
    unsigned row = 0, line = 0;
    ssize_t length;
    int n = 0;
    while (n >= 0 && (length = getline(&text, &room, file)) > 0) {
        line++;
        bool whole = strlen(text) == (size_t)length;
        text[strcspn(text, "#")] = '\0';
        n = whole ? read_line(c, text, row, line, why, size) : -1;
        if (!whole)
            snprintf(why, size, "line %u is not text", line);
        if (n > 0 && (unsigned)n < c->ranks) {
            snprintf(why, size, "line %u ends after column %d", line, n);
            n = -1;
        }
        row += n > 0;
    }
    int error = errno;
    free(text);
    if (n < 0)
        return -1;
    if (!feof(file)) {
        snprintf(why, size, "%s", strerror(error));
        return -1;
    }
    if (row < c->ranks)
        snprintf(why, size, "the file ends after line %u, with %u of them",
                 line, row);
    return row < c->ranks ? -1 : 0;
}

int counts_read(counts_t *c, const char *path, char *why, size_t size)
{
    FILE *file = fopen(path, "re");
    c->file =
        file ? calloc((size_t)c->ranks * c->ranks, sizeof *c->file) : NULL;
    int rc = -1;
    if (c->file)
        rc = read_rows(c, file, why, size);
    else
        snprintf(why, size, "%s", strerror(errno));
    if (file)
        fclose(file);
    return rc;
}
