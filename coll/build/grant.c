/* SPDX-License-Identifier: BSD-3-Clause */
/* Permission for puts. */
#include "grant.h"

grant_t grant_among_all(const dcoll_args_t *args, dcoll_space_t target)
{
    if (target == DCOLL_RECV)
        return GRANT_READY;
    return args->depth == 1 ? GRANT_CREDIT : GRANT_IMPLIED;
}

grant_t grant_along_tree(dcoll_space_t target)
{
    return target == DCOLL_RECV ? GRANT_READY : GRANT_CREDIT;
}

void grant_open(dcoll_schedule_t *s, grant_t grant, unsigned source,
                unsigned port)
{
    if (grant == GRANT_READY)
        dcoll_add_notify(s, source, port, DCOLL_READY);
}

void grant_take(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned target)
{
    if (grant == GRANT_READY)
        dcoll_add_wait(s, target, DCOLL_READY, 0);
    else if (grant == GRANT_CREDIT)
        dcoll_add_wait(s, target, DCOLL_CREDIT, args->depth);
}

void grant_close(dcoll_schedule_t *s, grant_t grant, unsigned source,
                 unsigned port)
{
    if (grant == GRANT_CREDIT)
        dcoll_add_notify(s, source, port, DCOLL_CREDIT);
}
