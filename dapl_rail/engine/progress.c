/* SPDX-License-Identifier: BSD-3-Clause */
/* Reaps the events of a rail, and waits for them. */
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/base/clock.h"
#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/messages/atomic.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/platform/spin.h"
#include "dapl_rail/rails/rail.h"

#define POLL_BATCH 64u /* events of one rail before the next's turn */
/* Sleeps on one of several rails of which any may be next. */
#define FIRST_SLICE_US  50u
#define SHARED_SLICE_US 1000u
#define CHECK_EVENTS    1024u /* events between looks at the clock */

/* ------------------------------------------------------ handling events */

static const char *dto_error(DAT_DTO_COMPLETION_STATUS status)
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

static int dto_code(DAT_DTO_COMPLETION_STATUS status)
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
    if (link->state == LINK_DOWN)
        return;
    /* flushed is only the consequence: the connection event says why */
    if (status == DAT_DTO_ERR_FLUSHED)
        rail_check(link->rail);
    link_down(link, dto_code(status), "a DTO ended with %s", dto_error(status));
}

static void wire_fault(struct link *link, const char *what)
{
    link_down(link, DRAIL_EDAT, "a malformed message arrived: %s", what);
}

static void handle_message(struct slot *slot)
{
    struct link *link = slot->link;
    struct peer *peer = link->peer;
    const struct wire *wire = (const struct wire *)slot->data;
    uint32_t bit = RAIL_BIT(link->rail->index);

    link->rail->stats.recvs++;
    link->credits += wire->credits;
    if (link->credits > link->rail->owner->cfg.depth) {
        wire_fault(link, "credits");
        return;
    }
    switch (wire->type) {
    case WIRE_NOTIFY:
        if (!(wire->rails & bit) || wire->rails >> link->rail->owner->nrails)
            wire_fault(link, "rails of a notification");
        else if (inbox_put(&peer->notes, wire, link->rail->index, wire->rails,
                           NULL))
            wire_fault(link, "sequence of a notification");
        else
            slot_post(slot); /* owed when delivered */
        return;
    case WIRE_EAGER:
    case WIRE_RENDEZVOUS: {
        uint64_t room =
            wire->type == WIRE_EAGER ? wire->bytes : sizeof(drail_key_t);
        if (room > slot->bytes - sizeof *wire)
            wire_fault(link, "length of a message");
        else if (inbox_put(&peer->messages, wire, link->rail->index, bit, slot))
            wire_fault(link, "sequence of a message");
        return; /* the slot waits for drail_recv */
    }
    case WIRE_FINISHED:
        atomic_fetch_add_explicit(&peer->finished, 1, memory_order_release);
        slot_post(slot);
        link_owe(link);
        return;
    case WIRE_ATOMIC:
    case WIRE_ATOMIC_REPLY:
        if (slot->bytes < sizeof *wire + sizeof(struct wire_atomic)) {
            wire_fault(link, "length of an atomic");
            return;
        }
        if (wire->type == WIRE_ATOMIC) {
            atomic_serve(slot);
            slot_post(slot);
            link_owe(link);
            return;
        }
        link->answer = *(const struct wire_atomic *)(wire + 1);
        link->answered = true;
        slot_post(slot);
        return;
    case WIRE_CREDIT:
        slot_post(slot);
        return;
    default:
        wire_fault(link, "type");
    }
}

static void handle_receive(struct slot *slot,
                           const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
    struct link *link = slot->link;
    link->receives--;
    /* also on a link that is down: what a peer sent before it closed counts */
    if (dto->status != DAT_DTO_SUCCESS)
        link_failed(link, dto->status);
    else if (dto->transfered_length < sizeof(struct wire))
        wire_fault(link, "shorter than its header");
    else {
        /* so that later checks see what has really arrived */
        slot->bytes = (uint32_t)dto->transfered_length;
        handle_message(slot);
    }
}

