/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of all programs of this folder. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

enum {
    SIZE = 1,
    ITERATIONS,
    THREADS,
    RANKS,
    RAILS,
    DELAYS,
    SEED,
    FAULTS,
    SHARED,
    HELP
};

static const struct option table[] = {
    {"size", required_argument, NULL, SIZE},
    {"iterations", required_argument, NULL, ITERATIONS},
    {"threads", required_argument, NULL, THREADS},
    {"ranks", required_argument, NULL, RANKS},
    {"rails", required_argument, NULL, RAILS},
    {"delays", required_argument, NULL, DELAYS},
    {"seed", required_argument, NULL, SEED},
    {"faults", no_argument, NULL, FAULTS},
    {"shared", no_argument, NULL, SHARED},
    {"help", no_argument, NULL, HELP},
    {0},
};

static void help(const program_t *p)
{
    printf(
        "usage: %s [options]\n\n%s\n\n"
        "  --size N        %s, %zu to %zu (%zu)\n"
        "  --iterations N  how often (%u)\n"
        "  --threads N     of each rank (OpenMP's number, shared among the "
        "ranks of a host)\n"
        "  --ranks N       that are forked, unless a launcher starts them "
        "(2)\n"
        "  --rails A,B     IA names (DRAIL_RAILS, or shm0,shm1)\n"
        "  --delays US     pauses of up to so many microseconds, to shake "
        "the order of things (0)\n"
        "  --seed N        of the input, and of the pauses (1)\n"
        "  --faults        pages come fault by fault: nothing is prefetched\n"
        "  --shared        ranks of one host use the same memory, without "
        "copies\n",
        p->name, p->about, p->size_is, p->least, p->most, p->size,
        p->iterations);
}

/* Prints which option was wrong, and what is allowed. */
static int wrong(const program_t *p, int which, const char *text,
                 const char *allowed)
{
    fprintf(stderr, "%s: --%s: '%s' is wrong; allowed: %s\n", p->name,
            table[which - SIZE].name, text, allowed);
    return 2;
}

static int number(const program_t *p, int which, const char *text,
                  uint64_t least, uint64_t most, uint64_t *value)
{
    char *end, allowed[64];
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= least &&
        *value <= most)
        return 0;
    snprintf(allowed, sizeof allowed, "%llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return wrong(p, which, text, allowed);
}

static bool is_listed(const char *rail)
{
    char(*names)[DRAIL_NAME_MAX] = NULL;
    unsigned count = 0, listed = 0;
    bool found = false;
    if (drail_rails_list(NULL, 0, &count) == 0 && count)
        names = calloc(count, sizeof *names);
    if (names && drail_rails_list(names, count, &listed) == 0)
        for (unsigned i = 0; i < count && i < listed; i++)
            found |= !strcmp(names[i], rail);
    free(names);
    return found;
}

static int rails(const program_t *p, const char *text, options_t *ask)
{
    char *rest = ask->rails_text, *name;
    ask->nrails = 0;
    if (strlen(text) >= sizeof ask->rails_text)
        return wrong(p, RAILS, text, "a shorter list");
    strcpy(ask->rails_text, text);
    while ((name = strsep(&rest, ","))) {
        if (ask->nrails == DRAIL_MAX_RAILS)
            return wrong(p, RAILS, text, "fewer rails");
        if (!is_listed(name))
            return wrong(p, RAILS, name, "the names that railinfo lists");
        ask->rails[ask->nrails++] = name;
    }
    return 0;
}

static int take(const program_t *p, int which, const char *text, options_t *ask)
{
    uint64_t value = 0;
    int status = 0;
    switch (which) {
    case SIZE:
        status = number(p, which, text, p->least, p->most, &value);
        ask->size = (size_t)value;
        break;
    case ITERATIONS:
        status = number(p, which, text, 1, 1000000, &value);
        ask->iterations = (unsigned)value;
        break;
    case THREADS:
        status = number(p, which, text, 1, 1024, &value);
        ask->threads = (unsigned)value;
        break;
    case RANKS:
        status = number(p, which, text, 1, 1024, &value);
        ask->ranks = (unsigned)value;
        break;
    case RAILS:
        return rails(p, text, ask);
    case DELAYS:
        status = number(p, which, text, 0, 999999, &value);
        ask->delays = (unsigned)value;
        break;
    case SEED:
        status = number(p, which, text, 0, UINT64_MAX, &value);
        ask->seed = value;
        break;
    case FAULTS:
        ask->faults = true;
        break;
    case SHARED:
        ask->shared = true;
        break;
    }
    return status;
}

int options_parse(const program_t *program, int argc, char **argv,
                  options_t *ask)
{
    int which, status = 0;
    *ask = (options_t){.size = program->size,
                       .iterations = program->iterations,
                       .ranks = DRAIL_RANKS_AUTO,
                       .seed = 1};
    while (!status && (which = getopt_long(argc, argv, ":", table, NULL)) > 0) {
        if (which == HELP) {
            help(program);
            return -1;
        }
        if (which == '?' || which == ':') {
            fprintf(stderr, "%s: '%s' is wrong%s (see --help)\n", program->name,
                    argv[optind - 1], which == ':' ? ": it needs a value" : "");
            return 2;
        }
        status = take(program, which, optarg, ask);
    }
    if (!status && optind < argc) {
        fprintf(stderr, "%s: '%s' is wrong (see --help)\n", program->name,
                argv[optind]);
        status = 2;
    }
    return status;
}
