/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dsm/base/enter.h"
#include "dsm/reduce.h"
#include "dsm/sync/peer_wait.h"

enum { MOST = 4096 };

static void combine(void *context, const void *left, const void *right,
                    void *result, size_t count)
{
    const dcoll_reduction_t *by = ((ddsm_t *)context)->operation;
    by->combine(by->context, left, right, result, count);
}

dcoll_reduction_t reduce_current_operation(ddsm_t *d)
{
    return (dcoll_reduction_t){
        .element = sizeof(int64_t), .combine = combine, .context = d};
}

static const dcoll_reduction_t *operation_of(ddsm_type_t type, ddsm_op_t op)
{
    static const dcoll_operator_t ops[] = {
        [DDSM_SUM] = DCOLL_SUM, [DDSM_MIN] = DCOLL_MIN, [DDSM_MAX] = DCOLL_MAX};
    return dcoll_reduction(type == DDSM_DOUBLE ? DCOLL_DOUBLE : DCOLL_INT64,
                           ops[op]);
}

/* Preparing a collective waits for other ranks with the transport's timeout
 * instead of wait_ms; so the caller has met them in the short reduction. A rank
 * that prepares serves no packs (pack_server.h). */
static int reduce_long(ddsm_t *d, const char *mine, char *all, size_t bytes)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLREDUCE,
                               .send = mine,
                               .recv = all,
                               .bytes = bytes,
                               .reduction = d->operation};
    dcoll_request_t *request;
    int rc = dcoll_begin(d->team, &call, &request);
    return rc ? rc : peer_wait_complete(d, request);
}

static int reduce(ddsm_t *d, const dcoll_reduction_t *operation,
                  const char *mine, char *all, size_t bytes)
{
    const size_t few =
        bytes < REDUCE_INLINE_BYTES ? bytes : REDUCE_INLINE_BYTES;
    d->operation = operation;
    d->reduces_long = bytes > REDUCE_INLINE_BYTES;
    memcpy(d->control.reduce_in, mine, few);
    /* zeros raise no floating-point exceptions */
    memset(d->control.reduce_in + few, 0, REDUCE_INLINE_BYTES - few);
    int rc = peer_wait_run(d, d->reduce_request, "reduction");
    if (!rc)
        memcpy(all, d->control.reduce_out, few);
    if (!rc && bytes > REDUCE_INLINE_BYTES)
        rc = reduce_long(d, mine, all, bytes);
    d->reduces_long = false;
    if (rc && !d->broken)
        space_break(d,
                    space_fail(d, rc, "reduction: %s: %.180s",
                               drail_strerror(rc), dcoll_last_error(d->team)));
    return rc;
}

int ddsm_reduce(ddsm_t *d, void *values, size_t count, ddsm_type_t type,
                ddsm_op_t op)
{
    const size_t bytes = count * 8;
    if (!d)
        return DRAIL_EINVAL;
    const bool right = (values || !count) && count <= MOST &&
                       type <= DDSM_DOUBLE && op <= DDSM_MAX;
    /* @values may be in the view, which must not be touched inside */
    char *mine = right && count ? malloc(2 * bytes) : NULL;
    if (mine)
        memcpy(mine, values, bytes);
    int rc = space_enter(d);
    if (!rc) {
        if (d->broken)
            rc = d->broken;
        else if (!right)
            rc = space_fail(d, DRAIL_EINVAL,
                            "ddsm_reduce: %zu values (0 to %d) at %p, type %d, "
                            "operation %d",
                            count, MOST, values, type, op);
        else if (count && !mine) /* the other ranks wait for this one */
            rc = space_break(d, space_fail(d, DRAIL_ENOMEM, "out of memory"));
        else if (count)
            rc = reduce(d, operation_of(type, op), mine, mine + bytes, bytes);
        /* an incomplete collective may still write to it */
        if (rc && d->broken && !d->unfinished_reduction) {
            d->unfinished_reduction = mine;
            mine = NULL;
        }
        space_leave(d);
    }
    if (!rc && count)
        memcpy(values, mine + bytes, bytes);
    free(mine);
    return rc;
}
