/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck all-to-all for k ports, any N (Qian and Afsahi 2008, section 5.1.3).
 * Slot j of rank p has the block for rank p + j (phase 1). In step i of
 * ⌈log_{k+1} N⌉ slots whose i-th digit to the base k+1 is d go to rank p +
 * d(k+1)^i, on port d-1 (phase 2): then slot j has the block that rank p - j
 * sent here (phase 3). For the shifts of phases 1 and 3 see forward.h.
 *
 * The paper sends to "i + k^j" blocks "whose j-th bit is 1": that is its method
 * for k = 1 with a wrong power, and doesn't give its fig. 6. For N no power of
 * k+1 the last step has fewer blocks than eq. (5) says, unevenly on the ports.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/forward.h"
#include "coll/build/exchange/personal.h"

static void phase_1(struct forward *f, unsigned rank)
{
    for (unsigned j = 0; j < f->n; j++)
        f->slot[j] = personal_source(f->args, flat_after(f->n, rank, j));
}

static void phase_2(struct forward *f, unsigned rank, unsigned ports)
{
    unsigned step = 0;
    for (unsigned w = 1; w < f->n; w *= ports + 1, step++) {
        for (unsigned d = 1; d <= ports && d * w < f->n; d++)
            forward_add(f, (struct forward_hop){
                               .to = flat_after(f->n, rank, d * w),
                               .from = flat_before(f->n, rank, d * w),
                               .port = d - 1,
                               .step = step,
                               .send_digit = d,
                               .recv_digit = d,
                           });
        forward_step(f, w, ports + 1);
    }
}

/* Copies slots to RECV, from the last one on: then RECV is in ascending order.
 */
static void phase_3(struct forward *f, unsigned rank)
{
    for (unsigned j = f->n; j-- > (f->args->in_place ? 1 : 0);)
        flat_copy(
            f->s, f->slot[j],
            dcoll_at(DCOLL_RECV, flat_before(f->n, rank, j) * f->args->bytes),
            f->args->bytes);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct forward f;
    if (forward_init(&f, shape, args, s))
        return;
    phase_1(&f, rank);
    s->phase = 2;
    phase_2(&f, rank, shape->ports);
    s->phase = 3;
    phase_3(&f, rank);
    forward_end(&f);
}

const dcoll_algorithm_t alltoall_bruck = {
    .name = "bruck",
    .collective = DCOLL_ALLTOALL,
    .summary = "k-port Bruck, three phases (Qian and Afsahi 2008, 5.1.3)",
    .memory = "TEMP: at most N + N*k/(k+1)*ceil(log_{k+1} N) blocks",
    .generate = generate,
};