static void handle_event(const DAT_EVENT *event)
{
    if (event->event_number != DAT_DTO_COMPLETION_EVENT &&
        (int)event->event_number != (int)DAT_IB_DTO_EVENT)
        return;
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    uintptr_t cookie = (uintptr_t)dto->user_cookie.as_64;
    if (cookie & 1) {
        handle_receive((struct slot *)(cookie - 1), dto);
        return;
    }
    if (cookie & 2) {
        ((struct link *)(cookie - 2))->last_done = true;
        return;
    }
    struct op *op = (struct op *)cookie;
    if (!op || op->link->state == LINK_DOWN)
        return;
    if (dto->status == DAT_DTO_SUCCESS) {
        link_retire(op, 0);
        return;
    }
    struct link *link = op->link;
    if (dto->status != DAT_DTO_ERR_FLUSHED)
        link_retire(op, dto_code(dto->status));
    link_failed(link, dto->status);
}

int rail_poll(struct rail *rail)
{
    DAT_EVENT event;
    int n = 0;
    while (n < (int)POLL_BATCH) {
        DAT_RETURN status = dat_evd_dequeue(rail->dto_evd, &event);
        if (status != DAT_SUCCESS)
            return DAT_GET_TYPE(status) == DAT_QUEUE_EMPTY
                       ? n
                       : dat_fail(rail, "dat_evd_dequeue", status);
        handle_event(&event);
        n++;
    }
    return n;
}

