/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "coll/run/team/ledger.h"
#include "coll/run/team/team.h"

#define STOPPED_MS 100 /* for the answer of a peer that may be stopped */

static struct ledger *ledger_of(dcoll_team_t *team, unsigned rank)
{
    return (struct ledger *)team->ledgers.base + (rank - team->first);
}

void ledger_break(dcoll_team_t *team, int code)
{
    struct ledger *mine = team->ledger;
    if (team->broken)
        return;
    team->broken = code;
    snprintf(mine->why, sizeof mine->why, "%.*s", (int)sizeof mine->why - 1,
             team->error.text);
    atomic_store_explicit(&mine->error, code, memory_order_release);
}

bool ledger_is_dead(const dcoll_team_t *team, unsigned peer)
{
    return peer - team->first < team->locals &&
           kill(team_member(team, peer)->pid, 0) && errno == ESRCH;
}

/* Two ranks that both prepare a request meet at the entry barrier and compare
 * their calls afterwards. Giving up before would leave other ranks there. */
static bool same_call(const struct call *ours, const struct call *theirs)
{
    return call_same(ours, theirs) || ours->what & theirs->what & CALL_PREPARES;
}

/* Finds the first recorded call that differs between two ranks. */
static bool differ(const struct ledger *mine, const struct ledger *other,
                   uint64_t *at)
{
    uint64_t n = ledger_calls(mine), m = ledger_calls(other);
    uint64_t most = n > m ? n : m, common = n < m ? n : m;
    /* half of the ring: the other rank may add entries meanwhile */
    *at = most > LEDGER / 2 ? most - LEDGER / 2 : 0;
    for (; *at < common; ++*at)
        if (!same_call(&mine->ring[*at % LEDGER], &other->ring[*at % LEDGER]))
            return true;
    return false;
}

static int fail_differ(dcoll_team_t *team, unsigned peer,
                       const struct ledger *other, uint64_t at)
{
    const struct ledger *mine = team->ledger;
    char ours[128], theirs[128];
    call_text(&mine->ring[at % LEDGER], ours, sizeof ours);
    call_text(&other->ring[at % LEDGER], theirs, sizeof theirs);
    return team_fail(team, DRAIL_EINVAL,
                     "call %llu of rank %u is %s, but that of rank %u is %s",
                     (unsigned long long)at + 1, team->rank, ours, peer,
                     theirs);
}

static int check_error(dcoll_team_t *team, unsigned peer,
                       const struct ledger *other)
{
    int error = atomic_load_explicit(&other->error, memory_order_acquire);
    return error ? team_fail(team, error, "rank %u gave up: %.*s", peer,
                             (int)sizeof other->why - 1, other->why)
                 : 0;
}

int ledger_find_error(dcoll_team_t *team)
{
    int rc = 0;
    for (unsigned i = 0; !rc && team->ledger && i < team->locals; i++)
        if (team->first + i != team->rank)
            rc = check_error(team, team->first + i,
                             ledger_of(team, team->first + i));
    return rc;
}

static int check_alive(dcoll_team_t *team, unsigned peer)
{
    return ledger_is_dead(team, peer)
               ? team_fail(team, DRAIL_EPEER, "rank %u has died", peer)
               : 0;
}

/* The peer may have overwritten entries during the first comparison; the second
 * one then finds another difference, or none. */
static int check_local(dcoll_team_t *team, unsigned peer)
{
    const struct ledger *other = ledger_of(team, peer);
    uint64_t at, again;
    int rc = check_error(team, peer, other);
    if (rc)
        return rc;
    if (differ(team->ledger, other, &at) &&
        differ(team->ledger, other, &again) && at == again)
        return fail_differ(team, peer, other, at);
    return check_alive(team, peer);
}

/* RDMA reads the parts of a ledger in any order, so an entry may be half
 * written. A difference counts only if a second read finds it, too. */
static int check_copy(dcoll_team_t *team)
{
    struct remote_ledger *remote = &team->remote_ledger;
    uint64_t at;
    bool doubted = remote->doubted == remote->peer + 1;
    int rc = check_error(team, remote->peer, remote->copy);
    if (rc)
        return rc;
    if (!differ(team->ledger, remote->copy, &at)) {
        remote->doubted = doubted ? 0 : remote->doubted;
        return 0;
    }
    if (doubted && remote->at == at)
        return fail_differ(team, remote->peer, remote->copy, at);
    remote->doubted = remote->peer + 1;
    remote->at = at;
    return DRAIL_EAGAIN;
}

/* Each rank has registered all ledgers of its node. */
drail_key_t ledger_key(const dcoll_team_t *team, unsigned peer)
{
    drail_key_t key =
        *(const drail_key_t *)drail_gathered_of(team->ledger_keys, peer);
    unsigned node = dcoll_shape_node(&team->shape, peer);
    key.address +=
        (peer - team->shape.node_begin[node]) * sizeof(struct ledger);
    key.bytes = sizeof(struct ledger);
    return key;
}

