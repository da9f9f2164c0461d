/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/prepare/partners.h"

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
    if (p->at && count < nranks / 2 &&
        !(p->copies = calloc(count + 1, sizeof *p->copies)))
        return DRAIL_ENOMEM;
    return p->at ? 0 : DRAIL_ENOMEM;
}

void partners_aim(struct partners *p, drail_gathered_t **all)
{
    for (unsigned i = 0; i < p->count; i++) {
        struct partner *partner = &p->at[i];
        partner->target = drail_gathered_of(*all, partner->rank);
        if (!p->copies)
            continue;
        p->copies[i] = *partner->target;
        partner->target = &p->copies[i];
    }
    if (p->copies)
        return;
    p->all = *all;
    *all = NULL;
}

void partners_free(struct partners *p)
{
    free(p->at);
    free(p->copies);
    drail_gathered_free(p->all);
}