int rail_sleep(struct rail *rail, unsigned us)
{
    DAT_EVENT event;
    DAT_COUNT more;
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

/* -------------------------------------------------------------- waiting */

int patience_check(struct patience *p)
{
    drail_t *t = p->t;
    if (atomic_load_explicit(&t->interrupted, memory_order_relaxed) ||
        drail_job_interrupted(t->job))
        return DRAIL_EINTR;
    uint64_t now = now_ns();
    if (!p->deadline_ns)
        p->deadline_ns = now + (uint64_t)p->timeout_ms * MS;
    return now >= p->deadline_ns ? DRAIL_ETIMEOUT : 0;
}

/* What may be slept now: up to slice, but not past the deadline. */
static unsigned nap_us(const struct patience *p, unsigned slice_us)
{
    uint64_t now;
    if (!p->deadline_ns)
        return slice_us < (unsigned)p->timeout_ms * 1000ull
                   ? slice_us
                   : (unsigned)p->timeout_ms * 1000u;
    now = now_ns();
    if (now >= p->deadline_ns)
        return 0;
    uint64_t left = (p->deadline_ns - now) / 1000 + 1;
    return left < slice_us ? (unsigned)left : slice_us;
}

static int poll_rails(drail_t *t, uint32_t rails)
{
    int n = 0;
    for (unsigned r = 0; r < t->nrails; r++) {
        if (!(rails & RAIL_BIT(r)))
            continue;
        int rc = rail_poll(&t->rails[r]);
        if (rc < 0)
            return rc;
        n += rc;
    }
    return n;
}

static uint32_t all_rails(const drail_t *t)
{
    return RAIL_BIT(t->nrails) - 1;
}

/* An error of one rail must not hide what has arrived on another. */
static int last_look(drail_t *t, owed_t owed, void *arg, int error)
{
    uint32_t rails;
    for (;;) {
        int n = poll_rails(t, all_rails(t));
        int rc = owed(t, arg, &rails);
        if (rc > 0)
            return rc;
        if (n <= 0)
            return error;
    }
}

int progress_spin(drail_t *t, owed_t owed, void *arg)
{
    uint32_t rails;
    spin_begin(&t->spin);
    do {
        int rc = owed(t, arg, &rails);
        if (rc)
            return rc;
        rc = poll_rails(t, rails);
        if (rc < 0)
            return rc;
    } while (spin_more(&t->spin));
    return 0;
}

static unsigned next_rail(uint32_t rails, unsigned after)
{
    uint32_t higher = rails & ~((RAIL_BIT(after) << 1) - 1);
    return (unsigned)__builtin_ctz(higher ? higher : rails);
}

/* The longest sleep on a rail; the adaptive policy wants to know when each of
 * several was ready. */
static unsigned longest_slice(const drail_t *t, bool alone)
{
    if (alone)
        return WAIT_SLICE_US;
    return t->cfg.policy == DRAIL_POLICY_ADAPTIVE ? FIRST_SLICE_US
                                                  : SHARED_SLICE_US;
}

static unsigned next_slice(unsigned slice, unsigned longest)
{
    return 2 * slice < longest ? 2 * slice : longest;
}

/* Sleeps on the rails that owe something, each in turn. */
static int slumber(drail_t *t, owed_t owed, void *arg, struct patience *p)
{
    unsigned at = DRAIL_MAX_RAILS;
    unsigned slice = t->nrails == 1 ? WAIT_SLICE_US : FIRST_SLICE_US;
    uint32_t rails;
    for (unsigned i = 1;; i++) {
        int rc = owed(t, arg, &rails);
        if (rc)
            return rc;
        at = next_rail(rails, at);
        bool alone = !(rails & (rails - 1));
        rc = rail_sleep(&t->rails[at], nap_us(p, slice));
        /* something may have come where nothing was expected */
        if (rc == 0)
            rc = poll_rails(t, all_rails(t));
        if (rc < 0)
            return rc;
        if (rc > 0 && i % CHECK_EVENTS)
            continue;
        rail_check(&t->rails[at]);
        rc = patience_check(p);
        if (rc)
            return owed(t, arg, &rails) > 0 ? 1 : rc;
        slice = next_slice(slice, longest_slice(t, alone));
    }
}

int progress_wait(drail_t *t, owed_t owed, void *arg, int timeout_ms)
{
    struct patience p = {.t = t, .timeout_ms = timeout_ms};
    uint32_t rails = 0;
    int rc = owed(t, arg, &rails);
    if (rc == 0) {
        rc = poll_rails(t, all_rails(t));
        if (rc >= 0)
            rc = owed(t, arg, &rails);
    }
    if (rc == 0 && timeout_ms == 0)
        return DRAIL_EAGAIN;
    if (rc == 0 && rails & (rails - 1)) {
        rc = progress_spin(t, owed, arg);
        if (rc == 0)
            rc = slumber(t, owed, arg, &p);
        spin_end(&t->spin);
    } else if (rc == 0) {
        /* to wait on a rail polls it first anyway */
        rc = slumber(t, owed, arg, &p);
    }
    if (rc < 0 && rc != DRAIL_ETIMEOUT && rc != DRAIL_EINTR)
        rc = last_look(t, owed, arg, rc);
    return rc < 0 ? rc : 0;
}

int rail_wait(struct rail *rail, owed_t owed, void *arg, int timeout_ms)
{
    drail_t *t = rail->owner;
    struct patience p = {.t = t, .timeout_ms = timeout_ms};
    uint32_t bit = RAIL_BIT(rail->index), rails;
    unsigned slice = FIRST_SLICE_US;
    for (unsigned i = 1;; i++) {
        int rc = owed(t, arg, &rails);
        if (rc < 0 && rail_poll(rail) > 0)
            continue; /* another rail's error must not hide what is here */
        if (rc || !(rails & bit))
            return rc < 0 ? rc : 0;
        /* of several, this rail may turn out to owe nothing: another thread
         * will know */
        bool alone = !(rails & (rails - 1));
        rc = rail_sleep(rail, nap_us(&p, alone ? WAIT_SLICE_US : slice));
        if (rc < 0)
            return rc;
        slice = next_slice(slice, SHARED_SLICE_US);
        if (rc > 0 && i % CHECK_EVENTS)
            continue;
        rail_check(rail);
        rc = patience_check(&p);
        if (rc)
            return rc;
    }
}
