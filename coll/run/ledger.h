/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_LEDGER_H
#define DCOLL_LEDGER_H

#include <stdatomic.h>

#include "coll/dcoll.h"
#include "coll/run/call.h"
#include "coll/run/line.h"

#define LEDGER 1024 /* latest calls of a rank that others can look up */

/* What a rank has called: entry n mod LEDGER is its n-th call, from 0. Read by
 * ranks of the node, and by RDMA from others. */
struct ledger {
    _Atomic uint64_t calls;
    _Atomic uint64_t reached; /* by the slowest it waits for, directly or not,
                                 as far as it knows: at most its own calls */
    _Atomic uint64_t moved;   /* transfers go on: how far, and whose
                                 (ledger_moved); of this rank, or of one that
                                 it waits for, directly or not */
    _Atomic int32_t error;    /* why it has given up, if not 0 */
    char why[196];
    struct call ring[LEDGER];
} __attribute__((aligned(CACHE_LINE)));

/* Writes down this rank's next call. */
static inline void ledger_enter(struct ledger *mine, const struct call *call)
{
    uint64_t n = atomic_load_explicit(&mine->calls, memory_order_relaxed);
    mine->ring[n % LEDGER] = *call;
    atomic_store_explicit(&mine->calls, n + 1, memory_order_release);
    atomic_store_explicit(&mine->reached, n + 1, memory_order_relaxed);
}

/* Tells the others that who this rank waits for has made so many calls. */
static inline void ledger_reach(struct ledger *mine, uint64_t calls)
{
    atomic_store_explicit(&mine->reached, calls, memory_order_relaxed);
}

/* When it grows in a wait, who this rank waits for gets on. */
static inline uint64_t ledger_reached(const struct ledger *mine)
{
    return atomic_load_explicit(&mine->reached, memory_order_relaxed);
}

/* Transfers of this rank, or to it, have gone on. */
void ledger_move(dcoll_team_t *team);
/* What the ledger says of transfers that go on: it is of the rank that it names
 * in the bits from LEDGER_RANK on, and grows as long as it names that rank. */
#define LEDGER_RANK 48
static inline uint64_t ledger_moved(const struct ledger *mine)
{
    return atomic_load_explicit(&mine->moved, memory_order_relaxed);
}

/* An error breaks the team with its present text, and the others are told when
 * they look, also of one that only this rank has. Of several the first counts.
 */
void ledger_break(dcoll_team_t *team, int code);

/* The result of a call, which breaks the team if it is an error. */
static inline int ledger_settle(dcoll_team_t *team, int code)
{
    if (code)
        ledger_break(team, code);
    return code;
}

/* Has the peer called something else than we, given up, or died? Then the
 * team's error says so: DRAIL_EINVAL, the peer's error, DRAIL_EPEER; else 0.
 * For waits that have lasted a while. Does not wait: DRAIL_EAGAIN while the
 * ledger is on its way, or there is no room to ask for it; then it may also
 * find such errors of another peer. */
int ledger_check(dcoll_team_t *team, unsigned peer);
/* Of my calls, those that the peer has made, too, by the latest look. */
uint64_t ledger_common(dcoll_team_t *team, unsigned peer);
/* This rank waits for the peer, and for whom that one waits: what the latest
 * look says of how far they are, and their transfers, is told to the others. */
void ledger_waits_for(dcoll_team_t *team, unsigned peer);
/* Has a rank of my node given up, so that this is why something broke? Then the
 * team's error says so: that rank's; else 0. */
int ledger_gave_up(dcoll_team_t *team);
/* Nothing comes any more. */
void ledger_look_no_more(dcoll_team_t *team);
/* Has the peer, who is on my node, made as many calls as this rank? */
bool ledger_has_come(dcoll_team_t *team, unsigned peer);
/* When he has, and this rank's latest call is a preparation: an error if his
 * call differs and is no preparation, which he would not join. */
int ledger_joins(dcoll_team_t *team, unsigned peer);

#endif
