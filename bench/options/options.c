/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const format_names[] = {"table", "csv", "json"};

uint64_t options_ppn(const options_t *opts)
{
    return opts->ppn && opts->ppn < opts->ranks ? opts->ppn : opts->ranks;
}

sampling_t options_sampling(const options_t *opts)
{
    return (sampling_t){.repeat = opts->repeat,
                        .certain = opts->simulated,
                        .precision = opts->precision,
                        .seconds = opts->time_budget};
}

uint64_t options_warmup(const options_t *opts)
{
    return opts->warmup == WARMUP_DEFAULT ? 10 : opts->warmup;
}

format_t format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (unsigned i = 0; dot && i < COUNT(format_names); i++)
        if (!strcmp(dot + 1, format_names[i]))
            return (format_t)i;
    return FORMAT_TABLE;
}

/* ------------------------------------------------------- single values --- */

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

static int parse_real(const char *text, double min, double max, double *value)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x) || x < min || x > max)
        return -1;
    *value = x;
    return 0;
}

int option_parse_number(const option_row_t *row, const char *text, void *field,
                        char *allowed, size_t size)
{
    snprintf(allowed, size, "a number from %g to %g", row->min, row->max);
    return parse_real(text, row->min, row->max, field);
}

static int parse_percent(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    double percent;
    snprintf(allowed, size, "a percentage from %g to %g", row->min, row->max);
    if (parse_real(text, row->min, row->max, &percent))
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

static int parse_text(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "the name of a file");
    *(const char **)field = text;
    return *text ? 0 : -1;
}

static int parse_address(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "host:port, or [IPv6 address]:port");
    *(const char **)field = text;
    return strchr(text, ':') ? 0 : -1;
}

static int parse_bytes(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "bytes from 0 to 1G (K, M, G: powers of 1024)");
    return size_parse(text, field);
}

