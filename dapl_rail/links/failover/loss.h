/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link outlives its EP: its requests, messages and credits are counted on,
 * and its users need not know of the loss. Both ends end the EP, so that
 * nothing of it lands late, and wait until all that was posted on it has come
 * back. Then each tells the other, over a link that is up, how many messages it
 * has ever received on the lost link. All requests up to the last of these
 * messages have been delivered. The later ones are replayed over another link,
 * the carrier, in the same order (outgoing_replay.h).
 *
 * If a carrier is lost, too, the same is done for all links that it carried:
 * the peer's count says what has come, over whichever link. An epoch is the
 * number of EPs that have been lost so far between these two ranks. A count is
 * valid if it was sent in the present epoch. Then the peer knows of the same
 * losses, because it also sends how often each link was lost, and nothing on
 * any of these EPs is under way any more.
 *
 * A link that does not come up while others do begins as lost: it has been lost
 * 0 times, and its count is 0.
 *
 * This needs rail.info.is_delivering: a completion means that data are
 * delivered.
 */
#ifndef DRAIL_LINKS_FAILOVER_LOSS_H
#define DRAIL_LINKS_FAILOVER_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/base/handle.h"

struct link;

#define NO_EPOCH UINT32_MAX

/* What the two ends know of a link's losses. */
struct loss {
    uint32_t losses;  /* of EPs that had been up, … */
    uint32_t counted; /* … and those of them in the statistics */
    bool never_up;    /* the EP that ends has not been up */
    bool in_rail;     /* rail.lost_links counts this link */
    bool synced;      /* the peer's count is accounted for: replay may go on */
    /* the last epochs in which counts were sent, and received; or NO_EPOCH */
    uint32_t epoch_sent, epoch_heard;
    uint64_t peer_received; /* messages, as the peer has told */
    uint64_t since_ns;      /* the wait for the peer's count began, last */
};

/* Takes all that concerns lost links a step further, without waiting. Not while
 * several threads are at work. */
void loss_run(drail_t *t);

/* Has this rank told the peer all that the peer must know of this link before
 * this rank may close? */
bool loss_told(const struct link *link);

/* loss_run(), if anything has happened, or is awaited, that concerns a lost
 * link. */
static inline void loss_serve(drail_t *t)
{
    if (atomic_load_explicit(&t->unsettled, memory_order_relaxed) &&
        !t->parallel)
        loss_run(t);
}

#endif
