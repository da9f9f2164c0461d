/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/events.h"

#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/failover/incoming_replay.h"
#include "dapl_rail/links/failover/outgoing_replay.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/rails/fail.h"

#define POLL_BATCH 64u /* events of one rail before the next rail's turn */

const char *dto_error(DAT_DTO_COMPLETION_STATUS status)
{
    static const char *const names[] = {
        "DAT_DTO_SUCCESS",
        "DAT_DTO_ERR_FLUSHED",
        "DAT_DTO_ERR_LOCAL_LENGTH",
        "DAT_DTO_ERR_LOCAL_EP",
        "DAT_DTO_ERR_LOCAL_PROTECTION",
        "DAT_DTO_ERR_BAD_RESPONSE",
        "DAT_DTO_ERR_REMOTE_ACCESS",
        "DAT_DTO_ERR_REMOTE_RESPONDER",
        "DAT_DTO_ERR_TRANSPORT",
        "DAT_DTO_ERR_RECEIVER_NOT_READY",
        "DAT_DTO_ERR_PARTIAL_PACKET",
    };
    size_t n = sizeof names / sizeof names[0];
    return (size_t)status < n ? names[status] : "unknown DTO status";
}

int dto_code(DAT_DTO_COMPLETION_STATUS status)
{
    switch (status) {
    case DAT_DTO_SUCCESS:
        return 0;
    case DAT_DTO_ERR_REMOTE_ACCESS:
        return DRAIL_EACCESS;
    case DAT_DTO_ERR_LOCAL_PROTECTION:
    case DAT_DTO_ERR_LOCAL_LENGTH:
        return DRAIL_EDAT;
    default:
        return DRAIL_EPEER;
    }
}

static void link_failed(struct link *link, DAT_DTO_COMPLETION_STATUS status)
{
    int code = dto_code(status);
    /* the connection event has the reason of a flush: it must come first */
    if (link->ep.state != EP_ENDING && status == DAT_DTO_ERR_FLUSHED)
        rail_check(link->rail);
    if (link->state == LINK_CONNECTING)
        return;
    if (code == DRAIL_EPEER)
        link_lose(link, code, "a DTO ended with %s", dto_error(status));
    else
        link_down(link, code, "a DTO ended with %s", dto_error(status));
}

/* The immediate data of an RDMA write. NULL: a send has arrived. */
static const uint32_t *immediate_of(const DAT_EVENT *event)
{
    const DAT_IB_EXTENSION_EVENT_DATA *extension =
        (const DAT_IB_EXTENSION_EVENT_DATA *)event->event_extension_data;
    bool is_one = (int)event->event_number == (int)DAT_IB_DTO_EVENT &&
                  extension->type == DAT_IB_RDMA_WRITE_IMMED_DATA;
    return is_one ? &extension->val.immed.data : NULL;
}

static void receive_event(struct slot *slot,
                          const DAT_DTO_COMPLETION_EVENT_DATA *dto,
                          const uint32_t *immediate)
{
    struct link *link = slot->link;
    const char *wrong = "shorter than its header";
    link->slots.posted--;
    if (link->closed)
        return;
    /* also on a link that is down: messages sent before the peer closed count
     */
    if (dto->status != DAT_DTO_SUCCESS) {
        link_failed(link, dto->status);
        return;
    }
    slot->idle = false;
    if (!immediate && dto->transfered_length == LAST_BYTES) {
        link_lose(link, DRAIL_EPEER, "the peer has lost this link");
        slot_return(slot, false);
        return;
    }
    if (immediate) {
        wrong = arrival_immediate(slot, *immediate);
    } else if (dto->transfered_length >= sizeof(struct wire)) {
        /* for later checks of the length */
        slot->bytes = (uint32_t)dto->transfered_length;
        wrong = ((const struct wire *)slot->data)->lane
                    ? incoming_replay_arrived(slot)
                    : arrival_message(slot);
    }
    if (wrong)
        link_down(link, DRAIL_EDAT, "a malformed message arrived: %s", wrong);
}

