/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dsm/space.h"

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

static int gather(ddsm_t *d, const char *mine, char *all, size_t bytes)
{
    int rc = d->broken;
    pthread_mutex_lock(&d->mutex);
    if (!rc)
        rc = dcoll_allgather(d->team, mine, all, bytes);
    if (rc && !d->broken)
        d->broken = space_fail(d, rc, "reduction: %s: %.180s",
                               drail_strerror(rc), dcoll_last_error(d->team));
    pthread_mutex_unlock(&d->mutex);
    return rc;
}

int ddsm_reduce(ddsm_t *d, void *values, size_t count, ddsm_type_t type,
                ddsm_op_t op)
{
    const size_t bytes = count * 8;
    if (!d)
        return DRAIL_EINVAL;
    if (!values || !count || count > MOST || type > DDSM_DOUBLE ||
        op > DDSM_MAX)
        return space_fail(d, DRAIL_EINVAL,
                          "ddsm_reduce: %zu values (1 to %d), type %d, "
                          "operation %d",
                          count, MOST, type, op);
    char *mine = malloc(bytes * (d->size + 1)), *all = mine + bytes;
    if (!mine)
        return d->broken = space_fail(d, DRAIL_ENOMEM, "out of memory");
    /* they may be in the view, which is not to be touched inside */
    memcpy(mine, values, bytes);
    int rc = gather(d, mine, all, bytes);
    for (unsigned r = 1; r < d->size && !rc; r++)
        fold(all, all + r * bytes, count, type, op);
    if (!rc)
        memcpy(values, all, bytes);
    free(mine);
    return rc;
}
