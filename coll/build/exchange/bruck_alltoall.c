/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/bruck_alltoall.h"
#include "coll/build/exchange/forward.h"
#include "coll/build/exchange/personal.h"
#include "coll/build/flat.h"

static void phase_1(struct forward *f, unsigned rank)
{
    for (unsigned j = 0; j < f->n; j++)
        f->slot[j] = personal_source(f->args, flat_after(f->n, rank, j));
}

unsigned bruck_alltoall_digits(unsigned n, unsigned weight, unsigned radix)
{
    const unsigned most = (n - 1) / weight;
    return most < radix - 1 ? most : radix - 1;
}

static unsigned steps_for(unsigned messages, unsigned k)
{
    return (messages + k - 1) / k;
}

static void phase_2(struct forward *f, unsigned rank, unsigned k,
                    unsigned radix)
{
    unsigned first = 0;
    for (size_t weight = 1; weight < f->n; weight *= radix) {
        const unsigned w = (unsigned)weight,
                       most = bruck_alltoall_digits(f->n, w, radix);
        for (unsigned d = 1; d <= most; d++)
            forward_add(f, (struct forward_hop){
                               .to = flat_after(f->n, rank, d * w),
                               .from = flat_before(f->n, rank, d * w),
                               .port = (d - 1) % k,
                               .step = first + (d - 1) / k,
                               .send_digit = d,
                               .recv_digit = d,
                           });
        forward_step(f, w, radix);
        first += steps_for(most, k);
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

void bruck_alltoall(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, unsigned radix, dcoll_schedule_t *s)
{
    struct forward f;
    if (forward_init(&f, shape, args, s))
        return;
    s->phase = 1;
    phase_1(&f, rank);
    s->phase = 2;
    phase_2(&f, rank, shape->ports, radix);
    s->phase = 3;
    phase_3(&f, rank);
    forward_end(&f);
}

/* The slots below n with a digit. */
static unsigned slots_with(unsigned n, size_t weight, unsigned radix,
                           unsigned digit)
{
    const size_t row = weight * radix, whole = n / row * weight;
    const size_t rest = n % row, begin = digit * weight;
    const size_t more = rest > begin ? rest - begin : 0;
    return (unsigned)(whole + (more < weight ? more : weight));
}

struct bruck_toll bruck_alltoall_toll(unsigned n, unsigned k, unsigned radix)
{
    struct bruck_toll toll = {0, 0};
    for (size_t weight = 1; weight < n; weight *= radix) {
        const unsigned most = bruck_alltoall_digits(n, (unsigned)weight, radix);
        toll.steps += steps_for(most, k);
        for (unsigned d = 1; d <= most; d += k) /* the first has most slots */
            toll.blocks += slots_with(n, weight, radix, d);
    }
    return toll;
}

/* The smallest base, of at least k+1, to which n - 1 has so many digits. */
static unsigned base_for(unsigned n, unsigned k, unsigned count)
{
    unsigned base = k + 1;
    while (flat_steps(n, base - 1) > count)
        base++;
    return base;
}

static double toll_of(const dcoll_shape_t *shape, size_t bytes, unsigned radix)
{
    const struct bruck_toll toll =
        bruck_alltoall_toll(shape->nranks, shape->ports, radix);
    return toll.steps * FLAT_STEP_BYTES + toll.blocks * (double)bytes;
}

/* Of bases with as many digits, the smallest one takes the fewest steps. */
unsigned bruck_alltoall_radix(const dcoll_shape_t *shape, size_t bytes)
{
    const unsigned n = shape->nranks, k = shape->ports;
    unsigned best = k + 1;
    for (unsigned count = 1;; count++) {
        const unsigned radix = base_for(n, k, count);
        if (toll_of(shape, bytes, radix) < toll_of(shape, bytes, best))
            best = radix;
        if (radix == k + 1)
            return best;
    }
}
