/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/icv.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "omp/runtime/fail.h"

struct settings settings = {
    .threads = 1,
    .limit = INT_MAX,
    .first = {.threads = 1,
              .schedule = SCHEDULE_DYNAMIC,
              .chunk = 1,
              .levels = 1},
};

unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1
                                                  : (unsigned)CPU_COUNT(&set);
}

void icv_schedule(struct icv *icv, uint32_t schedule, int chunk)
{
    const uint32_t kind = schedule & ~SCHEDULE_MONOTONIC;
    const int own = kind == SCHEDULE_DYNAMIC || kind == SCHEDULE_GUIDED;
    icv->schedule = schedule;
    icv->chunk = chunk > 0 ? chunk : own;
}

static void wrong(const char *name, const char *value, const char *allowed)
{
    fail(NOT_SERVED, "%s '%s' is wrong (allowed: %s)", name, value, allowed);
}

/* A number of at least @least at *@text, which then points behind it. */
static bool parse_number(const char **text, long least, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(*text, &end, 10);
    if (end == *text || errno || *number < least || *number > INT_MAX)
        return false;
    while (isspace((unsigned char)*end))
        end++;
    *text = end;
    return true;
}

static bool read_number(const char *name, long least, long *number)
{
    const char *value = getenv(name), *text = value;
    if (!value)
        return false;
    /* of a list for nested levels, the first */
    if (!parse_number(&text, least, number) || (*text && *text != ','))
        wrong(name, value, least ? "numbers from 1 on" : "numbers from 0 on");
    return true;
}

/* A setting that is either @first or @second, in upper or lower case. False: it
 * is not set. */
static bool read_word(const char *name, const char *first, const char *second,
                      bool *is_first)
{
    const char *value = getenv(name);
    if (!value)
        return false;
    *is_first = !strcasecmp(value, first);
    if (!*is_first && strcasecmp(value, second))
        fail(NOT_SERVED, "%s '%s' is wrong (allowed: %s, %s)", name, value,
             first, second);
    return true;
}

static void read_schedule(void)
{
    static const char *const names[] = {
        [SCHEDULE_STATIC] = "static",
        [SCHEDULE_DYNAMIC] = "dynamic",
        [SCHEDULE_GUIDED] = "guided",
        [SCHEDULE_AUTO] = "auto",
    };
    const char *value = getenv("OMP_SCHEDULE"), *text = value;
    unsigned kind;
    long chunk = 0;
    if (!value)
        return;
    if (!strncasecmp(text, "monotonic:", 10))
        text += 10;
    else if (!strncasecmp(text, "nonmonotonic:", 13))
        text += 13;
    for (kind = SCHEDULE_AUTO; kind; kind--)
        if (!strncasecmp(text, names[kind], strlen(names[kind])))
            break;
    if (kind)
        text += strlen(names[kind]);
    while (kind && isspace((unsigned char)*text))
        text++;
    if (!kind ||
        (*text && (*text++ != ',' || !parse_number(&text, 1, &chunk) || *text)))
        wrong("OMP_SCHEDULE", value,
              "static, dynamic, guided or auto, with a chunk or not");
    icv_schedule(&settings.first, kind, (int)chunk);
}

static void read_stack(void)
{
    static const char units[] = "bkmg";
    const char *value = getenv("OMP_STACKSIZE"), *text = value;
    long number;
    unsigned shift = 10;
    if (!value)
        return;
    bool good = parse_number(&text, 1, &number);
    if (good && *text) {
        const char *unit = strchr(units, tolower((unsigned char)*text++));
        good = unit && !*text;
        shift = good ? 10 * (unsigned)(unit - units) : 0;
    }
    if (!good)
        wrong("OMP_STACKSIZE", value, "a number, or one with B, K, M or G");
    settings.stack = (size_t)number << shift;
}

void settings_read(unsigned ranks, unsigned ranks_here)
{
    long number;
    bool is_first;
    const unsigned here = processors() / ranks_here;
    settings.threads = here ? here : 1;
    if (read_number("OMP_NUM_THREADS", 1, &number))
        settings.threads = (uint32_t)number;
    if (read_number("OMP_THREAD_LIMIT", 1, &number))
        settings.limit = (uint32_t)number;
    settings.first.threads = settings.threads * ranks;
    if (read_word("OMP_DYNAMIC", "true", "false", &is_first))
        settings.first.dynamic = is_first;
    if (read_number("OMP_MAX_ACTIVE_LEVELS", 0, &number))
        settings.first.levels = number > 1 ? 1 : (uint8_t)number;
    read_schedule();
    read_stack();
    if (read_word("OMP_WAIT_POLICY", "active", "passive", &is_first))
        settings.passive = !is_first;
    if (read_word("RAILOMP_PAGES", "copied", "shared", &is_first))
        settings.copied = is_first;
    if (read_word("RAILOMP_STATS", "1", "0", &is_first))
        settings.stats = is_first;
}
