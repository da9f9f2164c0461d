/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/platform/fnv.h"
#include "table.h"

#define ROWS_MAX 100000
#define COLUMNS                                                                \
    "collective ranks ppn ports engine bytes algorithm zero_copy us lo hi"

/* ------------------------------------------------------------ the machine */

static void cpu_name(char name[DCOLL_TABLE_TEXT])
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, DCOLL_TABLE_TEXT, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strstr(line, ": ");
        if (!colon || strncmp(line, "model name", 10))
            continue;
        colon[2 + strcspn(colon + 2, "\n")] = '\0';
        snprintf(name, DCOLL_TABLE_TEXT, "%s", colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

/* The lines that must be equal on the machine that uses the table. */
static void write_identity(FILE *file, const char *rails)
{
    char cpu[DCOLL_TABLE_TEXT];
    cpu_name(cpu);
    fprintf(file, "dcoll-table %d\nlibrary %s\ncpu %s\ncores %ld\nrails %s\n",
            DCOLL_TABLE_FORMAT, DRAIL_VERSION, cpu,
            sysconf(_SC_NPROCESSORS_ONLN), rails);
}

void dcoll_table_add_rail(char *rails, const char *name)
{
    size_t used = strlen(rails);
    snprintf(rails + used, DCOLL_TABLE_RAILS - used, "%s%s", used ? "," : "",
             name);
}

/* ---------------------------------------------------------------- reading */

struct reading {
    FILE *file;
    dcoll_table_t *table;
    unsigned line;
    char text[2048]; /* the present line, without its newline */
    char *why;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reading *r,
                                                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, r->size, format, args);
    va_end(args);
    return DRAIL_EINVAL;
}

static bool next_line(struct reading *r)
{
    do {
        if (!fgets(r->text, sizeof r->text, r->file))
            return false;
        r->line++;
    } while (*r->text == '#');
    r->text[strcspn(r->text, "\n")] = '\0';
    return true;
}

/* Compares line by line with what this machine would write. */
static int check_identity(struct reading *r, const char *rails)
{
    char *wanted = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&wanted, &size);
    if (!file)
        return DRAIL_ENOMEM;
    write_identity(file, rails);
    if (fclose(file)) {
        free(wanted);
        return DRAIL_ENOMEM;
    }
    char *save = NULL;
    int rc = 0;
    for (char *w = strtok_r(wanted, "\n", &save); !rc && w;
         w = strtok_r(NULL, "\n", &save))
        if (!next_line(r))
            rc = refuse(r, "it ends at line %u", r->line);
        else if (strcmp(r->text, w))
            rc = refuse(r, "line %u is '%.100s', and here it would be '%s'",
                        r->line, r->text, w);
    free(wanted);
    return rc;
}

static dcoll_table_row_t *add_row(dcoll_table_t *table)
{
    /* grows by powers of two */
    if (!(table->count & (table->count - 1))) {
        size_t capacity = table->count ? 2 * (size_t)table->count : 1;
        dcoll_table_row_t *rows = realloc(table->rows, capacity * sizeof *rows);
        if (!rows)
            return NULL;
        table->rows = rows;
    }
    return &table->rows[table->count++];
}

static bool good_figures(const dcoll_table_row_t *row)
{
    return isfinite(row->us) && isfinite(row->hi) && row->lo > 0 &&
           row->lo <= row->us && row->us <= row->hi;
}

static int read_row(struct reading *r)
{
    dcoll_table_row_t row = {0};
    char collective[32], engine[32], algorithm[64];
    unsigned zero_copy;
    int end = 0;
    /* %u would accept a sign */
    if (strstr(r->text, " -") ||
        sscanf(r->text, "%31s %u %u %u %31s %" SCNu64 " %63s %u %lf %lf %lf%n",
               collective, &row.ranks, &row.ppn, &row.ports, engine, &row.bytes,
               algorithm, &zero_copy, &row.us, &row.lo, &row.hi, &end) != 11 ||
        drail_engine_parse(engine, &row.engine) || r->text[end] ||
        zero_copy > 1 || !row.ranks || !row.ppn || !row.ports ||
        !good_figures(&row))
        return refuse(r, "line %u is malformed: '%.100s'", r->line, r->text);
    if (dcoll_collective_parse(collective, &row.collective) ||
        !(row.algorithm = dcoll_algorithm_find(row.collective, algorithm)))
        return refuse(r, "line %u: there is no %s %s", r->line, collective,
                      algorithm);
    row.zero_copy = zero_copy;
    if (r->table->count == ROWS_MAX)
        return refuse(r, "more than %d lines", ROWS_MAX);
    dcoll_table_row_t *place = add_row(r->table);
    if (!place)
        return DRAIL_ENOMEM;
    *place = row;
    return 0;
}

int dcoll_table_load(const char *path, const char *rails, dcoll_table_t *table,
                     char *why, size_t size)
{
    struct reading r = {.table = table, .why = why, .size = size};
    *table = (dcoll_table_t){0};
    r.file = fopen(path, "re");
    if (!r.file)
        return refuse(&r, "%m");
    int rc = check_identity(&r, rails);
    if (!rc && (!next_line(&r) || strcmp(r.text, COLUMNS)))
        rc = refuse(&r, "line %u is not '%s'", r.line, COLUMNS);
    while (!rc && next_line(&r))
        rc = read_row(&r);
    if (!rc && !table->count)
        rc = refuse(&r, "it is empty");
    fclose(r.file);
    if (rc == DRAIL_ENOMEM)
        refuse(&r, "out of memory");
    return rc;
}

void dcoll_table_free(dcoll_table_t *table)
{
    free(table->rows);
    *table = (dcoll_table_t){0};
}

uint64_t dcoll_table_checksum(const dcoll_table_t *table)
{
    uint64_t sum = FNV_EMPTY;
    for (unsigned i = 0; i < table->count; i++) {
        const dcoll_table_row_t *row = &table->rows[i];
        uint64_t numbers[] = {row->collective, row->ranks,  row->ppn,
                              row->ports,      row->engine, row->bytes,
                              row->zero_copy};
        sum = fnv_add(sum, numbers, sizeof numbers);
        sum = fnv_add(sum, row->algorithm->name,
                      strlen(row->algorithm->name) + 1);
    }
    return sum;
}

void dcoll_table_write(FILE *file, const dcoll_table_t *table,
                       const char *rails, const char *environment)
{
    write_identity(file, rails);
    fprintf(file, "%s%s\n", environment ? environment : "", COLUMNS);
    for (unsigned i = 0; i < table->count; i++) {
        const dcoll_table_row_t *row = &table->rows[i];
        fprintf(file, "%s %u %u %u %s %" PRIu64 " %s %d %.6g %.6g %.6g\n",
                dcoll_collective_name(row->collective), row->ranks, row->ppn,
                row->ports, drail_engine_name(row->engine), row->bytes,
                row->algorithm->name, row->zero_copy, row->us, row->lo,
                row->hi);
    }
}
