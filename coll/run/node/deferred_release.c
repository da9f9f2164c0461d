/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/node/deferred_release.h"

struct deferred {
    LIST_ENTRY(deferred) link;
    drail_mem_t *mem;
    struct segment segment;
};

int release_or_defer(dcoll_team_t *team, drail_mem_t *mem,
                     struct segment *segment)
{
    const struct drail_platform *p = team->platform;
    if (segment && p->settle)
        p->settle(p);
    int rc = mem ? drail_mem_release(mem) : 0;
    if (!rc) {
        if (segment)
            segment_close(segment);
        return 0;
    }
    struct deferred *left = calloc(1, sizeof *left);
    if (left) { /* else it stays mapped for good */
        left->mem = mem;
        left->segment = segment ? *segment : SEGMENT_NONE;
        LIST_INSERT_HEAD(&team->deferred, left, link);
    }
    return team_rail_fail(team, rc);
}

void deferred_release_retry(dcoll_team_t *team)
{
    struct deferred *next;
    for (struct deferred *l = LIST_FIRST(&team->deferred); l; l = next) {
        next = LIST_NEXT(l, link);
        if (drail_mem_release(l->mem))
            continue;
        LIST_REMOVE(l, link);
        segment_close(&l->segment);
        free(l);
    }
}

void deferred_release_end(dcoll_team_t *team)
{
    struct deferred *l;
    deferred_release_retry(team);
    while ((l = LIST_FIRST(&team->deferred))) {
        LIST_REMOVE(l, link);
        segment_close_file(&l->segment);
        free(l);
    }
}
