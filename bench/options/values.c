/* SPDX-License-Identifier: BSD-3-Clause */
/* Single values of options. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsers.h"

int option_parse_count(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *text < '0' || *text > '9' || *end || (double)n < row->min ||
        (double)n > row->max) {
        snprintf(allowed, size, "a number from %.0f to %.0f", row->min,
                 row->max);
        return -1;
    }
    *(uint64_t *)field = n;
    return 0;
}

int option_parse_buffers(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    if (!strcmp(text, BUFFERS_OFF_CACHE_NAME)) {
        *(uint64_t *)field = BUFFERS_OFF_CACHE;
        return 0;
    }
    int rc = option_parse_count(row, text, field, allowed, size);
    if (rc)
        strncat(allowed, ", or " BUFFERS_OFF_CACHE_NAME,
                size - strlen(allowed) - 1);
    return rc;
}

int option_real(const char *text, double min, double max, double *value)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x) || x < min || x > max)
        return -1;
    *value = x;
    return 0;
}

/* A time such as 3, 3s, 500ms: in units of @p unit seconds, as is a number
 * alone. Returns 0, or -1: no time from @p min to @p max. */
static int read_time(const char *text, double unit, double min, double max,
                     double *value)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                 {"min", 60},  {"m", 60},    {"h", 3600}};
    char *end;
    double x = strtod(text, &end);
    size_t i = 0;
    while (*end && i < COUNT(units) && strcmp(end, units[i].name))
        i++;
    if (end == text || i == COUNT(units) || !isfinite(x))
        return -1;
    if (*end)
        x *= units[i].seconds / unit;
    if (x < min || x > max)
        return -1;
    *value = x;
    return 0;
}

int option_parse_seconds(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    snprintf(allowed, size,
             "seconds from %g to %g, or with a unit: 500ms, 3s, 2min, 1h",
             row->min, row->max);
    return read_time(text, 1, row->min, row->max, field);
}

int option_parse_us(const option_row_t *row, const char *text, void *field,
                    char *allowed, size_t size)
{
    snprintf(allowed, size,
             "microseconds from %g to %g, or with a unit: 3us, 0.5ms", row->min,
             row->max);
    return read_time(text, 1e-6, row->min, row->max, field);
}

int option_parse_number(const option_row_t *row, const char *text, void *field,
                        char *allowed, size_t size)
{
    snprintf(allowed, size, "a number from %g to %g", row->min, row->max);
    return option_real(text, row->min, row->max, field);
}

int option_parse_percent(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    double percent;
    snprintf(allowed, size, "a percentage from %g to %g", row->min, row->max);
    if (option_real(text, row->min, row->max, &percent))
        return -1;
    *(double *)field = percent / 100;
    return 0;
}

int option_parse_flag(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    (void)row, (void)text, (void)allowed, (void)size;
    *(bool *)field = true;
    return 0;
}

int option_parse_text(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "the name of a file");
    *(const char **)field = text;
    return *text ? 0 : -1;
}

int option_parse_code(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "as its --server has printed");
    *(const char **)field = text;
    return *text ? 0 : -1;
}

int option_parse_address(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "host:port, or [IPv6 address]:port");
    *(const char **)field = text;
    return strchr(text, ':') ? 0 : -1;
}

int option_parse_bytes(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "bytes from 0 to 1G (K, M, G: powers of 1024)");
    return size_parse(text, field);
}

int option_parse_align(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    uint64_t bytes;
    (void)row;
    snprintf(allowed, size, "0, or a power of 2 up to 1G");
    if (size_parse(text, &bytes) || bytes & (bytes - 1))
        return -1;
    *(uint64_t *)field = bytes;
    return 0;
}

int option_choice(const char *const *names, unsigned count, const char *text,
                  char *allowed, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!strcmp(text, names[i]))
            return (int)i;
        used += (size_t)snprintf(allowed + used, size - used, "%s%s",
                                 !i              ? ""
                                 : i < count - 1 ? ", "
                                                 : " or ",
                                 names[i]);
    }
    return -1;
}

int option_parse_pingpong(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    static const char *const names[] = {"auto", "notify"};
    (void)row;
    int i = option_choice(names, COUNT(names), text, allowed, size);
    *(bool *)field = i == 1;
    return i < 0 ? -1 : 0;
}

const char *const option_types[] = {"int8",  "int16",  "int32",  "int64",
                                    "uint8", "uint16", "uint32", "uint64",
                                    "float", "double", NULL};
const char *const option_operators[] = {"sum",  "prod", "min",  "max",
                                        "land", "lor",  "lxor", "band",
                                        "bor",  "bxor", NULL};

const char *options_type(const options_t *opts)
{
    return option_types[opts->type];
}

const char *options_operator(const options_t *opts)
{
    return option_operators[opts->op];
}
