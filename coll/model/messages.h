/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MESSAGES_H
#define DCOLL_MESSAGES_H

#include <stdint.h>

#include "coll/schedule.h"

/* How many messages all ranks send: puts, gets and notifications. */
static inline uint32_t messages_of(const dcoll_program_t *program)
{
    uint32_t messages = 0;
    for (unsigned r = 0; r < program->shape->nranks; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            dcoll_kind_t kind = program->rank[r].ops[i].kind;
            messages +=
                kind == DCOLL_PUT || kind == DCOLL_GET || kind == DCOLL_NOTIFY;
        }
    return messages;
}

#endif
