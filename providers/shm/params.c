/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a shm rail: `name=value` words in its line of dat.conf. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm.h"

/* Measured: plain copies win below, streaming ones above (copy.c). */
#define STREAM_DEFAULT (32u << 20)

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

DAT_RETURN shm_params_parse(const char *ia_name, const char *text,
                            struct shm_params *params)
{
    char words[256], *save = NULL;
    *params = (struct shm_params){.stream_bytes = STREAM_DEFAULT};
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words) {
        fprintf(stderr, "dapl shm: rail %s: parameters longer than %zu\n",
                ia_name, sizeof words - 1);
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    }
    for (char *w = strtok_r(words, " \t", &save); w;
         w = strtok_r(NULL, " \t", &save)) {
        if (!strncmp(w, "stream=", 7) &&
            !parse_bytes(w + 7, &params->stream_bytes))
            continue;
        fprintf(stderr,
                "dapl shm: rail %s: parameter '%s' in dat.conf: allowed is "
                "stream=BYTES (K, M, G)\n",
                ia_name, w);
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    }
    return DAT_SUCCESS;
}
