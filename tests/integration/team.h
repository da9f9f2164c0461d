/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on a team that must succeed. */
#ifndef TESTS_TEAM_H
#define TESTS_TEAM_H

#include "coll/dcoll.h"
#include "ranks.h"

/* The call has returned rc; not 0: the rank tells why and ends. */
static inline void team_good(const struct rank *r, const dcoll_team_t *team,
                             int rc, const char *what)
{
    if (!rc)
        return;
    printf("# rank %u: %s: %s: %s\n", r->rank, what, drail_strerror(rc),
           dcoll_last_error(team));
    fflush(stdout);
    _exit(1);
}

#endif
