/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_NOTES_H
#define DCOLL_NOTES_H

#include "coll/run/request.h"

/* An id names the request and the tag. */
uint32_t notification_id(const dcoll_request_t *q, dcoll_tag_t tag);
/* Tells a peer that this rank has come to prepare the request. 0, DRAIL_EAGAIN:
 * he has no credit for it, or an error. */
int notifications_send_entered(dcoll_request_t *q, unsigned peer);
/* Takes what comes next from a peer, waiting for at most so long. */
int notifications_take(dcoll_team_t *team, unsigned peer, int timeout_ms);
/* DCOLL_WAIT: 0, DRAIL_EAGAIN: it has not come yet, or an error. */
int notifications_await(dcoll_request_t *q, const dcoll_op_t *op);
/* What is not waited for yet must not fill the transport's queue of the peer,
 * who would wait for room in it. */
int notifications_take_credits(dcoll_request_t *q);
/* Takes what all peers have sent, which gives them their credits back, whatever
 * this rank waits for. An error: DRAIL_EINTR. */
int team_progress(dcoll_team_t *team);

#endif
