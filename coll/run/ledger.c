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

#define INIT_BIT     0x80000000u
#define IN_PLACE_BIT 0x40000000u

static unsigned algorithm_index(const dcoll_algorithm_t *algorithm)
{
    unsigned i = 0;
    while (dcoll_algorithms()[i] != algorithm)
        i++;
    return i;
}

struct call call_of(const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, bool init)
{
    return (struct call){
        .what = 1 + algorithm_index(algorithm) +
                (args->in_place ? IN_PLACE_BIT : 0) + (init ? INIT_BIT : 0),
        .root = args->root,
        .bytes = args->bytes,
    };
}

bool call_same(const struct call *a, const struct call *b)
{
    return a->what == b->what && a->root == b->root && a->bytes == b->bytes;
}

static unsigned algorithms_count(void)
{
    unsigned n = 0;
    while (dcoll_algorithms()[n])
        n++;
    return n;
}

void call_text(const struct call *call, char *text, size_t size)
{
    unsigned index = (call->what & ~(INIT_BIT | IN_PLACE_BIT)) - 1;
    if (index >= algorithms_count()) {
        snprintf(text, size, "nothing known");
        return;
    }
    const dcoll_algorithm_t *a = dcoll_algorithms()[index];
    snprintf(text, size, "%s%s of %llu bytes, root %u, algorithm %s%s",
             call->what & INIT_BIT ? "preparation of " : "",
             dcoll_collective_name(a->collective),
             (unsigned long long)call->bytes, call->root, a->name,
             call->what & IN_PLACE_BIT ? ", in place" : "");
}

static struct ledger *ledger_of(dcoll_team_t *team, unsigned rank)
{
    return (struct ledger *)team->ledgers.base + (rank - team->first);
}

void ledger_enter(dcoll_team_t *team, const struct call *call)
{
    struct ledger *mine = ledger_of(team, team->rank);
    uint64_t n = atomic_load_explicit(&mine->calls, memory_order_relaxed);
    mine->ring[n % LEDGER] = *call;
    atomic_store_explicit(&mine->calls, n + 1, memory_order_release);
}

int ledger_settle(dcoll_team_t *team, int code)
{
    if (!code)
        return 0;
    struct ledger *mine = ledger_of(team, team->rank);
    team->broken = code;
    snprintf(mine->why, sizeof mine->why, "%.*s", (int)sizeof mine->why - 1,
             team->error.text);
    atomic_store_explicit(&mine->error, code, memory_order_release);
    return code;
}

static bool dead(const dcoll_team_t *team, unsigned peer)
{
    return peer - team->first < team->locals &&
           kill(team->members[peer].pid, 0) && errno == ESRCH;
}

static uint64_t calls_of(const struct ledger *ledger)
{
    return atomic_load_explicit(&ledger->calls, memory_order_acquire);
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
        if (!call_same(&mine->ring[*at % LEDGER], &other->ring[*at % LEDGER]))
            return true;
    return false;
}

static int fail_differ(dcoll_team_t *team, unsigned peer,
                       const struct ledger *other, uint64_t at)
{
    const struct ledger *mine = ledger_of(team, team->rank);
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

static int check_alive(dcoll_team_t *team, unsigned peer)
{
    return dead(team, peer)
               ? team_fail(team, DRAIL_EPEER, "rank %u has died", peer)
               : 0;
}

/* What was just being written has been by the second look. */
static int check_calls(dcoll_team_t *team, unsigned peer,
                       const struct ledger *other)
{
    uint64_t at;
    struct look *look = &team->look;
    bool doubted = look->doubted == peer + 1;
    if (!differ(ledger_of(team, team->rank), other, &at)) {
        look->doubted = doubted ? 0 : look->doubted;
        return 0;
    }
    if (doubted && look->at == at)
        return fail_differ(team, peer, other, at);
    look->doubted = peer + 1;
    look->at = at;
    return DRAIL_EAGAIN;
}

static int check(dcoll_team_t *team, unsigned peer, const struct ledger *other)
{
    int rc = check_error(team, peer, other);
    if (!rc)
        rc = check_calls(team, peer, other);
    return rc ? rc : check_alive(team, peer);
}

static void look_begin(dcoll_team_t *team, unsigned peer)
{
    struct look *look = &team->look;
    drail_xfer_t xfer = {
        .local = look->copy,
        .local_mem = look->mem,
        .remote = &team->members[peer].ledger,
        .bytes = sizeof *look->copy,
    };
    look->peer = peer;
    look->under_way = team->connected[peer] &&
                      !drail_get(team->rail, peer, &xfer, 0, &look->req);
}

/* At what comes of a peer's ledger, whose parts may have been read in any
 * order. It takes its time, in which others may want to look at another's. */
static int check_remote(dcoll_team_t *team, unsigned peer)
{
    struct look *look = &team->look;
    if (!look->under_way)
        look_begin(team, peer);
    if (!look->under_way)
        return 0; /* it can't be had */
    int rc = drail_test(team->rail, &look->req);
    if (rc == DRAIL_EAGAIN)
        return rc;
    look->under_way = false;
    rc = rc ? 0 : check(team, look->peer, look->copy);
    if (rc == DRAIL_EAGAIN || (!rc && look->peer != peer)) {
        look_begin(team, peer);
        return DRAIL_EAGAIN;
    }
    return rc;
}

int ledger_check(dcoll_team_t *team, unsigned peer)
{
    return peer - team->first < team->locals
               ? check(team, peer, ledger_of(team, peer))
               : check_remote(team, peer);
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
    return calls_of(ledger_of(team, peer)) >=
           calls_of(ledger_of(team, team->rank));
}

int ledger_joins(dcoll_team_t *team, unsigned peer)
{
    const struct ledger *mine = ledger_of(team, team->rank);
    const struct ledger *other = ledger_of(team, peer);
    uint64_t at;
    if (!differ(mine, other, &at) ||
        (at == calls_of(mine) - 1 && other->ring[at % LEDGER].what & INIT_BIT))
        return 0;
    return fail_differ(team, peer, other, at);
}
