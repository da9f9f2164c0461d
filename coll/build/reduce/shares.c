/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/reduce/shares.h"

/* The ports of ranks 0 … rank - 1. */
static uint64_t ports_before(const struct shares *s, unsigned rank)
{
    return s->args->port_begin ? s->args->port_begin[rank] : rank;
}

static uint64_t weight_before(const struct shares *s, unsigned rank)
{
    return s->a * ports_before(s, rank) - s->b * rank;
}

unsigned shares_least_ports(const dcoll_shape_t *shape,
                            const dcoll_args_t *args)
{
    unsigned least = shape->ports;
    for (unsigned r = 0; args->port_begin && r < shape->nranks; r++) {
        const unsigned ports = dcoll_rank_ports(shape, args, r);
        least = ports < least ? ports : least;
    }
    return least;
}

struct shares shares_of(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned pieces)
{
    const unsigned n = shape->nranks;
    struct shares s = {.units = slices_of(args, n),
                       .args = args,
                       .a = 1,
                       .nranks = n,
                       .pieces = pieces};
    if (args->port_begin) {
        const uint64_t all = args->port_begin[n];
        const uint64_t least = shares_least_ports(shape, args);
        const bool by_least = all >= 2 * (n - 1) * least;
        s.a = by_least ? 1 : 2 * (n - 1);
        s.b = by_least ? least : all;
    }
    s.weight = weight_before(&s, n);
    if (!s.weight) { /* any shares reach the bound */
        s.a = 1;
        s.b = 0;
        s.weight = ports_before(&s, n);
    }
    return s;
}

/* units * part / whole, without overflow. */
static size_t scaled(size_t units, uint64_t part, uint64_t whole)
{
    return units / whole * part + units % whole * part / whole;
}

static size_t unit_before(const struct shares *s, unsigned rank)
{
    return scaled(slices_units(&s->units), weight_before(s, rank), s->weight);
}

size_t shares_begin(const struct shares *s, unsigned rank, unsigned piece)
{
    const size_t first = unit_before(s, rank), end = unit_before(s, rank + 1);
    return slices_at(&s->units, first + scaled(end - first, piece, s->pieces));
}

size_t shares_bytes(const struct shares *s, unsigned rank, unsigned piece)
{
    return shares_begin(s, rank, piece + 1) - shares_begin(s, rank, piece);
}
