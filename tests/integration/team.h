/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on a team that must succeed, or fail. */
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

/* The call has returned `want`, and its sentence has this part (NULL: any);
 * else the rank tells what it got and ends. */
static inline void team_fails(const struct rank *r, const dcoll_team_t *team,
                              int rc, int want, const char *part)
{
    if (rc == want && (!part || strstr(dcoll_last_error(team), part)))
        return;
    printf("# rank %u: %d (%s), not %d: \"%s\" has no \"%s\"\n", r->rank, rc,
           drail_strerror(rc), want, dcoll_last_error(team), part ? part : "");
    fflush(stdout);
    _exit(1);
}

#endif
