/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of a rail: `name=value` words in its line of dat.conf. A transport
 * lists those it knows; what is wrong is one line on stderr.
 */
#ifndef DAPL_CORE_PARAMS_H
#define DAPL_CORE_PARAMS_H

#include "core.h"

#define CORE_PARAMS_MAX 512 /* with the zero at their end */
#define CORE_PARAM_NAME 32

struct core_param_kind {
    const char *allowed; /* in words */
    size_t size;         /* of a value */
    /* Writes the value of a text to @p at; -1: it is none. */
    int (*parse)(const char *text, void *at);
};

/* size_t; with K, M or G */
extern const struct core_param_kind core_param_bytes;
/* double, MB/s; double, microseconds: their quotients and products fit
 * nanoseconds in 64 bits */
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

/* Fills in what the text gives; the rest stays as it is. */
DAT_RETURN core_params_parse(const struct core_params *known,
                             const char *ia_name, const char *text, void *out);
/* Says on stderr what is wrong with a field of dat.conf; -1. */
int core_params_bad(const struct core_params *known, const char *ia_name,
                    const char *field, const char *why, ...)
    __attribute__((format(printf, 4, 5)));
bool core_params_same(const struct core_params *known, const char *field,
                      const void *a, const void *b);

#endif
