/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/node/deferred_release.h"

#define MS          1000000ull
#define PATIENCE_NS (100 * MS) /* of a team that hurries */
#define NAP_NS      (MS / 2)

struct deferred {
    LIST_ENTRY(deferred) link;
    drail_mem_t *mem;
    struct segment segment;
};

static void keep(dcoll_team_t *team, drail_mem_t *mem,
                 const struct segment *segment)
{
    struct deferred *left = calloc(1, sizeof *left);
    if (left) { /* else it stays mapped for good */
        left->mem = mem;
        left->segment = *segment;
        LIST_INSERT_HEAD(&team->deferred, left, link);
    }
}

void release_or_defer(dcoll_team_t *team, drail_mem_t *mem,
                      struct segment *segment)
{
    const struct drail_platform *p = team->platform;
    if (segment && p->settle)
        p->settle(p);
    int (*release)(drail_mem_t *) =
        team->hurries ? drail_mem_try_release : drail_mem_release;
    if (mem && release(mem))
        keep(team, mem, segment ? segment : &SEGMENT_NONE);
    else if (segment)
        segment_close(segment);
}

int release_users(dcoll_team_t *team, drail_mem_t *mem)
{
    int rc = drail_mem_release(mem);
    if (!rc)
        return 0;
    keep(team, mem, &SEGMENT_NONE);
    return team_rail_fail(team, rc);
}

static void retry(dcoll_team_t *team, int (*release)(drail_mem_t *))
{
    struct deferred *next;
    for (struct deferred *l = LIST_FIRST(&team->deferred); l; l = next) {
        next = LIST_NEXT(l, link);
        if (release(l->mem))
            continue;
        LIST_REMOVE(l, link);
        segment_close(&l->segment);
        free(l);
    }
}

/* Either the first attempt has waited, or the team hurries. */
void deferred_release_retry(dcoll_team_t *team)
{
    retry(team, drail_mem_try_release);
}

/* Peers that run leave the memory soon; one that is stopped does not. */
static void await_peers(dcoll_team_t *team)
{
    const struct drail_platform *p = team->platform;
    const uint64_t until = platform_now(p) + PATIENCE_NS;
    while (!LIST_EMPTY(&team->deferred) && platform_now(p) < until) {
        platform_sleep(p, NAP_NS);
        drail_progress(team->rail);
        deferred_release_retry(team);
    }
}

void deferred_release_end(dcoll_team_t *team)
{
    struct deferred *l;
    if (team->hurries)
        await_peers(team);
    else
        retry(team, drail_mem_release);
    while ((l = LIST_FIRST(&team->deferred))) {
        LIST_REMOVE(l, link);
        segment_close_file(&l->segment);
        free(l);
    }
}
