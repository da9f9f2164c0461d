/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/hello.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"

#define HELLO_MAGIC   0x4452414cu /* "DRAL"; also checks the byte order */
#define HELLO_VERSION 8u

struct link_hello hello_of(const struct rail *rail, unsigned ep)
{
    const drail_t *t = rail->owner;
    return (struct link_hello){
        .magic = HELLO_MAGIC,
        .version = HELLO_VERSION,
        .rail = (uint16_t)rail->index,
        .transport = t->id,
        .rank = t->job->rank,
        .ep = (uint16_t)ep,
    };
}

bool hello_read(const struct rail *rail, const void *data, DAT_COUNT bytes,
                struct link_hello *hello)
{
    const drail_t *t = rail->owner;
    /* providers may pad private data, but not cut them */
    if (!data || bytes < (DAT_COUNT)sizeof *hello)
        return false;
    memcpy(hello, data, sizeof *hello);
    return hello->magic == HELLO_MAGIC && hello->version == HELLO_VERSION &&
           hello->rail == rail->index && hello->transport == t->id &&
           hello->ep < t->cfg.eps && hello->rank < t->job->size &&
           hello->rank != t->job->rank && hello->kind <= HELLO_GIVES_UP;
}
