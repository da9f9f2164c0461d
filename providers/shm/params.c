/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a shm rail: `name=value` words in its line of dat.conf. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "shm.h"

enum kind { BYTES, RATE, TIME, NAME };

static const struct {
    const char *allowed;
    size_t size;     /* in shm_params */
    double min, max; /* of numbers */
} kinds[] = {
    [BYTES] = {"bytes, with K, M or G", sizeof(size_t), 0, 0},
    /* their quotients and products must fit nanoseconds in 64 bits */
    [RATE] = {"MB/s from 0.001 to 1000000", sizeof(double), 0.001, 1e6},
    [TIME] = {"microseconds from 0 to 1000000", sizeof(double), 0, 1e6},
    [NAME] = {"a name of 1 to 31 characters", SHM_NAME_MAX, 0, 0},
};

static const struct field {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *needs[2]; /* other fields */
} fields[] = {
#define AT(member) offsetof(struct shm_params, member)
    {"stream", BYTES, AT(stream_bytes), {0}},
    {"rate", RATE, AT(rate), {0}},
    {"latency", TIME, AT(latency_us), {"rate"}},
    {"gap", TIME, AT(gap_us), {"rate"}},
    {"overhead", TIME, AT(overhead_us), {"rate"}},
    {"change_after", BYTES, AT(change_after), {"change_rate"}},
    {"change_rate", RATE, AT(change_rate), {"change_after", "rate"}},
    {"port", NAME, AT(port), {"adapter"}},
    {"adapter", NAME, AT(adapter), {"rate"}},
    {"adapter_rate", RATE, AT(adapter_rate), {"adapter"}},
    {"bus", NAME, AT(bus), {"bus_rate", "rate"}},
    {"bus_rate", RATE, AT(bus_rate), {"bus"}},
#undef AT
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
    if (n >= SIZE_MAX >> shift)
        return -1;
    *out = (size_t)n << shift;
    return 0;
}

static int parse_number(const char *text, enum kind kind, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end ||
        !(value >= kinds[kind].min && value <= kinds[kind].max))
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
    case RATE:
    case TIME:
        return parse_number(value, f->kind, at);
    case NAME:
        if (!length || length >= SHM_NAME_MAX)
            return -1;
        memcpy(at, value, length + 1);
        return 0;
    }
    return -1;
}

int shm_params_bad(const char *rail, const char *field, const char *why, ...)
{
    char text[256];
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    fprintf(stderr, "dapl shm: rail %s: %s in dat.conf: %s\n", rail, field,
            text);
    return -1;
}

static unsigned field_index(const char *name)
{
    unsigned i = 0;
    while (i < FIELDS && strcmp(fields[i].name, name))
        i++;
    return i;
}

bool shm_params_same(const char *field, const struct shm_params *a,
                     const struct shm_params *b)
{
    const struct field *f = &fields[field_index(field)];
    return !memcmp((const char *)a + f->offset, (const char *)b + f->offset,
                   kinds[f->kind].size);
}

static int unknown(const char *rail, const char *word)
{
    char known[160] = "";
    for (unsigned i = 0; i < FIELDS; i++) {
        strcat(known, " ");
        strcat(known, fields[i].name);
    }
    return shm_params_bad(rail, word, "unknown parameter; known:%s", known);
}

static int parse_word(const char *rail, char *word, struct shm_params *params,
                      unsigned *seen)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    unsigned i = field_index(word);
    if (i == FIELDS)
        return unknown(rail, word);
    if (*seen & 1u << i)
        return shm_params_bad(rail, word, "given twice");
    *seen |= 1u << i;
    if (value && !parse_field(&fields[i], value, params))
        return 0;
    return shm_params_bad(rail, word, "'%.40s', allowed: %s",
                          value ? value : "", kinds[fields[i].kind].allowed);
}

/* What must not stand alone. */
static int check(const char *rail, unsigned seen)
{
    for (unsigned i = 0; i < FIELDS; i++)
        for (unsigned n = 0; n < 2 && fields[i].needs[n]; n++)
            if (seen & 1u << i &&
                !(seen & 1u << field_index(fields[i].needs[n])))
                return shm_params_bad(rail, fields[i].name, "needs %s",
                                      fields[i].needs[n]);
    return 0;
}

DAT_RETURN shm_params_parse(const char *ia_name, const char *text,
                            struct shm_params *params)
{
    char words[SHM_PARAMS_MAX], *save = NULL;
    unsigned seen = 0;
    *params = (struct shm_params){.stream_bytes = SHM_STREAM_MEASURED};
    int err =
        snprintf(words, sizeof words, "%s", text) >= (int)sizeof words
            ? shm_params_bad(ia_name, "parameters", "longer than %d characters",
                             SHM_PARAMS_MAX - 1)
            : 0;
    for (char *w = strtok_r(words, " \t", &save); !err && w;
         w = strtok_r(NULL, " \t", &save))
        err = parse_word(ia_name, w, params, &seen);
    if (!err)
        err = check(ia_name, seen);
    return err ? CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE)
               : DAT_SUCCESS;
}
