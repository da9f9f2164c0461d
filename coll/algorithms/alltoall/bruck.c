/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck all-to-all for k ports, any N (Qian and Afsahi 2008, section 5.1.3): to
 * the base k+1, with one message a port in each of ⌈log_{k+1} N⌉ steps
 * (build/exchange/bruck_alltoall.h). For the shifts of phases 1 and 3 see
 * forward.h.
 *
 * The paper sends to "i + k^j" blocks "whose j-th bit is 1": that is its method
 * for k = 1 with a wrong power, and doesn't give its fig. 6. For N no power of
 * k+1 the last step has fewer blocks than eq. (5) says, unevenly on the ports.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck_alltoall.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    bruck_alltoall(shape, args, rank, shape->ports + 1, s);
}

const dcoll_algorithm_t alltoall_bruck = {
    .name = "bruck",
    .collective = DCOLL_ALLTOALL,
    .summary = "k-port Bruck, three phases (Qian and Afsahi 2008, 5.1.3)",
    .memory = "TEMP: at most N + N*k/(k+1)*ceil(log_{k+1} N) blocks",
    .generate = generate,
};
