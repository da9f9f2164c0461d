/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options that are lists. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsers.h"

#define NAMES_MAX 12 /* of an option_names_t that are given at a time */
_Static_assert(DCOLL_ALLTOALLV < NAMES_MAX, "the longest list");
_Static_assert(sizeof(drail_engine_t) == sizeof(int) &&
                   sizeof(op_kind_t) == sizeof(int) &&
                   sizeof(dcoll_collective_t) == sizeof(int) &&
                   sizeof(format_t) == sizeof(int),
               "enumerations are copied as int");

bool option_next(const char **text, char *element, size_t size)
{
    if (!*text)
        return false;
    const char *comma = strchr(*text, ',');
    int n = comma ? (int)(comma - *text) : (int)strlen(*text);
    snprintf(element, size, "%.*s", n, *text);
    *text = comma ? comma + 1 : NULL;
    return true;
}

/* Lists the allowed names with commas. @last: the word before the last name,
 * "or" where one name is chosen. */
static void tell_names(const option_names_t *names, const char *last,
                       char *allowed, size_t size)
{
    size_t used = strlen(allowed);
    for (unsigned i = 0; names->list[i] && used < size; i++)
        used += (size_t)snprintf(allowed + used, size - used, "%s%s",
                                 !i                   ? ""
                                 : names->list[i + 1] ? ", "
                                                      : last,
                                 names->list[i]);
}

static int value_of(const option_names_t *names, const char *name, int *value)
{
    for (int i = 0; names->list[i]; i++)
        if (!strcmp(names->list[i], name)) {
            *value = names->first + i;
            return 0;
        }
    return -1;
}

int option_parse_name(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    int value;
    if (value_of(row->names, text, &value)) {
        tell_names(row->names, " or ", allowed, size);
        return -1;
    }
    memcpy(field, &value, sizeof value);
    return 0;
}

int option_parse_names(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    const option_names_t *names = row->names;
    char name[DRAIL_NAME_MAX];
    int values[NAMES_MAX];
    unsigned n = 0;
    snprintf(allowed, size, "a list of ");
    tell_names(names, ", ", allowed, size);
    strncat(allowed, ", each once", size - strlen(allowed) - 1);
    while (option_next(&text, name, sizeof name)) {
        if (n == names->most || value_of(names, name, &values[n]))
            return -1;
        for (unsigned i = 0; i < n; i++)
            if (values[i] == values[n])
                return -1;
        n++;
    }
    memcpy(field, values, n * sizeof *values);
    memcpy((char *)field - row->field + names->count, &n, sizeof n);
    return 0;
}

int option_parse_numbers(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "a list of numbers from 1, like 4,4,2");
    for (const char *c = text;; c++) {
        if (*c < '1' || *c > '9')
            return -1;
        c += strspn(c, "0123456789");
        if (!*c)
            break;
        if (*c != ',')
            return -1;
    }
    *(const char **)field = text;
    return 0;
}

/* Which names there are depends on the collective: coll_plan_make checks. */
int option_parse_algorithms(const option_row_t *row, const char *text,
                            void *field, char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    char name[DRAIL_NAME_MAX];
    snprintf(allowed, size, "a list of at most %d names, each once",
             ALGORITHMS_MAX);
    opts->nalgorithms = 0;
    while (option_next(&text, name, sizeof name)) {
        if (!*name || opts->nalgorithms == ALGORITHMS_MAX)
            return -1;
        for (unsigned i = 0; i < opts->nalgorithms; i++)
            if (!strcmp(opts->algorithms[i], name))
                return -1;
        memcpy(opts->algorithms[opts->nalgorithms++], name, sizeof name);
    }
    return 0;
}

int option_parse_weights(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    options_t *opts = field;
    char element[DRAIL_NAME_MAX];
    double sum = 0;
    snprintf(allowed, size,
             "one number from 0 to %g per rail, not all of them 0", row->max);
    opts->nweights = 0;
    while (option_next(&text, element, sizeof element)) {
        if (opts->nweights == DRAIL_MAX_RAILS ||
            option_real(element, 0, row->max, &opts->weights[opts->nweights]))
            return -1;
        sum += opts->weights[opts->nweights++];
    }
    return sum > 0 ? 0 : -1;
}

