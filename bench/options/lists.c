/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options that are lists. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsers.h"

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

/* An array of an enumeration in the options, with the number that are given. */
typedef struct choices {
    int (*value)(const char *name, int *value);
    size_t list, count; /* offsets in options_t */
    unsigned max;
    const char *names; /* that are allowed */
} choices_t;

#define CHOICES(list, count)                                                   \
    offsetof(options_t, list), offsetof(options_t, count),                     \
        COUNT(((options_t *)0)->list)
#define CHOICES_MAX 9

_Static_assert(DCOLL_ALLTOALLV < CHOICES_MAX, "the longest list");
_Static_assert(sizeof(drail_engine_t) == sizeof(int) &&
                   sizeof(op_kind_t) == sizeof(int) &&
                   sizeof(dcoll_collective_t) == sizeof(int),
               "lists of enumerations are copied as int");

/* Names to distinct values. */
static int parse_choices(const choices_t *c, options_t *opts, const char *text,
                         char *allowed, size_t size)
{
    char name[DRAIL_NAME_MAX];
    int values[CHOICES_MAX];
    unsigned n = 0;
    snprintf(allowed, size, "a list of %s, each once", c->names);
    while (option_next(&text, name, sizeof name)) {
        if (n == c->max || c->value(name, &values[n]))
            return -1;
        for (unsigned i = 0; i < n; i++)
            if (values[i] == values[n])
                return -1;
        n++;
    }
    memcpy((char *)opts + c->list, values, n * sizeof *values);
    memcpy((char *)opts + c->count, &n, sizeof n);
    return 0;
}

static int engine_value(const char *name, int *value)
{
    drail_engine_t engine;
    int rc = drail_engine_parse(name, &engine);
    *value = rc ? -1 : (int)engine;
    return rc;
}

static int policy_value(const char *name, int *value)
{
    drail_policy_t policy;
    int rc = drail_policy_parse(name, &policy);
    *value = rc ? -1 : (int)policy;
    return rc;
}

static int team_value(const char *name, int *value)
{
    drail_team_t team;
    int rc = drail_team_parse(name, &team);
    *value = rc ? -1 : (int)team;
    return rc;
}

static int waiting_value(const char *name, int *value)
{
    drail_waiting_t waiting;
    int rc = drail_waiting_parse(name, &waiting);
    *value = rc ? -1 : (int)waiting;
    return rc;
}

static int notify_by_value(const char *name, int *value)
{
    drail_notify_by_t by;
    int rc = drail_notify_by_parse(name, &by);
    *value = rc ? -1 : (int)by;
    return rc;
}

int option_parse_engines(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    static const choices_t choices = {engine_value, CHOICES(engines, nengines),
                                      "single, nonthreaded, threaded, auto"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

int option_parse_policies(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    static const choices_t choices = {
        policy_value, CHOICES(policies, npolicies),
        "even, weighted, adaptive, roundrobin, fixed"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

int option_parse_teams(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    static const choices_t choices = {team_value, CHOICES(teams, nteams),
                                      "resident, forkjoin"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

int option_parse_waitings(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    static const choices_t choices = {
        waiting_value, CHOICES(waitings, nwaitings), "any, serial"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

int option_parse_notify_bys(const option_row_t *row, const char *text,
                            void *field, char *allowed, size_t size)
{
    static const choices_t choices = {
        notify_by_value, CHOICES(notify_bys, nnotify_bys), "auto, send, immed"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

/* One of @p count from @p first on. */
static int op_value(op_kind_t first, unsigned count, const char *name,
                    int *value)
{
    static const char *const names[OP_KINDS] = {OP_NAMES};
    char allowed[64];
    int i = option_choice(names + first, count, name, allowed, sizeof allowed);
    *value = (int)first + i;
    return i < 0 ? -1 : 0;
}

static int message_value(const char *name, int *value)
{
    return op_value(OP_PUT, OP_FETCH_ADD, name, value);
}

static int atomic_value(const char *name, int *value)
{
    return op_value(OP_FETCH_ADD, OP_KINDS - OP_FETCH_ADD, name, value);
}

int option_parse_ops(const option_row_t *row, const char *text, void *field,
                     char *allowed, size_t size)
{
    static const choices_t choices = {message_value, CHOICES(ops, nops),
                                      "put, get, send"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

int option_parse_atomics(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    static const choices_t choices = {atomic_value, CHOICES(ops, nops),
                                      "fetch-add, cmp-swap"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
}

static int collective_value(const char *name, int *value)
{
    dcoll_collective_t collective;
    int rc = dcoll_collective_parse(name, &collective);
    *value = rc ? -1 : (int)collective;
    return rc;
}

static int any_collective_value(const char *name, int *value)
{
    *value = DCOLL_ALLTOALLV;
    return strcmp(name, dcoll_collective_name(DCOLL_ALLTOALLV))
               ? collective_value(name, value)
               : 0;
}

int option_parse_collectives(const option_row_t *row, const char *text,
                             void *field, char *allowed, size_t size)
{
#define REGULAR                                                                \
    "gather, allgather, alltoall, bcast, scatter, barrier, reduce, allreduce"
    static const choices_t regular = {
        collective_value, CHOICES(collectives, ncollectives), REGULAR};
    static const choices_t any = {any_collective_value,
                                  CHOICES(collectives, ncollectives),
                                  REGULAR ", alltoallv"};
    return parse_choices(row->max ? &any : &regular, field, text, allowed,
                         size);
#undef REGULAR
}

static int unit_value(const char *name, int *value)
{
    static const char *const names[UNITS] = {UNIT_NAMES};
    char allowed[64];
    *value = option_choice(names, UNITS, name, allowed, sizeof allowed);
    return *value < 0 ? -1 : 0;
}

int option_parse_units(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    static const choices_t choices = {unit_value, CHOICES(units, nunits),
                                      "MB/s, Gb/s, Mmsg/s"};
    (void)row;
    return parse_choices(&choices, field, text, allowed, size);
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
