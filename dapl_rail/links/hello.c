/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/hello.h"

#include <stdio.h>
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"

#define HELLO_MAGIC   0x4452414cu /* "DRAL"; also checks the byte order */
#define HELLO_VERSION 4u

struct hello hello_of(const struct rail *rail, unsigned ep)
{
    const drail_t *t = rail->owner;
    return (struct hello){
        .magic = HELLO_MAGIC,
        .version = HELLO_VERSION,
        .rail = (uint16_t)rail->index,
        .job = t->job->id,
        .rank = t->job->rank,
        .depth = t->depth_asked,
        .eager_bytes = (uint32_t)t->cfg.eager_bytes,
        .extensions = t->tuning.extensions,
        .eps = t->cfg.eps,
        .ep = ep,
    };
}

bool hello_read(const struct rail *rail, const void *data, DAT_COUNT bytes,
                struct hello *hello)
{
    const drail_t *t = rail->owner;
    /* providers may pad private data, but not cut it */
    if (!data || bytes < (DAT_COUNT)sizeof *hello)
        return false;
    memcpy(hello, data, sizeof *hello);
    return hello->magic == HELLO_MAGIC && hello->version == HELLO_VERSION &&
           hello->rail == rail->index && hello->job == t->job->id &&
           hello->ep < DRAIL_MAX_EPS && hello->rank < t->job->size &&
           hello->rank != t->job->rank;
}

bool hello_differs(const struct rail *rail, const struct hello *hello,
                   char *text, size_t size)
{
    struct hello mine = hello_of(rail, hello->ep);
    const struct {
        const char *name;
        unsigned mine, theirs;
    } settings[] = {
        {"DRAIL_DEPTH", mine.depth, hello->depth},
        {"DRAIL_EAGER_BYTES", mine.eager_bytes, hello->eager_bytes},
        {"DRAIL_EPS", mine.eps, hello->eps},
        {"DRAIL_EXTENSIONS", mine.extensions, hello->extensions},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].mine == settings[i].theirs)
            continue;
        snprintf(text, size, "%s is %u in rank %u and %u in rank %u",
                 settings[i].name, settings[i].mine, mine.rank,
                 settings[i].theirs, hello->rank);
        return true;
    }
    return false;
}
