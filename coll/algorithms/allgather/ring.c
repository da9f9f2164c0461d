/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring all-gather, single-port: in each of N-1 steps a rank puts the block that
 * came last to the next rank (Qian and Afsahi 2008, section 3.1: what
 * elan_gather does with large messages).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const unsigned next = flat_after(n, rank, 1);
    const unsigned last = flat_before(n, rank, 1);
    const grant_t grant =
        n > 1 ? grant_among_all(args, board_space(args)) : GRANT_IMPLIED;
    s->phase = 1;
    grant_open(s, grant, args, last, 0);
    board_begin(shape, args, rank, s);
    grant_take(s, grant, args, next);
    for (unsigned i = 0; i + 1 < n; i++) {
        const unsigned owner = flat_before(n, rank, i);
        const dcoll_place_t place = board_at(args, owner);
        s->step = (uint16_t)i;
        dcoll_add_put(s, next, 0, place, place, dcoll_block_bytes(args, owner));
        dcoll_add_wait(s, last, DCOLL_DATA, 0);
    }
    board_end(shape, args, rank, s);
    flat_complete(s);
    grant_close(s, grant, args, last, 0);
}

const dcoll_algorithm_t allgather_ring = {
    .name = "ring",
    .collective = DCOLL_ALLGATHER,
    .summary = "single-port ring (Qian and Afsahi 2008, 3.1)",
    .memory = "TEMP: N blocks; zero copy: none",
    .unequal = true,
    .generate = generate,
};
