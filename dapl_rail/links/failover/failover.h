/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover: a link that is lost goes on over other links to the same peer until
 * it has another EP. In reading order:
 *
 *   failover.h         the state of one link: a struct of each module
 *   loss.h             how both ends agree on what has been received
 *   journal.h          what has been posted: enough to post it again
 *   outgoing_replay.h  posts the journal over another link, the carrier
 *   incoming_replay.h  receives what a carrier brings for another link
 *   reconnect.h        tries another EP for the lost link
 *   heartbeat.h        finds links on which nothing passes
 *   health.h           what the provider reports of a wire
 *   outstanding.h      how much is under way
 *   final_counts.h     what a closing rank has received, for a late loss
 */
#ifndef DRAIL_LINKS_FAILOVER_FAILOVER_H
#define DRAIL_LINKS_FAILOVER_FAILOVER_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/failover/heartbeat.h"
#include "dapl_rail/links/failover/incoming_replay.h"
#include "dapl_rail/links/failover/loss.h"
#include "dapl_rail/links/failover/outgoing_replay.h"
#include "dapl_rail/links/failover/reconnect.h"

struct link;

struct failover {
    struct loss loss;
    struct replay replay;
    struct reconnect reconnect;
    struct carrier carrier;
    struct incoming incoming;
    struct heartbeat heartbeat;
};

/* Is there more than one link to each peer? */
static inline bool may_fail_over(const drail_t *t)
{
    return t->nrails * t->cfg.eps > 1;
}

/* After journal_open(). A link without a journal gets a constant, which must
 * not be written to. 0 or DRAIL_ENOMEM; then the link has no journal either. */
int failover_open(struct link *link);
void failover_close(struct link *link);
/* The link gets another EP: forgets what concerned the one before. */
void failover_reset(struct link *link);

#endif
