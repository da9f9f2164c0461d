/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/partner.h"

static bool is_message(const dcoll_op_t *op)
{
    return op->kind == DCOLL_PUT || op->kind == DCOLL_NOTIFY ||
           op->kind == DCOLL_WAIT;
}

int partners_find(struct partners *p, const dcoll_schedule_t *schedule,
                  unsigned nranks, unsigned self)
{
    bool *found = calloc(nranks, sizeof *found);
    unsigned count = 0;
    if (!found)
        return DRAIL_ENOMEM;
    for (unsigned i = 0; i < schedule->nops; i++) {
        const dcoll_op_t *op = &schedule->ops[i];
        if (!is_message(op) || found[op->peer])
            continue;
        found[op->peer] = true;
        count++;
    }
    p->self = self;
    p->at = calloc(count + 1, sizeof *p->at);
    for (unsigned r = 0; p->at && p->count < count; r++)
        if (found[r])
            p->at[p->count++].rank = r;
    free(found);
    return p->at ? 0 : DRAIL_ENOMEM;
}

void partners_free(struct partners *p)
{
    free(p->at);
}
