/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "dapl_rail/platform/fnv.h"

#define ONE SIZE_MAX /* instead of where the number of items is */

/* Options that rank 0 can't give for all. */
static const struct field {
    const char *option;
    size_t at, bytes; /* of the first item */
    size_t count;     /* where their number is */
    bool names;       /* text, behind whose end anything may be */
} fields[] = {
#define LIST(option, member)                                                   \
    {                                                                          \
        option, offsetof(options_t, member),                                   \
            sizeof *((options_t *)NULL)->member,                               \
            offsetof(options_t, n##member), false                              \
    }
#define NAMES(option, member)                                                  \
    {                                                                          \
        option, offsetof(options_t, member),                                   \
            sizeof *((options_t *)NULL)->member,                               \
            offsetof(options_t, n##member), true                               \
    }
#define VALUE(option, member)                                                  \
    {                                                                          \
        option, offsetof(options_t, member),                                   \
            sizeof((options_t *)NULL)->member, ONE, false                      \
    }
    LIST("--sizes", sizes),
    LIST("--engine", engines),
    LIST("--team", teams),
    LIST("--policy", policies),
    LIST("--wait", waitings),
    LIST("--notify-by", notify_bys),
    LIST("--op", ops),
    NAMES("--algorithm", algorithms),
    LIST("--collective", collectives),
    {"--pattern", offsetof(options_t, alltoallv.patterns), PATTERN_NAME_MAX,
     offsetof(options_t, alltoallv.npatterns), true},
    VALUE("--ports", ports),
    VALUE("--eps", eps),
    VALUE("--batch", batch),
    VALUE("--window", window),
    VALUE("--buffers", buffers),
    VALUE("--iterations", iterations),
    VALUE("--warmup", warmup),
    VALUE("--repeat", repeat),
    VALUE("--validate", validate),
    VALUE("--root", root),
    VALUE("--in-place", in_place),
    VALUE("--unequal", unequal),
    VALUE("--each", each),
    VALUE("--overlap", overlap),
#undef LIST
#undef NAMES
#undef VALUE
};
#define FIELDS (sizeof fields / sizeof *fields)

static uint64_t digest_of(const options_t *opts, const struct field *f)
{
    const char *base = (const char *)opts, *item = base + f->at;
    uint64_t value = FNV_EMPTY;
    unsigned count = 1;
    if (f->count != ONE)
        memcpy(&count, base + f->count, sizeof count);
    for (; count--; item += f->bytes)
        value = fnv_add(value, item, f->names ? strlen(item) + 1 : f->bytes);
    return value;
}

int agreement_find(drail_job_t *job, const options_t *opts,
                   const char **differs, unsigned *rank)
{
    unsigned ranks = drail_job_size(job);
    uint64_t mine[FIELDS + 1];
    uint64_t(*all)[FIELDS + 1] = calloc(ranks, sizeof mine);
    *differs = NULL;
    if (!all)
        return DRAIL_ENOMEM;
    for (size_t f = 0; f < FIELDS; f++)
        mine[f] = digest_of(opts, &fields[f]);
    mine[FIELDS] = fnv_add(FNV_EMPTY, opts->argv[1], strlen(opts->argv[1]));
    int rc = drail_job_allgather(job, mine, sizeof mine, all, -1);
    for (unsigned r = 1; !rc && !*differs && r < ranks; r++)
        for (size_t f = 0; !*differs && f <= FIELDS; f++)
            if (all[r][f] != all[0][f]) {
                *differs = f < FIELDS ? fields[f].option : "TEST";
                *rank = r;
            }
    free(all);
    return rc;
}
