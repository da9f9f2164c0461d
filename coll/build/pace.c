/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

void pace(dcoll_schedule_t *s, const dcoll_args_t *args)
{
    for (unsigned i = args->paced ? s->nops : 0; i-- > 0;) {
        const dcoll_op_t *op = &s->ops[i];
        if (op->kind == DCOLL_COMPLETE)
            return;
        if (op->kind != DCOLL_PUT && op->kind != DCOLL_GET)
            continue;
        if (op->step != s->step)
            dcoll_add_complete(s);
        return;
    }
}

unsigned pace_end(const dcoll_args_t *args, unsigned k, unsigned first,
                  unsigned count)
{
    return args->paced && first + k < count ? first + k : count;
}