static void request_event(struct op *op, DAT_DTO_COMPLETION_STATUS status)
{
    struct link *link = op->link;
    /* the requests of a link that is flushed have been retired */
    if (link->closed || link->state == LINK_FLUSHED)
        return;
    if (status == DAT_DTO_SUCCESS) {
        link_retire(op, 0);
        link_pay(link);
        return;
    }
    link_failed(link, status);
    if (link->state == LINK_DOWN)
        link_retire(op, status == DAT_DTO_ERR_FLUSHED ? link->error
                                                      : dto_code(status));
}

static void suppressed_event(struct link *link,
                             DAT_DTO_COMPLETION_STATUS status)
{
    if (status != DAT_DTO_SUCCESS)
        link_failed(link, status);
}

static void carried_event(struct carried *carried,
                          DAT_DTO_COMPLETION_STATUS status)
{
    struct link *link = carried->link;
    if (link->closed)
        return;
    if (status == DAT_DTO_SUCCESS)
        carrier_completed(carried);
    else
        link_failed(link, status);
}

static void last_event(struct link *link)
{
    if (link->ep.state == EP_ENDING)
        link_flush_done(link);
}

static void handle_event(const DAT_EVENT *event)
{
    if (event->event_number != DAT_DTO_COMPLETION_EVENT &&
        (int)event->event_number != (int)DAT_IB_DTO_EVENT)
        return;
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    uintptr_t cookie = (uintptr_t)dto->user_cookie.as_64;
    void *whose = (void *)(cookie & ~(uintptr_t)COOKIE_BITS);
    if (cookie & COOKIE_RECEIVE)
        receive_event(whose, dto, immediate_of(event));
    else if (!(cookie & COOKIE_BITS))
        request_event(whose, dto->status);
    else if ((cookie & COOKIE_BITS) == COOKIE_LAST)
        last_event(whose);
    else if ((cookie & COOKIE_BITS) == COOKIE_SUPPRESSED)
        suppressed_event(whose, dto->status);
    else
        carried_event(whose, dto->status);
}

int rail_poll_one(struct rail *rail)
{
    DAT_EVENT event;
    rail->polls++;
    DAT_RETURN status = dat_evd_dequeue(rail->dto_evd, &event);
    if (status == DAT_SUCCESS) {
        handle_event(&event);
        return 1;
    }
    if (DAT_GET_TYPE(status) != DAT_QUEUE_EMPTY)
        return dat_fail(rail, "dat_evd_dequeue", status);
    slots_return_now(rail);
    /* the next EP may get the handle of a freed one: its events must not be
     * taken for those of that one */
    if (rail->closed && links_bury(rail, false))
        rail_check(rail);
    return 0;
}

int rail_poll(struct rail *rail)
{
    int n = 0;
    while (n < (int)POLL_BATCH) {
        int rc = rail_poll_one(rail);
        if (rc <= 0)
            return rc ? rc : n;
        n++;
    }
    return n;
}

/* No more than the queue holds: new events may come as fast as they are taken.
 */
void rail_catch_up(struct rail *rail)
{
    unsigned taken = 0;
    int n;
    while (taken < rail->dto_qlen && (n = rail_poll(rail)) > 0)
        taken += (unsigned)n;
}

int rail_sleep(struct rail *rail, unsigned us)
{
    DAT_EVENT event;
    DAT_COUNT more;
    rail->polls++;
    DAT_RETURN status = dat_evd_wait(rail->dto_evd, us, 1, &event, &more);
    switch (DAT_GET_TYPE(status)) {
    case DAT_SUCCESS:
        handle_event(&event);
        return 1;
    case DAT_TIMEOUT_EXPIRED:
    case DAT_INTERRUPTED_CALL:
    case DAT_QUEUE_EMPTY:
        return 0;
    default:
        return dat_fail(rail, "dat_evd_wait", status);
    }
}
