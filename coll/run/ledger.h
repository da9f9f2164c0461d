/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_LEDGER_H
#define DCOLL_LEDGER_H

#include <stdatomic.h>

#include "coll/dcoll.h"
#include "coll/run/line.h"

#define LEDGER 1024 /* latest calls of a rank that others can look up */

/* One call, so that two ranks can see whether they made the same. */
struct call {
    uint32_t what; /* collective, algorithm, in place, init or start: 0 none */
    uint32_t root;
    uint64_t bytes;
};

/* What a rank has called: entry n mod LEDGER is its n-th call, from 0. Read by
 * ranks of the node, and by RDMA from others. */
struct ledger {
    _Atomic uint64_t calls;
    _Atomic int32_t error; /* why it has given up, if not 0 */
    char why[196];
    struct call ring[LEDGER];
} __attribute__((aligned(CACHE_LINE)));

struct call call_of(const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, bool init);
bool call_same(const struct call *a, const struct call *b);
/* "gather of 8 bytes, root 1, algorithm direct" */
void call_text(const struct call *call, char *text, size_t size);
void ledger_enter(dcoll_team_t *team, const struct call *call);
/* An error breaks the team with its present text, and the others are told when
 * they look, also of one that only this rank has. Returns the code. */
int ledger_settle(dcoll_team_t *team, int code);
/* Has the peer called something else than we, given up, or died? Then the
 * team's error says so: DRAIL_EINVAL, the peer's error, DRAIL_EPEER; else 0.
 * For waits that have lasted a while. Does not wait: DRAIL_EAGAIN while the
 * ledger is on its way; then it may also find such errors of another peer. */
int ledger_check(dcoll_team_t *team, unsigned peer);
/* Nothing comes any more. */
void ledger_look_no_more(dcoll_team_t *team);
/* Has the peer, who is on my node, made as many calls as this rank? */
bool ledger_has_come(dcoll_team_t *team, unsigned peer);
/* When he has, and this rank's latest call is a preparation: an error if his
 * call differs and is no preparation, which he would not join. */
int ledger_joins(dcoll_team_t *team, unsigned peer);

#endif
