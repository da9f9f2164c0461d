/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params.h"

/* --------------------------------------------------------------- kinds --- */

static int parse_bytes(const char *text, void *at)
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
    *(size_t *)at = (size_t)n << shift;
    return 0;
}

static int parse_number(const char *text, double min, void *at)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= 1e6))
        return -1;
    *(double *)at = value;
    return 0;
}

static int parse_rate(const char *text, void *at)
{
    return parse_number(text, 0.001, at);
}

static int parse_time(const char *text, void *at)
{
    return parse_number(text, 0, at);
}

static int parse_name(const char *text, void *at)
{
    size_t length = strlen(text);
    if (!length || length >= CORE_PARAM_NAME)
        return -1;
    memcpy(at, text, length + 1);
    return 0;
}

const struct core_param_kind core_param_bytes = {"bytes, with K, M or G",
                                                 sizeof(size_t), parse_bytes};
const struct core_param_kind core_param_rate = {"MB/s from 0.001 to 1000000",
                                                sizeof(double), parse_rate};
const struct core_param_kind core_param_time = {
    "microseconds from 0 to 1000000", sizeof(double), parse_time};
const struct core_param_kind core_param_name = {"a name of 1 to 31 characters",
                                                CORE_PARAM_NAME, parse_name};

/* --------------------------------------------------------------- words --- */

int core_params_bad(const struct core_params *known, const char *ia_name,
                    const char *field, const char *why, ...)
{
    char text[256];
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    fprintf(stderr, "dapl %s: rail %s: %s in dat.conf: %s\n", known->provider,
            ia_name, field, text);
    return -1;
}

void core_params_take(char *text, const char *prefix, char *value)
{
    size_t before = strlen(prefix);
    value[0] = '\0';
    for (char *word = text; *(word += strspn(word, " \t"));) {
        size_t length = strcspn(word, " \t");
        if (length > before && !strncmp(word, prefix, before)) {
            memcpy(value, word + before, length - before);
            value[length - before] = '\0';
            memset(word, ' ', length);
            return;
        }
        word += length;
    }
}

static unsigned find(const struct core_params *known, const char *name)
{
    unsigned i = 0;
    while (i < known->count && strcmp(known->param[i].name, name))
        i++;
    return i;
}

bool core_params_same(const struct core_params *known, const char *field,
                      const void *a, const void *b)
{
    const struct core_param *p = &known->param[find(known, field)];
    return !memcmp((const char *)a + p->offset, (const char *)b + p->offset,
                   p->kind->size);
}

static int unknown(const struct core_params *known, const char *ia_name,
                   const char *word)
{
    char all[160] = "";
    for (unsigned i = 0; i < known->count; i++) {
        strcat(all, " ");
        strcat(all, known->param[i].name);
    }
    return core_params_bad(known, ia_name, word, "unknown parameter; known:%s",
                           all);
}

static int parse_word(const struct core_params *known, const char *ia_name,
                      char *word, void *out, unsigned *seen)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    unsigned i = find(known, word);
    if (i == known->count)
        return unknown(known, ia_name, word);
    if (*seen & 1u << i)
        return core_params_bad(known, ia_name, word, "given twice");
    *seen |= 1u << i;
    const struct core_param *p = &known->param[i];
    if (value && !p->kind->parse(value, (char *)out + p->offset))
        return 0;
    return core_params_bad(known, ia_name, word, "'%.40s', allowed: %s",
                           value ? value : "", p->kind->allowed);
}

/* Checks that no parameter lacks another one that it needs. */
static int check(const struct core_params *known, const char *ia_name,
                 unsigned seen)
{
    for (unsigned i = 0; i < known->count; i++) {
        const struct core_param *p = &known->param[i];
        for (unsigned n = 0; n < 2 && p->needs[n]; n++)
            if (seen & 1u << i && !(seen & 1u << find(known, p->needs[n])))
                return core_params_bad(known, ia_name, p->name, "needs %s",
                                       p->needs[n]);
    }
    return 0;
}

DAT_RETURN core_params_parse(const struct core_params *known,
                             const char *ia_name, const char *text, void *out)
{
    char words[CORE_PARAMS_MAX], *save = NULL;
    unsigned seen = 0;
    int err =
        snprintf(words, sizeof words, "%s", text) >= (int)sizeof words
            ? core_params_bad(known, ia_name, "parameters",
                              "longer than %d characters", CORE_PARAMS_MAX - 1)
            : 0;
    for (char *w = strtok_r(words, " \t", &save); !err && w;
         w = strtok_r(NULL, " \t", &save))
        err = parse_word(known, ia_name, w, out, &seen);
    if (!err)
        err = check(known, ia_name, seen);
    return err ? CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE)
               : DAT_SUCCESS;
}
