/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a member handles the member's connection events. The thread of
 * the first member also looks at all connections when something is due.
 */
#include "dapl_rail/platform/busywait.h"

#include "providers/core/thread.h"
#include "providers/bond/progress.h"
#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"

#define REST_NS  (20 * BOND_MS) /* between looks while there are connections */
#define IDLE_NS  (500 * BOND_MS)
#define SERVE_NS (100 * BOND_MS) /* after it has executed an atomic */

static void handle(struct bond_member *m, const DAT_EVENT *e)
{
    if (e->event_number == DAT_CONNECTION_REQUEST_EVENT)
        bond_on_request(m, &e->event_data.cr_arrival_event_data);
    else if (e->event_number == DAT_SOFTWARE_EVENT)
        atomic_store(&m->b->woken, false); /* before it looks */
    else
        bond_on_connection(m, e->event_number,
                           &e->event_data.connect_event_data);
}

/* Peers' atomics need no call of the consumer. If a thread of the bond has
 * executed some, the watchers execute the next ones. */
static void drain_all(struct bond_ia *b, uint64_t now)
{
    uint64_t before = b->executed;
    for (unsigned i = 0; i < b->params.count; i++)
        bond_drain(&b->member[i]);
    if (b->executed != before)
        b->serve_until = now + SERVE_NS;
    atomic_store(&b->serves, now < b->serve_until);
    if (now < b->serve_until)
        bond_watch_begin(b);
}

void bond_serve(struct bond_ia *b)
{
    pthread_mutex_lock(&b->lock);
    drain_all(b, busywait_now_ns());
    pthread_mutex_unlock(&b->lock);
}

static uint64_t look_at_all(struct bond_ia *b)
{
    uint64_t now = busywait_now_ns();
    uint64_t next = now + (b->conns ? REST_NS : IDLE_NS);
    for (unsigned i = 0; i < b->params.count; i++) {
        bond_member_forget_errors(&b->member[i]);
        bond_release_look(&b->member[i], now);
        bond_links_free(&b->member[i], now);
    }
    bond_zones_look(b);
    drain_all(b, now);
    for (struct bond_conn *c = b->conns, *after; c; c = after) {
        after = c->next;
        uint64_t due = bond_conn_look(c, now);
        next = due < next ? due : next;
    }
    return next;
}

void *bond_loop(void *arg)
{
    struct bond_member *m = arg;
    struct bond_ia *b = m->b;
    uint64_t wait_us = IDLE_NS / 1000;
    core_thread_short_slices();
    while (!atomic_load(&b->stop)) {
        DAT_EVENT event;
        DAT_COUNT more;
        bool any = dat_evd_wait(m->conn, (DAT_TIMEOUT)wait_us, 1, &event,
                                &more) == DAT_SUCCESS;
        if (!any && m->index != BOND_FIRST_MEMBER)
            continue;
        core_ia_lock(b->ia);
        core_lock_wanted(&b->lock, &b->wanted);
        if (any)
            handle(m, &event);
        uint64_t next = look_at_all(b), now = busywait_now_ns();
        pthread_mutex_unlock(&b->lock);
        core_ia_unlock(b->ia);
        wait_us = m->index != BOND_FIRST_MEMBER ? IDLE_NS / 1000
                  : next > now                  ? (next - now) / 1000 + 1
                                                : 1;
    }
    return NULL;
}
