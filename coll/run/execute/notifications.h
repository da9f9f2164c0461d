/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications over the rails. An arriving notification names a request and a
 * tag by its id, and is counted there. */
#ifndef DCOLL_NOTIFICATIONS_H
#define DCOLL_NOTIFICATIONS_H

#include "coll/run/request.h"

uint32_t notification_id(const dcoll_request_t *q, dcoll_tag_t tag);
/* Tells a peer that this rank has reached the entry barrier of the request. 0;
 * DRAIL_EAGAIN: there is no credit for it; or an error. */
int notifications_send_entered(dcoll_request_t *q, unsigned peer);
/* Takes the next notification of a peer, and waits for it at most timeout_ms.
 * DRAIL_EAGAIN or DRAIL_ETIMEOUT: none has come. */
int notifications_take(dcoll_team_t *team, unsigned peer, int timeout_ms);
/* A notification of a peer has been taken. */
void notifications_deliver(dcoll_team_t *team, unsigned peer, uint32_t id);
/* DCOLL_WAIT. 0; DRAIL_EAGAIN: it has not come yet; or an error. */
int notifications_await(dcoll_request_t *q, const dcoll_op_t *op);
/* Takes the credits that have come for this request. If they stayed in the
 * transport's queue, the peer could run out of room there. */
int notifications_take_credits(dcoll_request_t *q);
/* Advances the rails, and takes the notifications of all peers: this returns
 * their transport credits, whatever this rank waits for. 0, or DRAIL_EINTR. */
int team_progress(dcoll_team_t *team);

#endif
