/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Did all ranks make the same call? Each rank writes its calls where others
 * can read them: that costs two stores. A rank looks only when it has waited
 * for a while. Requests have memory, flags and notifications of their own, so
 * ranks with different calls wait for each other but corrupt nothing.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "coll/run/ledger.h"
#include "coll/run/team.h"

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

static bool dead(const dcoll_team_t *team, unsigned peer)
{
    return peer - team->first < team->locals &&
           kill(team_member(team, peer)->pid, 0) && errno == ESRCH;
}

static uint64_t calls_of(const struct ledger *ledger)
{
    return atomic_load_explicit(&ledger->calls, memory_order_acquire);
}

/* Two that prepare will meet, and compare all ranks' calls then: who gave up
 * before that would leave the others there. */
static bool agree(const struct call *ours, const struct call *theirs)
{
    return call_same(ours, theirs) || ours->what & theirs->what & CALL_PREPARES;
}

/* The first call that both have made and still know, and that differs. */
static bool differ(const struct ledger *mine, const struct ledger *other,
                   uint64_t *at)
{
    uint64_t n = calls_of(mine), m = calls_of(other);
    uint64_t most = n > m ? n : m, common = n < m ? n : m;
    /* half the ring, as the other may go on while we read */
    *at = most > LEDGER / 2 ? most - LEDGER / 2 : 0;
    for (; *at < common; ++*at)
        if (!agree(&mine->ring[*at % LEDGER], &other->ring[*at % LEDGER]))
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

int ledger_gave_up(dcoll_team_t *team)
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
    return dead(team, peer)
               ? team_fail(team, DRAIL_EPEER, "rank %u has died", peer)
               : 0;
}

/* He may have gone round his ring while it was read: not once more. */
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

/* What came, whose parts may have been read in any order: what was just being
 * written has been by the second look. */
static int check_copy(dcoll_team_t *team)
{
    struct look *look = &team->look;
    uint64_t at;
    bool doubted = look->doubted == look->peer + 1;
    int rc = check_error(team, look->peer, look->copy);
    if (rc)
        return rc;
    if (!differ(team->ledger, look->copy, &at)) {
        look->doubted = doubted ? 0 : look->doubted;
        return 0;
    }
    if (doubted && look->at == at)
        return fail_differ(team, look->peer, look->copy, at);
    look->doubted = look->peer + 1;
    look->at = at;
    return DRAIL_EAGAIN;
}

/* Each rank has registered its node's ledgers. */
static drail_key_t ledger_key(const dcoll_team_t *team, unsigned peer)
{
    drail_key_t key =
        *(const drail_key_t *)drail_gathered_of(team->ledger_keys, peer);
    unsigned node = dcoll_shape_node(&team->shape, peer);
    key.address +=
        (peer - team->shape.node_begin[node]) * sizeof(struct ledger);
    key.bytes = sizeof(struct ledger);
    return key;
}

/* 0; DRAIL_EAGAIN: there is no room for it now; else it can't be had. */
static int look_begin(dcoll_team_t *team, unsigned peer)
{
    struct look *look = &team->look;
    drail_key_t key = ledger_key(team, peer);
    drail_xfer_t xfer = {
        .local = look->copy,
        .local_mem = look->mem,
        .remote = &key,
        .bytes = sizeof *look->copy,
    };
    if (!team->connected[peer])
        return DRAIL_EPEER;
    int rc = drail_get(team->rail, peer, &xfer, DRAIL_NOWAIT, &look->req);
    look->peer = peer;
    look->under_way = !rc;
    return rc;
}

/* It takes its time, in which others may want to look at another's. What is in
 * doubt is looked at again first. */
static int check_remote(dcoll_team_t *team, unsigned peer)
{
    struct look *look = &team->look;
    int rc = look->under_way ? 0 : look_begin(team, peer);
    if (rc)
        return rc == DRAIL_EAGAIN ? rc : 0;
    rc = drail_test(team->rail, &look->req);
    if (rc == DRAIL_EAGAIN)
        return rc;
    look->under_way = false;
    rc = rc ? 0 : check_copy(team);
    if (rc == DRAIL_EAGAIN || (!rc && look->peer != peer)) {
        look_begin(team, rc ? look->peer : peer);
        return DRAIL_EAGAIN;
    }
    return rc;
}

int ledger_check(dcoll_team_t *team, unsigned peer)
{
    return peer - team->first < team->locals ? check_local(team, peer)
                                             : check_remote(team, peer);
}

/* NULL: it could not be had. */
static const struct ledger *looked_at(dcoll_team_t *team, unsigned peer)
{
    const struct look *look = &team->look;
    if (peer - team->first < team->locals)
        return ledger_of(team, peer);
    return team->connected[peer] && look->peer == peer && !look->under_way
               ? look->copy
               : NULL;
}

static uint64_t at_most_mine(const dcoll_team_t *team, uint64_t calls)
{
    uint64_t mine = calls_of(team->ledger);
    return calls < mine ? calls : mine;
}

uint64_t ledger_common(dcoll_team_t *team, unsigned peer)
{
    const struct ledger *other = looked_at(team, peer);
    return at_most_mine(team, other ? calls_of(other) : UINT64_MAX);
}

void ledger_move(dcoll_team_t *team)
{
    atomic_store_explicit(&team->ledger->moved,
                          (uint64_t)team->rank << LEDGER_RANK | ++team->moved,
                          memory_order_relaxed);
}

/* Where this rank has seen nothing move itself since the last time, it passes
 * on what the other tells. Ranks that wait for one another in a circle pass on
 * what no rank adds to. */
static void pass_on(dcoll_team_t *team, const struct ledger *other)
{
    if (team->moved == team->moved_before)
        atomic_store_explicit(&team->ledger->moved, ledger_moved(other),
                              memory_order_relaxed);
    team->moved_before = team->moved;
}

void ledger_waits_for(dcoll_team_t *team, unsigned peer)
{
    const struct ledger *other = looked_at(team, peer);
    if (!other)
        return;
    ledger_reach(team->ledger, at_most_mine(team, ledger_reached(other)));
    pass_on(team, other);
}

void ledger_look_no_more(dcoll_team_t *team)
{
    struct look *look = &team->look;
    if (!look->under_way)
        return;
    drail_forget(team->rail, &look->req);
    drail_fence(team->rail, look->peer);
    look->under_way = false;
}

bool ledger_has_come(dcoll_team_t *team, unsigned peer)
{
    return calls_of(ledger_of(team, peer)) >= calls_of(team->ledger);
}

int ledger_joins(dcoll_team_t *team, unsigned peer)
{
    const struct ledger *other = ledger_of(team, peer);
    uint64_t at;
    return differ(team->ledger, other, &at) ? fail_differ(team, peer, other, at)
                                            : 0;
}