static int parse_align(const option_row_t *row, const char *text, void *field,
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

/* Index of @p text in @p names, or -1 with the names in @p allowed. */
static int choose_name(const char *const *names, unsigned count,
                       const char *text, char *allowed, size_t size)
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

static int parse_format(const option_row_t *row, const char *text, void *field,
                        char *allowed, size_t size)
{
    (void)row;
    int i = choose_name(format_names, COUNT(format_names), text, allowed, size);
    *(format_t *)field = (format_t)i;
    return i < 0 ? -1 : 0;
}

static int parse_zero_copy(const option_row_t *row, const char *text,
                           void *field, char *allowed, size_t size)
{
    static const char *const names[] = {"auto", "on", "off"};
    (void)row;
    int i = choose_name(names, COUNT(names), text, allowed, size);
    *(zero_copy_t *)field = (zero_copy_t)i;
    return i < 0 ? -1 : 0;
}

static int parse_start(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    static const char *const names[] = {"auto", "time", "barrier"};
    (void)row;
    int i = choose_name(names, COUNT(names), text, allowed, size);
    *(start_mode_t *)field = (start_mode_t)i;
    return i < 0 ? -1 : 0;
}

/* --------------------------------------------------------------- lists --- */

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

/* Enumerations of the library, one shape: names to distinct values. */
static int parse_names(const char *text, int (*parse)(const char *, int *),
                       int *values, unsigned max, unsigned *count)
{
    char name[DRAIL_NAME_MAX];
    unsigned n = 0;
    while (option_next(&text, name, sizeof name)) {
        int value;
        if (n == max || parse(name, &value))
            return -1;
        for (unsigned i = 0; i < n; i++)
            if (values[i] == value)
                return -1;
        values[n++] = value;
    }
    *count = n;
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

static int parse_engines(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[COUNT(opts->engines)];
    snprintf(allowed, size,
             "a list of single, nonthreaded, threaded, auto, each once");
    if (parse_names(text, engine_value, values, COUNT(values), &opts->nengines))
        return -1;
    for (unsigned i = 0; i < opts->nengines; i++)
        opts->engines[i] = (drail_engine_t)values[i];
    return 0;
}

static int parse_policies(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[COUNT(opts->policies)];
    snprintf(allowed, size,
             "a list of even, weighted, adaptive, roundrobin, fixed, each "
             "once");
    if (parse_names(text, policy_value, values, COUNT(values),
                    &opts->npolicies))
        return -1;
    for (unsigned i = 0; i < opts->npolicies; i++)
        opts->policies[i] = (drail_policy_t)values[i];
    return 0;
}

static int parse_teams(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[COUNT(opts->teams)];
    snprintf(allowed, size, "a list of resident, forkjoin, each once");
    if (parse_names(text, team_value, values, COUNT(values), &opts->nteams))
        return -1;
    for (unsigned i = 0; i < opts->nteams; i++)
        opts->teams[i] = (drail_team_t)values[i];
    return 0;
}

static int parse_waitings(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[COUNT(opts->waitings)];
    snprintf(allowed, size, "a list of any, serial, each once");
    if (parse_names(text, waiting_value, values, COUNT(values),
                    &opts->nwaitings))
        return -1;
    for (unsigned i = 0; i < opts->nwaitings; i++)
        opts->waitings[i] = (drail_waiting_t)values[i];
    return 0;
}

static int parse_notify_bys(const option_row_t *row, const char *text,
                            void *field, char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[COUNT(opts->notify_bys)];
    snprintf(allowed, size, "a list of auto, send, immed, each once");
    if (parse_names(text, notify_by_value, values, COUNT(values),
                    &opts->nnotify_bys))
        return -1;
    for (unsigned i = 0; i < opts->nnotify_bys; i++)
        opts->notify_bys[i] = (drail_notify_by_t)values[i];
    return 0;
}

static int collective_value(const char *name, int *value)
{
    dcoll_collective_t collective;
    int rc = dcoll_collective_parse(name, &collective);
    *value = rc ? -1 : (int)collective;
    return rc;
}

static int parse_collectives(const option_row_t *row, const char *text,
                             void *field, char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[DCOLL_COLLECTIVES];
    snprintf(allowed, size,
             "a list of gather, allgather, alltoall, bcast, scatter, barrier, "
             "each once");
    if (parse_names(text, collective_value, values, COUNT(values),
                    &opts->ncollectives))
        return -1;
    for (unsigned i = 0; i < opts->ncollectives; i++)
        opts->collectives[i] = (dcoll_collective_t)values[i];
    return 0;
}

static int unit_value(const char *name, int *value)
{
    static const char *const names[UNITS] = {UNIT_NAMES};
    char allowed[64];
    *value = choose_name(names, UNITS, name, allowed, sizeof allowed);
    return *value < 0 ? -1 : 0;
}

static int parse_units(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    options_t *opts = field;
    int values[UNITS];
    snprintf(allowed, size, "a list of MB/s, Gb/s, Mmsg/s, each once");
    if (parse_names(text, unit_value, values, UNITS, &opts->nunits))
        return -1;
    for (unsigned i = 0; i < opts->nunits; i++)
        opts->units[i] = (unit_t)values[i];
    return 0;
}

/* Which names there are depends on the collective: coll_plan_make checks. */
static int parse_algorithms(const option_row_t *row, const char *text,
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

static int parse_weights(const option_row_t *row, const char *text, void *field,
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
            parse_real(element, 0, row->max, &opts->weights[opts->nweights]))
            return -1;
        sum += opts->weights[opts->nweights++];
    }
    return sum > 0 ? 0 : -1;
}

static int parse_sizes(const option_row_t *row, const char *text, void *field,
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

static int parse_shapes(const option_row_t *row, const char *text, void *field,
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

static int parse_saves(const option_row_t *row, const char *text, void *field,
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

static int parse_rails(const option_row_t *row, const char *text, void *field,
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

/* --------------------------------------------------------------- table --- */

#define AT(member) offsetof(options_t, member)
#define WHOLE      0 /* the parser fills several members */

static const option_row_t rail_rows[] = {
    {"--rails", "A,B,...",
     "IA names (default: the embedded shm rails), or sim:NAME: those of a "
     "simulated cluster",
     parse_rails, WHOLE, 0, 0},
    {"--engine", "E,...",
     "single, nonthreaded, threaded, auto; several are interleaved in one run "
     "(default: the first three; of collectives nonthreaded)",
     parse_engines, WHOLE, 0, 0},
    {"--team", "T,...",
     "threads of the threaded engine: resident or forkjoin (default resident)",
     parse_teams, WHOLE, 0, 0},
    {"--policy", "P,...",
     "even, weighted, adaptive, roundrobin, fixed (default even)",
     parse_policies, WHOLE, 0, 0},
    {"--weights", "W,...",
     "policy weighted: a rate per rail (default: nominal rates, else equal)",
     parse_weights, WHOLE, 0, 1e9},
    {"--threshold", "BYTES", "shorter messages go over one rail", parse_bytes,
     AT(threshold), 0, 0},
    {"--eps", "N", "EPs for each rail and peer (default 1)", option_parse_count,
     AT(eps), 1, DRAIL_MAX_EPS},
    {"--align", "BYTES",
     "borders of stripes are multiples of it (default 0: cache lines between "
     "long ones, equal parts of short messages)",
     parse_align, AT(align), 0, 0},
    {"--no-pin", NULL, "leave threads where the scheduler puts them",
     option_parse_flag, AT(no_pin), 0, 0},
};

static const option_row_t iteration_rows[] = {
    {"--iterations", "N",
     "iterations per repeat (default: about 10 ms; simulated 4)",
     option_parse_count, AT(iterations), 1, 1e9},
    {"--warmup", "N",
     "iterations dropped before each size and configuration (default 10, of "
     "long ones fewer; simulated 1)",
     option_parse_count, AT(warmup), 0, 1e9},
    {"--validate", NULL, "check every byte in a separate pass",
     option_parse_flag, AT(validate), 0, 0},
    {"--no-payload", NULL,
     "simulated: buffers are never touched, the time is that of their bytes",
     option_parse_flag, AT(no_payload), 0, 0},
};

static const option_row_t pair_rows[] = {
    {"--wait", "W,...",
     "engines nonthreaded, auto: for any rail, or rail after rail: any, serial "
     "(default any)",
     parse_waitings, WHOLE, 0, 0},
    {"--notify-by", "N,...",
     "what tells that the data are there: send (after them), immed (with the "
     "last of them), or auto (default auto)",
     parse_notify_bys, WHOLE, 0, 0},
    {"--explain", NULL, "say on stderr which rails carry what, and why",
     option_parse_flag, AT(explain), 0, 0},
    {"--per-rail", NULL, "table: also bytes and time of each rail",
     option_parse_flag, AT(per_rail), 0, 0},
    {"--units", "U,...",
     "table: columns MB/s, Gb/s, Mmsg/s (messages) (default MB/s)", parse_units,
     WHOLE, 0, 0},
    {"--histogram", "FILE",
     "also write how often each time was taken there, as CSV", parse_text,
     AT(histogram), 0, 0},
};

static const option_row_t stats_rows[] = {
    {"--rail-stats", NULL,
     "table: what each rail has carried (always, if one has failed)",
     option_parse_flag, AT(rail_stats), 0, 0},
};

static const option_row_t ranks_rows[] = {
    {"--ranks", "N",
     "number of ranks (default: those launched, else 2; simulated, between "
     "more than two: the cluster's, up to 32)",
     option_parse_count, AT(ranks), 1, RANKS_MAX},
    {"--ppn", "P", "ranks per node (default: all; simulated: the cluster's)",
     option_parse_count, AT(ppn), 1, RANKS_MAX},
};

static const option_row_t launch_rows[] = {
    {"--rendezvous", "H:P",
     "one process a rank: they meet at this host and port, rank 0's",
     parse_address, AT(rendezvous), 0, 0},
    {"--rank", "R", "... of which this one is", option_parse_count, AT(rank), 0,
     1023},
    {"--connect-time", "S", "... within S seconds (default 30)",
     option_parse_number, AT(connect_time), 0.1, 3600},
    {"--fork", NULL, "fork the ranks, even if a launcher has started this",
     option_parse_flag, AT(fork), 0, 0},
};

static const option_row_t size_rows[] = {
    {"--sizes", "LO:HI|a,b", "message sizes in bytes; K, M, G", parse_sizes,
     WHOLE, 0, 0},
};

static const option_row_t collective_rows[] = {
    {"--collective", "C,...",
     "gather, allgather, alltoall, bcast, scatter, barrier (default: all)",
     parse_collectives, WHOLE, 0, 0},
};

static const option_row_t shapes_rows[] = {
    {"--shapes", "N[:P],...",
     "ranks and ranks per node, several (default: --ranks, --ppn)",
     parse_shapes, WHOLE, 0, 0},
};

static const option_row_t shape_rows[] = {
    {"--ports", "K", "ports of multi-port algorithms (default: one per rail)",
     option_parse_count, AT(ports), 1, DRAIL_MAX_RAILS},
};

static const option_row_t algorithm_rows[] = {
    {"--algorithm", "A,...", "names, all, or auto (default auto)",
     parse_algorithms, WHOLE, 0, 0},
};

static const option_row_t block_rows[] = {
    {"--groups", "G", "groups per node of mc-groups (default: its own)",
     option_parse_count, AT(groups), 1, 1024},
    {"--root", "R", "root of gather, bcast and scatter (default 0)",
     option_parse_count, AT(root), 0, RANKS_MAX - 1},
    {"--in-place", NULL, "a rank's own block is in its place already",
     option_parse_flag, AT(in_place), 0, 0},
};

static const option_row_t way_rows[] = {
    {"--paced", NULL,
     "a step's messages are complete before the next ones are posted",
     option_parse_flag, AT(paced), 0, 0},
    {"--zero-copy", "Z",
     "auto, on or off: put from and to the final memory (default auto)",
     parse_zero_copy, AT(zero_copy), 0, 0},
};

static const option_row_t team_rows[] = {
    {"--start", "S",
     "time, barrier, or auto: at a common time if every rank has a core "
     "(default auto)",
     parse_start, AT(start), 0, 0},
};

static const option_row_t select_rows[] = {
    {"--selection", "FILE", "auto selects by this file of railbench tune",
     parse_text, AT(table), 0, 0},
};

static const option_row_t repeat_rows[] = {
    {"--repeat", "R", "repeats (default: see --precision, --time-budget)",
     option_parse_count, AT(repeat), 1, 1000},
    {"--precision", "P",
     "repeat until the 95 % confidence interval of the median is within "
     "+- P % (default 2.5)",
     parse_percent, AT(precision), 0.01, 100},
    {"--time-budget", "S",
     "... or S seconds are spent, but for at least 8 repeats (default 60)",
     option_parse_number, AT(time_budget), 0.1, 86400},
};

static const option_row_t output_rows[] = {
    {"--format", "F", "table, csv or json (default table)", parse_format,
     AT(format), 0, 0},
    {"--output", "FILE", "write the result there (default: standard output)",
     parse_text, AT(output), 0, 0},
    {"--save", "FILE,...", "also write it there; format by .csv, .json or else",
     parse_saves, WHOLE, 0, 0},
};

/* Calls @p visit for each list of rows that a test has, until it returns
 * something. */
static const option_row_t *
visit_rows(const option_table_t *table,
           const option_row_t *(*visit)(const option_row_t *rows, size_t count,
                                        const char *arg),
           const char *arg)
{
    const struct {
        const option_row_t *rows;
        size_t count;
        bool used;
    } lists[] = {
        {collective_rows, COUNT(collective_rows),
         table->groups & OPTIONS_COLLECTIVE},
        {ranks_rows, COUNT(ranks_rows),
         table->groups & (OPTIONS_RAILS | OPTIONS_SHAPE)},
        {launch_rows, COUNT(launch_rows), table->groups & OPTIONS_RAILS},
        {shapes_rows, COUNT(shapes_rows), table->groups & OPTIONS_SHAPES},
        {shape_rows, COUNT(shape_rows), table->groups & OPTIONS_SHAPE},
        {algorithm_rows, COUNT(algorithm_rows),
         table->groups & OPTIONS_ALGORITHM},
        {block_rows, COUNT(block_rows), table->groups & OPTIONS_BLOCKS},
        {way_rows, COUNT(way_rows),
         table->groups & (OPTIONS_BLOCKS | OPTIONS_WAYS)},
        {team_rows, COUNT(team_rows), table->groups & OPTIONS_TEAM},
        {select_rows, COUNT(select_rows), table->groups & OPTIONS_SELECT},
        {rail_rows, COUNT(rail_rows), table->groups & OPTIONS_RAILS},
        {iteration_rows, COUNT(iteration_rows),
         table->groups & OPTIONS_RAILS && table->groups & OPTIONS_REPEATS},
        {pair_rows, COUNT(pair_rows), table->groups & OPTIONS_PAIR},
        {stats_rows, COUNT(stats_rows), table->groups & OPTIONS_STATS},
        {size_rows, COUNT(size_rows),
         table->groups & (OPTIONS_REPEATS | OPTIONS_SHAPE | OPTIONS_SIZES) &&
             !(table->groups & OPTIONS_ELEMENTS)},
        {repeat_rows, COUNT(repeat_rows), table->groups & OPTIONS_REPEATS},
        {table->rows, table->nrows, true},
        {output_rows, COUNT(output_rows), true},
    };
    const option_row_t *found = NULL;
    for (size_t i = 0; !found && i < COUNT(lists); i++)
        if (lists[i].used)
            found = visit(lists[i].rows, lists[i].count, arg);
    return found;
}

/* Names that options had before. */
static const struct alias {
    const char *alias, *name;
} aliases[] = {
    {"--table", "--selection"}, /* not to be taken for --format table */
};

static const char *alias_of(const char *name)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (!strcmp(aliases[i].name, name))
            return aliases[i].alias;
    return NULL;
}

/* Is this the argument of the option, with or without a value? */
static bool is_option(const char *arg, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(arg, name, length) && (!arg[length] || arg[length] == '=');
}

const char *option_typed(const options_t *opts, const char *name)
{
    const char *alias = alias_of(name), *typed = name;
    for (int i = 0; alias && i < opts->argc; i++)
        if (is_option(opts->argv[i], alias))
            typed = alias;
        else if (is_option(opts->argv[i], name))
            typed = name;
    return typed;
}

static void print_row(const option_row_t *row)
{
    const char *alias = alias_of(row->name);
    char left[40];
    snprintf(left, sizeof left, "%s%s%s", row->name, row->value ? " " : "",
             row->value ? row->value : "");
    printf("  %-22s %s%s%s%s\n", left, row->help, alias ? " (also " : "",
           alias ? alias : "", alias ? ")" : "");
}

static const option_row_t *print_rows(const option_row_t *rows, size_t count,
                                      const char *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        print_row(&rows[i]);
    return NULL;
}

static void print_help(const option_table_t *table)
{
    printf("usage: %s [options]", table->command);
    for (unsigned i = 0; i < OPERANDS_MAX && table->operands[i]; i++)
        printf(" %s", table->operands[i]);
    printf("\n%s\n\n", table->summary);
    visit_rows(table, print_rows, NULL);
    printf("  %-22s this text\n  %-22s version\n", "--help", "--version");
}

static const option_row_t *find_row(const option_row_t *rows, size_t count,
                                    const char *arg)
{
    for (size_t i = 0; i < count; i++) {
        const char *alias = alias_of(rows[i].name);
        if (is_option(arg, rows[i].name) || (alias && is_option(arg, alias)))
            return &rows[i];
    }
    return NULL;
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

/* Parses args[*i] and, if it takes one, its value. */
static int parse_one(options_t *opts, const option_table_t *table, int nargs,
                     char **args, int *i)
{
    const char *arg = args[*i], *equals = strchr(arg, '=');
    const option_row_t *row = visit_rows(table, find_row, arg);
    if (!row) {
        fprintf(stderr,
                "%s: unknown option '%s'; allowed: those of '%s --help'\n",
                table->command, arg, table->command);
        return -1;
    }
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

/* @p arg as the next operand; false if it is an option, or one too many. */
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
    return false;
}

static int check_operands(const options_t *opts, const option_table_t *table)
{
    for (unsigned i = 0; i < OPERANDS_MAX && table->operands[i]; i++)
        if (!opts->operands[i])
            return wrong(table, table->operands[i], "", "the name of a file");
    return 0;
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
                     "barrier, mbw and tune, which do not look at their bytes");
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
            print_help(table);
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
    return check_operands(opts, table) || check_weights(opts, table) ||
                   check_payload(opts, table)
               ? PARSED_WRONG
               : PARSED_OK;
}

void options_free(options_t *opts)
{
    while (opts->nsaves)
        free(opts->saves[--opts->nsaves]);
}

void options_init(options_t *opts, const char *sizes)
{
    *opts = (options_t){
        .engines = {DRAIL_ENGINE_SINGLE, DRAIL_ENGINE_NONTHREADED,
                    DRAIL_ENGINE_THREADED},
        .nengines = 3,
        .teams = {DRAIL_TEAM_RESIDENT},
        .nteams = 1,
        .policies = {DRAIL_POLICY_EVEN},
        .npolicies = 1,
        .nwaitings = 1,
        .nnotify_bys = 1,
        .threshold = THRESHOLD_DEFAULT,
        .rank = RANK_DEFAULT,
        .connect_time = 30,
        .draws = 3,
        .batch = 20,
        .units = {UNIT_MBPS},
        .nunits = 1,
        .warmup = WARMUP_DEFAULT,
        .precision = 0.025,
        .time_budget = 60,
        .format = FORMAT_TABLE,
    };
    sizes_parse(sizes, opts->sizes, &opts->nsizes);

    drail_config_t cfg;
    drail_config_init(&cfg);
    opts->waitings[0] = cfg.waiting;
    opts->notify_bys[0] = cfg.notify_by;
    opts->eps = cfg.eps;
    opts->align = cfg.stripe_align;
    opts->nrails = cfg.nrails;
    for (unsigned i = 0; i < cfg.nrails; i++)
        snprintf(opts->rails[i], DRAIL_NAME_MAX, "%s", cfg.rails[i]);
}

void options_one_engine(options_t *opts)
{
    opts->engines[0] = DRAIL_ENGINE_NONTHREADED;
    opts->nengines = 1;
}
