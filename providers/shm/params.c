/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a shm rail: `name=value` words in its line of dat.conf. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm.h"

/* Measured: plain copies win below, streaming ones above (copy.c). */
#define STREAM_DEFAULT (32u << 20)
#define NEVER          SIZE_MAX

enum kind { BYTES, NUMBER, NAME };

static const struct field {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *allowed;
} fields[] = {
    {"stream", BYTES, offsetof(struct shm_params, stream_bytes),
     "bytes, with K, M or G"},
    {"rate", NUMBER, offsetof(struct shm_params, rate), "MB/s above 0"},
    {"latency", NUMBER, offsetof(struct shm_params, latency_us),
     "microseconds above 0"},
    {"gap", NUMBER, offsetof(struct shm_params, gap_us),
     "microseconds above 0"},
    {"overhead", NUMBER, offsetof(struct shm_params, overhead_us),
     "microseconds above 0"},
    {"change_after", BYTES, offsetof(struct shm_params, change_after),
     "bytes, with K, M or G"},
    {"change_rate", NUMBER, offsetof(struct shm_params, change_rate),
     "MB/s above 0"},
    {"port", NAME, offsetof(struct shm_params, port),
     "a name of 1 to 31 characters"},
    {"adapter", NAME, offsetof(struct shm_params, adapter),
     "a name of 1 to 31 characters"},
    {"adapter_rate", NUMBER, offsetof(struct shm_params, adapter_rate),
     "MB/s above 0"},
    {"bus", NAME, offsetof(struct shm_params, bus),
     "a name of 1 to 31 characters"},
    {"bus_rate", NUMBER, offsetof(struct shm_params, bus_rate), "MB/s above 0"},
};
#define FIELDS (sizeof fields / sizeof fields[0])

static int parse_bytes(const char *text, size_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || end == text || *text == '-')
        return -1;
    unsigned shift = 0;
    if (*end) {
        static const char units[] = "KMG";
        const char *u = strchr(units, *end);
        if (!u || end[1])
            return -1;
        shift = 10 * (unsigned)(u - units + 1);
    }
    if (n > SIZE_MAX >> shift)
        return -1;
    *out = (size_t)n << shift;
    return 0;
}

static int parse_number(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value <= 0)
        return -1;
    *out = value;
    return 0;
}

static int parse_field(const struct field *f, const char *value,
                       struct shm_params *params)
{
    void *at = (char *)params + f->offset;
    size_t length = strlen(value);
    switch (f->kind) {
    case BYTES:
        return parse_bytes(value, at);
    case NUMBER:
        return parse_number(value, at);
    case NAME:
        if (!length || length >= SHM_NAME_MAX)
            return -1;
        memcpy(at, value, length + 1);
        return 0;
    }
    return -1;
}

static int bad(const char *rail, const char *field, const char *why)
{
    fprintf(stderr, "dapl shm: rail %s: %s in dat.conf: %s\n", rail, field,
            why);
    return -1;
}

static int parse_word(const char *rail, char *word, struct shm_params *params,
                      unsigned *seen)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    for (unsigned i = 0; i < FIELDS; i++) {
        const struct field *f = &fields[i];
        char why[128];
        if (strcmp(f->name, word))
            continue;
        if (*seen & 1u << i)
            return bad(rail, word, "given twice");
        *seen |= 1u << i;
        if (value && !parse_field(f, value, params))
            return 0;
        snprintf(why, sizeof why, "'%.40s', allowed: %s", value ? value : "",
                 f->allowed);
        return bad(rail, word, why);
    }
    char known[160] = "unknown parameter; known:";
    for (unsigned i = 0; i < FIELDS; i++) {
        strcat(known, " ");
        strcat(known, fields[i].name);
    }
    return bad(rail, word, known);
}

/* What must not stand alone. */
static int check(const char *rail, const struct shm_params *p)
{
    if (p->port[0] && !p->adapter[0])
        return bad(rail, "port", "needs the adapter that it is a port of");
    if (p->adapter_rate > 0 && !p->adapter[0])
        return bad(rail, "adapter_rate", "needs adapter");
    if (p->bus_rate > 0 && !p->bus[0])
        return bad(rail, "bus_rate", "needs bus");
    if (p->bus[0] && !(p->bus_rate > 0))
        return bad(rail, "bus", "needs bus_rate");
    if (p->change_after != NEVER && !(p->change_rate > 0))
        return bad(rail, "change_after", "needs change_rate");
    if (p->change_rate > 0 && p->change_after == NEVER)
        return bad(rail, "change_rate", "needs change_after");
    if (!(p->rate > 0) &&
        (p->change_rate > 0 || p->latency_us > 0 || p->gap_us > 0 ||
         p->adapter_rate > 0 || p->bus_rate > 0))
        return bad(rail, "rate", "is needed for a link model");
    return 0;
}

DAT_RETURN shm_params_parse(const char *ia_name, const char *text,
                            struct shm_params *params)
{
    char words[512], *save = NULL;
    unsigned seen = 0;
    *params = (struct shm_params){.stream_bytes = STREAM_DEFAULT,
                                  .change_after = NEVER};
    int err = snprintf(words, sizeof words, "%s", text) >= (int)sizeof words
                  ? bad(ia_name, "parameters", "longer than 511 characters")
                  : 0;
    for (char *w = strtok_r(words, " \t", &save); !err && w;
         w = strtok_r(NULL, " \t", &save))
        err = parse_word(ia_name, w, params, &seen);
    if (!err)
        err = check(ia_name, params);
    return err ? CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1)
               : DAT_SUCCESS;
}
