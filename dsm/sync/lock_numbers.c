/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/lock_numbers.h"

#include <stdlib.h>

int lock_numbers_take(ddsm_t *d, uint32_t *number)
{
    struct lock_numbers *own = &d->lock_numbers;
    const uint32_t first = (d->cfg.locks + 1) / 2;
    uint64_t next;
    if (own->count) {
        *number = own->number[--own->count];
        return 0;
    }
    int rc = drail_atomic(d->t, 0, DRAIL_FETCH_ADD, &d->control.keys[0],
                          d->control.lock_numbers_offset, 1, 0, &next);
    if (rc)
        return space_break_rails(d, rc, "number of a lock");
    if (next >= d->cfg.locks - first)
        return space_fail(d, DRAIL_ENOMEM,
                          "all %u locks that memory may name are in use "
                          "(ddsm_config_t.locks is %u)",
                          d->cfg.locks - first, d->cfg.locks);
    *number = first + (uint32_t)next;
    return 0;
}

void lock_numbers_give(ddsm_t *d, uint32_t number)
{
    struct lock_numbers *own = &d->lock_numbers;
    if (own->count == own->room) {
        const size_t room = own->room ? 2 * own->room : 64;
        uint32_t *more = realloc(own->number, room * sizeof *more);
        if (!more) /* it is lost */
            return;
        own->number = more;
        own->room = room;
    }
    own->number[own->count++] = number;
}
