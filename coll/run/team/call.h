/* SPDX-License-Identifier: BSD-3-Clause */
/* A record of one call, by which ranks see whether they made the same call. */
#ifndef DCOLL_CALL_H
#define DCOLL_CALL_H

#include "coll/schedule.h"

#define CALL_PREPARES 0x80000000u /* bit of what: it prepares a request */
#define CALL_SKIPPED  0x1fffffffu /* what: no call (dcoll_team_skip) */
#define CALL_PORT     0x00010000u /* what: the unit of dcoll_args_t.ports, … */
#define CALL_PORTS    0x001f0000u /* … and its bits */

struct call {
    uint32_t what;  /* algorithm + 1, ports, and bits: in place, labelled,
                       commutes, unequal, prepares; 0: no call */
    uint32_t root;  /* irregular: bytes of an element; blocks of different
                       sizes: a checksum of these */
    uint64_t bytes; /* of a block, the longest one; irregular: max_rank */
    uint64_t pair;  /* irregular: max_pair; reductions: bytes of an element */
};

struct call call_of(const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, unsigned nranks,
                    bool prepares);
bool call_same(const struct call *a, const struct call *b);
/* Writes "gather of 8 bytes, root 1, algorithm direct". */
void call_text(const struct call *call, char *text, size_t size);

#endif
