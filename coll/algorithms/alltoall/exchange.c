/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard exchange all-to-all for k ports (Qian and Afsahi 2008,
 * section 5.1.3, eq. 5). Slot j of rank p has the block for rank j. In a step
 * the k+1 ranks that differ in one digit, to the base k+1, exchange: the blocks
 * in slots with the peer's digit, N/(k+1) of them, go to that peer, and the
 * peer's blocks for this rank's digit come into the same slots. In the end slot
 * j has rank j's block.
 *
 * N no power of k+1: the digits have different bases, the factors of N. A group
 * of more than k+1 takes several steps (the correction); a prime N is one group
 * and does the direct algorithm. All blocks travel as often as before; folding
 * ranks as in the all-gather (exchange_allgather.h) would need k+1 times the
 * memory and bytes. Eq. (5) is right for powers only: for others its ⌈log⌉ and
 * log don't fit each other.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/forward.h"
#include "coll/build/exchange/personal.h"
#include "coll/build/exchange/radix.h"

/* The rank @p distance after @p rank in its group of @p radix ranks. */
static unsigned in_group(unsigned rank, unsigned weight, unsigned radix,
                         unsigned distance)
{
    const unsigned digit = rank / weight % radix;
    return rank - digit * weight + (digit + distance) % radix * weight;
}

static struct forward_hop hop(unsigned rank, unsigned weight, unsigned radix,
                              unsigned distance)
{
    const unsigned to = in_group(rank, weight, radix, distance);
    const unsigned from = in_group(rank, weight, radix, radix - distance);
    return (struct forward_hop){.to = to,
                                .from = from,
                                .send_digit = to / weight % radix,
                                .recv_digit = from / weight % radix};
}

/* Exchanges along one dimension. Returns the number of steps. */
static unsigned exchange(struct forward *f, unsigned rank, unsigned ports,
                         unsigned weight, unsigned radix, unsigned first_step)
{
    for (unsigned e = 1; e < radix; e++) {
        struct forward_hop h = hop(rank, weight, radix, e);
        h.port = (e - 1) % ports;
        h.step = first_step + (e - 1) / ports;
        forward_add(f, h);
    }
    forward_step(f, weight, radix);
    return radix_steps(radix, ports);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct forward f;
    const struct radix radix = radix_of(shape->nranks, shape->ports);
    if (forward_init(&f, shape, args, s))
        return;
    for (unsigned j = 0; j < f.n; j++)
        f.slot[j] = personal_source(args, j);
    s->phase = 1;
    for (unsigned i = radix.count, w = f.n, step = 0; i-- > 0;) {
        w /= radix.factor[i];
        step += exchange(&f, rank, shape->ports, w, radix.factor[i], step);
    }
    s->phase = 2;
    for (unsigned j = 0; j < f.n; j++)
        if (j != rank || !args->in_place)
            flat_copy(s, f.slot[j], dcoll_at(DCOLL_RECV, j * args->bytes),
                      args->bytes);
    forward_end(&f);
}

const dcoll_algorithm_t alltoall_exchange = {
    .name = "exchange",
    .collective = DCOLL_ALLTOALL,
    .summary = "k-port standard exchange, any N (Qian and Afsahi 2008, 5.1.3)",
    .memory = "TEMP: N + N*(f-1)/f blocks for each factor f of N, k+1 in a "
              "power of it",
    .generate = generate,
};
