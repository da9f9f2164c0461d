/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of a rail: `name=value` words in its line of dat.conf. A transport
 * lists the parameters that it knows. Errors are one line on stderr.
 */
#ifndef DAPL_CORE_PARAMS_H
#define DAPL_CORE_PARAMS_H

#include "core.h"

#define CORE_PARAMS_MAX 512 /* with the terminating zero */
#define CORE_PARAM_NAME 32

struct core_param_kind {
    const char *allowed; /* allowed values, in words */
    size_t size;         /* of a value in the struct */
    /* Writes the value of a text to @p at; -1: the text is not valid. */
    int (*parse)(const char *text, void *at);
};

/* size_t; with K, M or G */
extern const struct core_param_kind core_param_bytes;
/* double, MB/s; double, microseconds. Their quotients and products, in
 * nanoseconds, fit 64 bits */
extern const struct core_param_kind core_param_rate, core_param_time;
/* char[CORE_PARAM_NAME] */
extern const struct core_param_kind core_param_name;

struct core_param {
    const char *name;
    const struct core_param_kind *kind;
    size_t offset; /* of the value in the transport's struct */
    const char *needs[2];
};

struct core_params { /* all that a transport knows */
    const char *provider;
    unsigned count; /* at most 32 */
    const struct core_param *param;
};

/* Sets the values that the text gives, and leaves the others. */
DAT_RETURN core_params_parse(const struct core_params *known,
                             const char *ia_name, const char *text, void *out);
/* Says on stderr what is wrong with a field of dat.conf. Returns -1. */
int core_params_bad(const struct core_params *known, const char *ia_name,
                    const char *field, const char *why, ...)
    __attribute__((format(printf, 4, 5)));
/* Moves the value of the first word that begins with @p prefix from a text to
 * @p value, which has as much room: "", if there is none. */
void core_params_take(char *text, const char *prefix, char *value);
bool core_params_same(const struct core_params *known, const char *field,
                      const void *a, const void *b);

#endif
