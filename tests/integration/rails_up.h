/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rails are up here. */
#ifndef TESTS_RAILS_UP_H
#define TESTS_RAILS_UP_H

#include "ranks.h"

static inline bool is_up(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).up;
}

/* Until all are. */
static inline void await_rails_up(struct rank *r)
{
    unsigned all = drail_nrails(r->t);
    double end = seconds() + 20;
    for (unsigned up = 0; up < all;) {
        check(seconds() < end);
        expect(r, 0, drail_progress(r->t));
        for (up = 0; up < all && is_up(r, up); up++)
            ;
    }
}

#endif
