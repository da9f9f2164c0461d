/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/outcome.h"

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

static int peer_fail(drail_t *t, struct peer *peer)
{
    int code = atomic_load_explicit(&peer->error, memory_order_acquire);
    unsigned r = atomic_load_explicit(&peer->error_rail, memory_order_relaxed);
    const struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, RAIL_BIT(r), &at)) &&
           !sentence_is(link->why))
        ; /* the first link of the rail with a reason */
    if (sentence_is(peer->refused))
        return fail(t, code, "%s", peer->refused);
    return fail(t, code, "rank %u over %s: %s", peer->rank, t->names[r],
                link ? link->why : drail_strerror(code));
}

int outcome_of_error(drail_t *t, struct peer *peer, int rc, const char *call)
{
    if (rc == DRAIL_EINTR)
        return fail(t, rc, "%s(rank %u): interrupted", call, peer->rank);
    if (rc == DRAIL_ETIMEOUT)
        return fail(t, rc, "%s(rank %u): nothing came in time", call,
                    peer->rank);
    if (rc == DRAIL_EDAT) /* perhaps because the connection has ended */
        progress_check(t);
    if (rc != DRAIL_EAGAIN &&
        atomic_load_explicit(&peer->error, memory_order_relaxed))
        return peer_fail(t, peer);
    if (rc != DRAIL_EAGAIN && error_last(t)->code != rc)
        return fail(t, rc, "%s(rank %u): %s", call, peer->rank,
                    drail_strerror(rc));
    return rc;
}