int option_parse_sizes(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    snprintf(allowed, size,
             "LO:HI or a list of at most %d sizes, bytes from 0 to 1G (K, M, "
             "G: powers of 1024)",
             SIZES_MAX);
    return sizes_parse(text, opts->sizes, &opts->nsizes);
}

/* RANKS or RANKS:PPN */
static int parse_shape(const char *text, struct shape *shape)
{
    char allowed[64], ranks[16];
    const option_row_t row = {.min = 1, .max = 1024};
    const char *colon = strchr(text, ':');
    int length = colon ? (int)(colon - text) : (int)strlen(text);
    snprintf(ranks, sizeof ranks, "%.*s", length, text);
    shape->ppn = 0;
    if (option_parse_count(&row, ranks, &shape->ranks, allowed, sizeof allowed))
        return -1;
    return colon ? option_parse_count(&row, colon + 1, &shape->ppn, allowed,
                                      sizeof allowed)
                 : 0;
}

int option_parse_shapes(const option_row_t *row, const char *text, void *field,
                        char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    char element[16];
    snprintf(allowed, size,
             "a list of at most %d RANKS or RANKS:PPN, numbers from 1 to 1024",
             SHAPES_MAX);
    opts->nshapes = 0;
    while (option_next(&text, element, sizeof element))
        if (opts->nshapes == SHAPES_MAX ||
            parse_shape(element, &opts->shapes[opts->nshapes++]))
            return -1;
    return 0;
}

int option_parse_saves(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    char path[4096];
    snprintf(allowed, size, "names of at most %d files", SAVES_MAX);
    options_free(opts);
    while (option_next(&text, path, sizeof path)) {
        if (!*path || opts->nsaves == SAVES_MAX)
            return -1;
        opts->saves[opts->nsaves] = strdup(path);
        if (!opts->saves[opts->nsaves++])
            return -1;
    }
    return 0;
}

#define SIMULATED "sim:"

/* Does the registry list this IA? Opens nothing. */
static bool rail_listed(const char *name)
{
    unsigned count = 0;
    bool found = false;
    if (drail_rails_list(NULL, 0, &count) || !count)
        return false;
    char(*names)[DRAIL_NAME_MAX] = calloc(count, sizeof *names);
    unsigned listed = count;
    if (names && !drail_rails_list(names, count, &listed))
        for (unsigned i = 0; i < count && i < listed && !found; i++)
            found = !strcmp(names[i], name);
    free(names);
    return found;
}

/* "sim:NAME": all rails of its nodes. */
static int parse_simulated(options_t *opts, const char *text, char *allowed,
                           size_t size)
{
    drail_error_t err = {0};
    if (drail_rails_simulated(text + strlen(SIMULATED), opts->rails,
                              DRAIL_MAX_RAILS, &opts->nrails, &opts->cluster,
                              &err)) {
        snprintf(allowed, size, "IA names, or one simulated cluster; %s",
                 err.text);
        return -1;
    }
    opts->simulated = text + strlen(SIMULATED);
    return 0;
}

int option_parse_rails(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    if (!strncmp(text, SIMULATED, strlen(SIMULATED)))
        return parse_simulated(opts, text, allowed, size);
    char name[DRAIL_NAME_MAX];
    unsigned n = 0;
    while (option_next(&text, name, sizeof name)) {
        if (n == DRAIL_MAX_RAILS) {
            snprintf(allowed, size, "at most %d rails", DRAIL_MAX_RAILS);
            return -1;
        }
        for (unsigned i = 0; i < n; i++)
            if (!strcmp(opts->rails[i], name)) {
                snprintf(allowed, size, "distinct rails; '%s' is listed twice",
                         name);
                return -1;
            }
        if (!rail_listed(name)) {
            drail_rail_info_t info;
            drail_error_t err = {0};
            drail_rail_query(name, &info, &err); /* for the reason */
            snprintf(allowed, size,
                     "IA names of dat.conf as railinfo lists them; %s",
                     err.text);
            return -1;
        }
        snprintf(opts->rails[n++], DRAIL_NAME_MAX, "%s", name);
    }
    opts->nrails = n;
    opts->simulated = NULL;
    return 0;
}
