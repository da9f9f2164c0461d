/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dsm/enter.h"
#include "dsm/vigil.h"

enum { MOST = 4096 };

static int64_t folded(int64_t a, int64_t b, ddsm_op_t op)
{
    if (op == DDSM_SUM)
        return a + b;
    return (op == DDSM_MIN) == (b < a) ? b : a;
}

static double folded_double(double a, double b, ddsm_op_t op)
{
    if (op == DDSM_SUM)
        return a + b;
    return (op == DDSM_MIN) == (b < a) ? b : a;
}

static void fold(void *to, const void *from, size_t count, ddsm_type_t type,
                 ddsm_op_t op)
{
    const int64_t *n = from;
    const double *x = from;
    for (size_t i = 0; i < count; i++)
        if (type == DDSM_DOUBLE)
            ((double *)to)[i] = folded_double(((double *)to)[i], x[i], op);
        else
            ((int64_t *)to)[i] = folded(((int64_t *)to)[i], n[i], op);
}

/* Who prepares a call waits for the others as long as the transport does: so
 * they meet before. */
static int gather_many(ddsm_t *d, const char *mine, char *all, size_t bytes)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                               .send = mine,
                               .recv = all,
                               .bytes = bytes};
    dcoll_request_t *request;
    int rc = dcoll_begin(d->team, &call, &request);
    return rc ? rc : vigil_end(d, request);
}

static int gather(ddsm_t *d, const char *mine, char *all, size_t bytes)
{
    const size_t few = bytes < FOLD_BYTES ? bytes : FOLD_BYTES;
    memcpy(d->control.folding, mine, few);
    int rc = dcoll_start(d->folding);
    if (!rc)
        rc = vigil_end(d, d->folding);
    for (unsigned r = 0; r < d->size && !rc; r++)
        memcpy(all + r * few, d->control.folded + r * FOLD_BYTES, few);
    if (!rc && bytes > FOLD_BYTES)
        rc = gather_many(d, mine, all, bytes);
    if (rc && !d->broken)
        space_broken(d,
                     space_fail(d, rc, "reduction: %s: %.180s",
                                drail_strerror(rc), dcoll_last_error(d->team)));
    return rc;
}

static int reduce(ddsm_t *d, char *mine, size_t count, ddsm_type_t type,
                  ddsm_op_t op)
{
    const size_t bytes = count * 8;
    char *all = mine + bytes;
    int rc = d->broken ? d->broken : gather(d, mine, all, bytes);
    for (unsigned r = 1; r < d->size && !rc; r++)
        fold(all, all + r * bytes, count, type, op);
    return rc;
}

int ddsm_reduce(ddsm_t *d, void *values, size_t count, ddsm_type_t type,
                ddsm_op_t op)
{
    const size_t bytes = count * 8;
    if (!d)
        return DRAIL_EINVAL;
    const bool right = values && count && count <= MOST &&
                       type <= DDSM_DOUBLE && op <= DDSM_MAX;
    /* they may be in the view, which is not to be touched inside */
    char *mine = right ? malloc(bytes * (d->size + 1)) : NULL;
    if (mine)
        memcpy(mine, values, bytes);
    int rc = space_enter(d);
    if (!rc) {
        if (!right)
            rc = space_fail(d, DRAIL_EINVAL,
                            "ddsm_reduce: %zu values (1 to %d), type %d, "
                            "operation %d",
                            count, MOST, type, op);
        else if (!mine) /* the others wait for this rank */
            rc = space_broken(d, space_fail(d, DRAIL_ENOMEM, "out of memory"));
        else
            rc = reduce(d, mine, count, type, op);
        /* what is not complete may yet be written to */
        if (rc && d->broken && !d->kept) {
            d->kept = mine;
            mine = NULL;
        }
        space_leave(d);
    }
    if (!rc)
        memcpy(values, mine + bytes, bytes);
    free(mine);
    return rc;
}
