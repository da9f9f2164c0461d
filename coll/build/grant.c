/* SPDX-License-Identifier: BSD-3-Clause */
#include "grant.h"

#define BULK_MOST 128u /* starts that one credit covers */

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

void grant_open(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned source, unsigned port)
{
    (void)args;
    if (grant == GRANT_READY)
        dcoll_add_notify(s, source, port, DCOLL_READY);
}

void grant_take(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned target)
{
    if (grant == GRANT_READY)
        dcoll_add_wait(s, target, DCOLL_READY, 0);
    if (grant != GRANT_CREDIT)
        return;
    dcoll_add_wait(s, target, DCOLL_CREDIT, args->depth);
    grant_in_bulk(s, args);
}

void grant_close(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                 unsigned source, unsigned port)
{
    if (grant != GRANT_CREDIT)
        return;
    dcoll_add_notify(s, source, port, DCOLL_CREDIT);
    grant_in_bulk(s, args);
}

unsigned grant_bulk(const dcoll_args_t *args)
{
    const unsigned half = args->depth / 2;
    return half < 1 ? 1 : half < BULK_MOST ? half : BULK_MOST;
}

void grant_in_bulk(dcoll_schedule_t *s, const dcoll_args_t *args)
{
    const unsigned bulk = grant_bulk(args);
    if (bulk > 1)
        dcoll_add_every(s, (uint8_t)bulk);
}