/* Begins to read a ledger of another node. 0; DRAIL_EAGAIN: the queue is full;
 * or an error: it cannot be read. */
static int read_begin(dcoll_team_t *team, unsigned peer)
{
    struct remote_ledger *remote = &team->remote_ledger;
    drail_key_t key = ledger_key(team, peer);
    drail_xfer_t xfer = {
        .local = remote->copy,
        .local_mem = remote->mem,
        .remote = &key,
        .bytes = sizeof *remote->copy,
    };
    if (!team->connected[peer])
        return DRAIL_EPEER;
    int rc = drail_get(team->rail, team_peer(team, peer), &xfer, DRAIL_NOWAIT,
                       &remote->req);
    remote->peer = peer;
    remote->under_way = !rc;
    return rc;
}

/* There is one read at a time, and the next caller may ask for another peer. A
 * ledger in doubt is read again first. */
static int check_remote(dcoll_team_t *team, unsigned peer)
{
    struct remote_ledger *remote = &team->remote_ledger;
    int rc = remote->under_way ? 0 : read_begin(team, peer);
    if (rc)
        return rc == DRAIL_EAGAIN ? rc : 0;
    rc = drail_test(team->rail, &remote->req);
    if (rc == DRAIL_EAGAIN)
        return rc;
    remote->under_way = false;
    rc = rc ? 0 : check_copy(team);
    if (rc == DRAIL_EAGAIN || (!rc && remote->peer != peer)) {
        read_begin(team, rc ? remote->peer : peer);
        return DRAIL_EAGAIN;
    }
    return rc;
}

int ledger_check(dcoll_team_t *team, unsigned peer)
{
    return peer - team->first < team->locals ? check_local(team, peer)
                                             : check_remote(team, peer);
}

/* The peer's ledger, or the copy that was read. NULL: there is none. */
static const struct ledger *known_ledger(dcoll_team_t *team, unsigned peer)
{
    const struct remote_ledger *remote = &team->remote_ledger;
    if (peer - team->first < team->locals)
        return ledger_of(team, peer);
    return team->connected[peer] && remote->peer == peer && !remote->under_way
               ? remote->copy
               : NULL;
}

static uint64_t at_most_mine(const dcoll_team_t *team, uint64_t calls)
{
    uint64_t mine = ledger_calls(team->ledger);
    return calls < mine ? calls : mine;
}

bool ledger_standing(dcoll_team_t *team, unsigned peer, struct standing *s)
{
    const struct ledger *other = known_ledger(team, peer);
    if (!other)
        return false;
    *s = (struct standing){
        .calls = at_most_mine(team, ledger_calls(other)),
        .reached = at_most_mine(team, ledger_reached(other)),
        .moved = ledger_moved(other),
        .skips = atomic_load_explicit(&other->skips, memory_order_acquire),
    };
    return true;
}

void ledger_record_bytes(dcoll_team_t *team)
{
    atomic_store_explicit(&team->ledger->moved,
                          (uint64_t)team->rank << LEDGER_RANK | ++team->moved,
                          memory_order_relaxed);
}

/* Forwards the peer's `moved`, unless bytes of this rank itself have moved
 * since the last time. Ranks that wait for each other in a circle forward a
 * value that no rank increases. */
void ledger_record_wait(dcoll_team_t *team, const struct standing *s)
{
    ledger_set_reached(team->ledger, s->reached);
    if (team->moved == team->moved_before)
        atomic_store_explicit(&team->ledger->moved, s->moved,
                              memory_order_relaxed);
    team->moved_before = team->moved;
}

void ledger_close(dcoll_team_t *team)
{
    struct remote_ledger *remote = &team->remote_ledger;
    if (!remote->under_way)
        return;
    remote->under_way = false;
    if (team->hurries) {
        /* the wait may also end by an error that is not the read's */
        if (!drail_wait(team->rail, &remote->req, STOPPED_MS) ||
            drail_test(team->rail, &remote->req) != DRAIL_EAGAIN)
            return;
        remote->mem = NULL; /* the read may go on until drail_close() */
    }
    drail_forget(team->rail, &remote->req);
    if (!team->hurries)
        drail_fence(team->rail, team_peer(team, remote->peer));
}

bool ledger_caught_up(dcoll_team_t *team, unsigned peer)
{
    return ledger_calls(ledger_of(team, peer)) >= ledger_calls(team->ledger);
}

int ledger_check_caught_up(dcoll_team_t *team, unsigned peer)
{
    const struct ledger *other = ledger_of(team, peer);
    uint64_t at;
    return differ(team->ledger, other, &at) ? fail_differ(team, peer, other, at)
                                            : 0;
}
