/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Did all ranks make the same call? Each rank records its calls in a ledger
 * that other ranks can read, which costs two stores. A rank checks the ledger
 * of a peer only after it has waited for some time. Requests have memory, flags
 * and notifications of their own, so ranks with different calls wait for each
 * other but corrupt nothing.
 */
#ifndef DCOLL_LEDGER_H
#define DCOLL_LEDGER_H

#include <stdatomic.h>

#include "coll/dcoll.h"
#include "coll/run/team/call.h"
#include "coll/run/node/flag_line.h"

#define LEDGER 1024 /* latest calls of a rank that others can look up */

/* Entry n mod LEDGER of the ring is this rank's call number n, from 0. Ranks of
 * the node read it directly, others by RDMA. */
struct ledger {
    _Atomic uint64_t calls;
    _Atomic uint64_t reached; /* calls made by the slowest rank that this one
                                 waits for, directly or not, as far as it knows;
                                 at most its own calls */
    _Atomic uint64_t moved;   /* see ledger_moved() */
    _Atomic uint64_t skips;   /* see prepare/skip.c */
    drail_key_t gather;       /* see shrink/gather.h */
    _Atomic int32_t error;    /* not 0: this rank has broken its team */
    char why[196];
    struct call ring[LEDGER];
} __attribute__((aligned(CACHE_LINE)));

static inline uint64_t ledger_calls(const struct ledger *ledger)
{
    return atomic_load_explicit(&ledger->calls, memory_order_acquire);
}

/* Records this rank's next call. */
static inline void ledger_append(struct ledger *mine, const struct call *call)
{
    uint64_t n = atomic_load_explicit(&mine->calls, memory_order_relaxed);
    mine->ring[n % LEDGER] = *call;
    atomic_store_explicit(&mine->calls, n + 1, memory_order_release);
    atomic_store_explicit(&mine->reached, n + 1, memory_order_relaxed);
}

/* Tells other ranks how many calls the rank that this one waits for has made.
 */
static inline void ledger_set_reached(struct ledger *mine, uint64_t calls)
{
    atomic_store_explicit(&mine->reached, calls, memory_order_relaxed);
}

/* If it grows during a wait, the rank that this one waits for makes progress.
 */
static inline uint64_t ledger_reached(const struct ledger *mine)
{
    return atomic_load_explicit(&mine->reached, memory_order_relaxed);
}

/* Records that bytes of this rank's transfers, or of transfers to it, have
 * moved.
 */
void ledger_record_bytes(dcoll_team_t *team);
/* Transfers that make progress: of this rank, or of one that it waits for,
 * directly or not. Bits from LEDGER_RANK on name the rank whose transfers these
 * are; the value grows as long as it names the same rank. */
#define LEDGER_RANK 48
static inline uint64_t ledger_moved(const struct ledger *mine)
{
    return atomic_load_explicit(&mine->moved, memory_order_relaxed);
}

/* Has that value grown? *before becomes the present one. */
static inline bool ledger_moved_since(uint64_t *before, uint64_t now)
{
    bool same = *before >> LEDGER_RANK == now >> LEDGER_RANK;
    bool more = same && now > *before;
    if (!same || more)
        *before = now;
    return more;
}

/* Breaks the team with this code and its present sentence, and publishes them
 * to the other ranks. Only the first error counts. */
void ledger_break(dcoll_team_t *team, int code);

/* Breaks the team if code is not 0. Returns code. */
static inline int ledger_break_if(dcoll_team_t *team, int code)
{
    if (code)
        ledger_break(team, code);
    return code;
}

/* Has the peer made another call, broken its team, or died? 0: no;
 * DRAIL_EINVAL, the peer's error, or DRAIL_EPEER, with the team's sentence. It
 * does not wait: DRAIL_EAGAIN while the ledger of another node is being read,
 * or cannot be requested yet; then an error may also be that of another peer.
 */
int ledger_check(dcoll_team_t *team, unsigned peer);
/* Is the peer on my node, and does its process no longer exist? */
bool ledger_is_dead(const dcoll_team_t *team, unsigned peer);
/* The key of the peer's ledger. */
drail_key_t ledger_key(const dcoll_team_t *team, unsigned peer);
/* What a peer's ledger told at the latest check. calls and reached: at most
 * this rank's calls. */
struct standing {
    uint64_t calls, reached, moved, skips;
};
/* False: this rank has not read the peer's ledger, or reads it now. */
bool ledger_standing(dcoll_team_t *team, unsigned peer, struct standing *s);
/* Records that this rank waits for a rank which stands there: sets `reached`
 * and `moved`. */
void ledger_record_wait(dcoll_team_t *team, const struct standing *s);
/* Has a rank of my node broken its team? Returns its error, with the team's
 * sentence, or 0. */
int ledger_find_error(dcoll_team_t *team);
/* Ends a read of another node's ledger that is under way. A team that hurries
 * does not wait for a peer that does not answer: then the read's buffer stays
 * until drail_close(), and no other read may follow. */
void ledger_close(dcoll_team_t *team);
/* Has the peer, on my node, made as many calls as this rank? */
bool ledger_caught_up(dcoll_team_t *team, unsigned peer);
/* It has, and this rank's latest call prepares a request: 0, or an error if the
 * peer's call differs and prepares none, so that it will not join. */
int ledger_check_caught_up(dcoll_team_t *team, unsigned peer);

#endif
