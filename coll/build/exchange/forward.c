/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TEMP: N blocks in which messages are packed, reused in each step; then a
 * place for each received message, so that within a start nothing is
 * overwritten that is still read.
 */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/forward.h"
#include "coll/build/pace.h"

int forward_init(struct forward *f, const dcoll_shape_t *shape,
                 const dcoll_args_t *args, dcoll_schedule_t *s)
{
    *f = (struct forward){.args = args,
                          .s = s,
                          .n = shape->nranks,
                          .grant = grant_among_all(args, DCOLL_TEMP),
                          .landing = shape->nranks * args->bytes};
    f->slot = calloc(f->n, sizeof *f->slot);
    f->hops = calloc(f->n, sizeof *f->hops);
    if (f->slot && f->hops)
        return 0;
    free(f->slot);
    free(f->hops);
    return s->error = DRAIL_ENOMEM;
}

void forward_add(struct forward *f, struct forward_hop hop)
{
    f->hops[f->nhops++] = hop;
}

/* The first slot of a digit from `from` on. */
static unsigned next_slot(unsigned from, unsigned weight, unsigned radix,
                          unsigned digit)
{
    while (from / weight % radix != digit)
        from++;
    return from;
}

/* Packs the slots of a digit at @p offset in TEMP. Returns bytes. */
static size_t pack(const struct forward *f, unsigned weight, unsigned radix,
                   unsigned digit, size_t offset)
{
    size_t bytes = 0;
    for (unsigned j = next_slot(0, weight, radix, digit); j < f->n;
         j = next_slot(j + 1, weight, radix, digit)) {
        flat_copy(f->s, f->slot[j], dcoll_at(DCOLL_TEMP, offset + bytes),
                  f->args->bytes);
        bytes += f->args->bytes;
    }
    return bytes;
}

/* The slots of @p digit have arrived in one message: records their places. */
static void land(struct forward *f, unsigned weight, unsigned radix,
                 unsigned digit)
{
    for (unsigned j = next_slot(0, weight, radix, digit); j < f->n;
         j = next_slot(j + 1, weight, radix, digit)) {
        f->slot[j] = dcoll_at(DCOLL_TEMP, f->landing);
        f->landing += f->args->bytes;
    }
}

static void wait_for(const struct forward *f, unsigned hop)
{
    f->s->step = (uint16_t)f->hops[hop].step;
    dcoll_add_wait(f->s, f->hops[hop].from, DCOLL_DATA, 0);
}

void forward_step(struct forward *f, unsigned weight, unsigned radix)
{
    size_t packed = 0, landing = f->landing;
    unsigned waited = f->done;
    if (f->done > 0)
        dcoll_add_complete(f->s);
    for (unsigned h = f->done; h < f->nhops; h++) {
        const struct forward_hop *hop = &f->hops[h];
        while (f->args->paced && f->hops[waited].step < hop->step)
            wait_for(f, waited++);
        f->s->step = (uint16_t)hop->step;
        const size_t bytes = pack(f, weight, radix, hop->send_digit, packed);
        pace(f->s, f->args);
        grant_take(f->s, f->grant, f->args, hop->to);
        dcoll_add_put(f->s, hop->to, hop->port, dcoll_at(DCOLL_TEMP, packed),
                      dcoll_at(DCOLL_TEMP, landing), bytes);
        packed += bytes;
        landing += bytes;
    }
    while (waited < f->nhops)
        wait_for(f, waited++);
    for (; f->done < f->nhops; f->done++)
        land(f, weight, radix, f->hops[f->done].recv_digit);
}

void forward_end(struct forward *f)
{
    f->s->temp_bytes = f->nhops ? f->landing : 0;
    flat_complete(f->s);
    for (unsigned h = 0; h < f->nhops; h++)
        grant_close(f->s, f->grant, f->args, f->hops[h].from, f->hops[h].port);
    free(f->slot);
    free(f->hops);
}
