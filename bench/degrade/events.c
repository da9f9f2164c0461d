/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "events.h"

static const char *const names[EVENT_KINDS] = {"cut", "back", "slow"};

const char *event_name(event_kind_t kind)
{
    return names[kind];
}

int event_time_parse(const char *text, uint64_t *ns)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || value < 0)
        return -1;
    if (!strcmp(end, "ms"))
        value /= 1e3;
    else if (*end && strcmp(end, "s"))
        return -1;
    if (value > 86400)
        return -1;
    *ns = (uint64_t)(value * 1e9 + 0.5);
    return 0;
}

/* By name, or by index. */
static int parse_rail(const char *text, const options_t *opts, unsigned *rail)
{
    char *end;
    for (*rail = 0; *rail < opts->nrails; ++*rail)
        if (!strcmp(text, opts->rails[*rail]))
            return 0;
    unsigned long index = strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || index >= opts->nrails)
        return -1;
    *rail = (unsigned)index;
    return 0;
}

/* TIME:KIND:RAIL[:FACTOR] */
static int parse_event(char *text, const options_t *opts, event_t *event)
{
    char *save = NULL, *end;
    const char *time = strtok_r(text, ":", &save);
    const char *kind = strtok_r(NULL, ":", &save);
    const char *rail = strtok_r(NULL, ":", &save);
    const char *factor = strtok_r(NULL, ":", &save);
    *event = (event_t){.factor = 1};
    if (!rail || strtok_r(NULL, ":", &save) ||
        event_time_parse(time, &event->at_ns) ||
        parse_rail(rail, opts, &event->rail) ||
        event->at_ns >= opts->degrade.time_ns)
        return -1;
    while (event->kind < EVENT_KINDS && strcmp(kind, names[event->kind]))
        event->kind++;
    if (event->kind == EVENT_KINDS || (event->kind == EVENT_SLOW) != !!factor)
        return -1;
    if (!factor)
        return 0;
    event->factor = strtod(factor, &end);
    return end == factor || *end ||
                   !(event->factor >= 0.001 && event->factor <= 1)
               ? -1
               : 0;
}

static int parse_list(events_t *events, const char *text, const options_t *opts)
{
    char *copy = strdup(text), *save = NULL;
    int rc = copy ? 0 : -1;
    for (char *word = rc ? NULL : strtok_r(copy, ",", &save); word && !rc;
         word = strtok_r(NULL, ",", &save)) {
        event_t *event = &events->list[events->count];
        if (events->count == EVENTS_MAX || parse_event(word, opts, event) ||
            (events->count && event->at_ns < event[-1].at_ns))
            rc = -1;
        events->count++;
    }
    free(copy);
    return rc || !events->count ? -1 : 0;
}

/* CUTS[:SEED] */
static int parse_random(events_t *events, const char *text)
{
    char *end;
    unsigned long cuts = strtoul(text, &end, 10);
    events->seed = (uint64_t)time(NULL);
    if (end == text || *text == '-' || cuts < 1 || cuts > EVENTS_MAX / 2)
        return -1;
    events->cuts = (unsigned)cuts;
    if (!*end)
        return 0;
    text = end + 1;
    events->seed = strtoull(text, &end, 10);
    return text[-1] != ':' || end == text || *end ? -1 : 0;
}

static void usual(events_t *events, const options_t *opts)
{
    uint64_t quarter = opts->degrade.time_ns / 4;
    if (opts->nrails < 2)
        return;
    events->list[0] = (event_t){EVENT_CUT, 1, 1, quarter, 0, 0};
    events->list[1] = (event_t){EVENT_BACK, 1, 1, 2 * quarter, 0, 0};
    events->list[2] = (event_t){EVENT_SLOW, 0, 0.5, 3 * quarter, 0, 0};
    events->count = 3;
}

int events_parse(events_t *events, const char *text, const options_t *opts,
                 char *allowed, size_t size)
{
    static const char random[] = "random:";
    events->count = events->cuts = 0;
    snprintf(allowed, size,
             "none, random:CUTS[:SEED] of 1 to %d cuts and two rails or more, "
             "or a list of TIME:cut:RAIL, TIME:back:RAIL, "
             "TIME:slow:RAIL:FACTOR in order of their times (s or ms, before "
             "--time), factors from 0.001 to 1",
             EVENTS_MAX / 2);
    if (!text) {
        usual(events, opts);
        return 0;
    }
    if (!strcmp(text, "none"))
        return 0;
    if (strncmp(text, random, sizeof random - 1))
        return parse_list(events, text, opts);
    return opts->nrails < 2 ? -1
                            : parse_random(events, text + sizeof random - 1);
}
