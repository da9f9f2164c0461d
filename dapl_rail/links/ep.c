/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/ep.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/ep_release.h"
#include "dapl_rail/links/ep_table.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/rails/fail.h"
#include "providers/core/extensions.h"

/* How long it may take until all of a lost link's EP has come back: after it
 * was asked to end, … */
#define FORCE_NS  (20 * MS)
#define HURRY_NS  (5 * MS) /* … where nothing can come back by itself, … */
#define FORCED_NS (1000 * MS) /* … and after it was reset */

unsigned link_carried_requests(const drail_t *t)
{
    return may_fail_over(t) ? CARRIED_MAX : 0;
}

unsigned link_events(const struct rail *rail)
{
    const drail_t *t = rail->owner;
    return rail->request_depth + link_carried_requests(t) + t->cfg.depth +
           spare_receives(t);
}

/* The dapl_place_t of all EPs. */
static void *place_message(DAT_DTO_COOKIE cookie, size_t bytes)
{
    const struct slot *slot =
        (void *)((uintptr_t)cookie.as_64 & ~(uintptr_t)COOKIE_BITS);
    const struct link *link = slot->link;
    if (link->closed) /* the mailbox may be that of the next connection */
        return NULL;
    return link->rail->owner->handlers->place(slot, bytes);
}

static int ep_create(struct link *link)
{
    struct rail *rail = link->rail;
    DAT_EP_ATTR attr;
    memset(&attr, 0, sizeof attr);
    attr.service_type = DAT_SERVICE_TYPE_RC;
    attr.max_message_size = (DAT_SEG_LENGTH)link->slots.slot_bytes;
    attr.max_rdma_size = (DAT_SEG_LENGTH)rail->max_rdma;
    attr.qos = DAT_QOS_BEST_EFFORT;
    attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_recv_dtos = (DAT_COUNT)link->slots.count;
    attr.max_request_dtos =
        (DAT_COUNT)(rail->request_depth + link_carried_requests(rail->owner));
    attr.max_recv_iov = rail->split_receives ? 2 : 1;
    attr.max_request_iov = 1;
    attr.max_rdma_read_iov = attr.max_rdma_write_iov = 1;
    attr.max_rdma_read_in = attr.max_rdma_read_out =
        (DAT_COUNT)rail->info.max_rdma_read_out;
    DAT_RETURN status =
        dat_ep_create(rail->ia, rail->pz, rail->dto_evd, rail->dto_evd,
                      rail->conn_evd, &attr, &link->ep.handle);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_ep_create", status);
    if (rail->places_receives) /* if it fails, messages are copied twice */
        dapl_place(link->ep.handle, sizeof(struct wire), place_message);
    if (rail->direct_messages) /* if it fails, all go by way of the EVD */
        dapl_direct(link->ep.handle, &rail->direct);
    if (!ep_table_add(link))
        return 0;
    dat_ep_free(link->ep.handle);
    link->ep.handle = DAT_HANDLE_NULL;
    return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
}

int ep_open(struct link *link)
{
    struct queue *q = &link->queue;
    q->last_posted = q->last_ended = false;
    link->ep.begun = link->ep.disconnecting = false;
    link->ep.ending = ENDING_GRACEFULLY;
    failover_reset(link);
    int rc = ep_create(link);
    if (rc)
        return rc;
    link->ep.state = EP_CONNECTING;
    /* before the connection exists, so that no message comes too early */
    for (unsigned i = 0; !rc && i < link->slots.count; i++)
        if (link->slots.all[i].idle)
            rc = slot_post(&link->slots.all[i]);
    return rc;
}

void ep_disconnect(struct link *link)
{
    link->ep.disconnecting = true;
    dat_ep_disconnect(link->ep.handle, DAT_CLOSE_GRACEFUL_FLAG);
}

/* No abrupt disconnect while a graceful one is under way: after 240 ms,
 * libdaplofa's reports an end that its thread has not seen yet, and that thread
 * would then use a freed EP. */
void ep_end(struct link *link)
{
    if (link->ep.state == EP_NONE)
        return;
    link->ep.state = EP_ENDING;
    if (!link->ep.disconnecting)
        dat_ep_disconnect(link->ep.handle, DAT_CLOSE_ABRUPT_FLAG);
}

/* Verbs flush at once what is under way, but an abrupt disconnect waits for the
 * answer of a peer that can't be reached. Nothing can be posted after either,
 * so the last request comes before. */
void ep_end_gracefully(struct link *link)
{
    bool up = link->ep.state == EP_UP;
    link->ep.ending = ENDING_GRACEFULLY;
    link->ep.ending_ns = job_now(link->rail->owner->job);
    if (up && link_post_last(link)) {
        link->ep.state = EP_ENDING;
        dat_ep_disconnect(link->ep.handle, DAT_CLOSE_GRACEFUL_FLAG);
    } else {
        ep_end(link);
    }
}

void ep_hurry(struct link *link)
{
    if (link->ep.state == EP_ENDING && link->ep.ending == ENDING_GRACEFULLY)
        link->ep.ending_ns -= FORCE_NS - HURRY_NS;
}

bool ep_is_overdue(const struct link *link)
{
    uint64_t most = link->ep.ending == ENDING_RESET ? FORCED_NS : FORCE_NS;
    return link->ep.state == EP_ENDING &&
           job_now(link->rail->owner->job) - link->ep.ending_ns >= most;
}

/* If libdaplofa reports an EP as unreachable, its queue pair still runs, and to
 * disconnect it does nothing: what is under way would land later. A reset
 * flushes it. */
void ep_force(struct link *link)
{
    if (link_try_drain(link))
        return;
    link->ep.ending_ns = job_now(link->rail->owner->job);
    if (link->ep.ending == ENDING_GRACEFULLY) {
        link->ep.ending = ENDING_ABRUPTLY;
        ep_end(link);
    } else if (link->ep.ending == ENDING_RESET) {
        link->slots.posted = 0;
        link_flush_done(link);
    } else if (dat_ep_reset(link->ep.handle) == DAT_SUCCESS) {
        link->ep.ending = ENDING_RESET;
    }
}

bool ep_try_release(struct link *link)
{
    /* nothing comes of an EP that was never asked to connect */
    if (link->ep.state != EP_ENDING ||
        (link->ep.begun && !link_try_drain(link)))
        return false;
    link->slots.posted = 0;
    ep_table_remove(link);
    ep_release(link->rail, link->ep.handle);
    link->ep.handle = DAT_HANDLE_NULL;
    link->ep.state = EP_NONE;
    return true;
}

bool link_try_flush(struct link *link)
{
    link_flush(link);
    return link->state == LINK_LOST ? link->queue.last_ended
                                    : link->state >= LINK_FLUSHED;
}

bool link_try_drain(struct link *link)
{
    return link_try_flush(link) && !link->slots.posted;
}
