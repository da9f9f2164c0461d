/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/disseminate.h"
#include "coll/build/flat.h"

static unsigned number(const unsigned *ranks, unsigned index)
{
    return ranks ? ranks[index] : index;
}

void disseminate(dcoll_schedule_t *s, const unsigned *ranks, unsigned n,
                 unsigned me, unsigned k, dcoll_tag_t tag)
{
    s->step = 0;
    for (unsigned w = 1; w < n; w *= k + 1, s->step++) {
        for (unsigned p = 0; p < k && (p + 1) * w < n; p++)
            dcoll_add_notify(s, number(ranks, flat_after(n, me, (p + 1) * w)),
                             p, tag);
        for (unsigned p = 0; p < k && (p + 1) * w < n; p++)
            dcoll_add_wait(s, number(ranks, flat_before(n, me, (p + 1) * w)),
                           tag, 0);
    }
}
