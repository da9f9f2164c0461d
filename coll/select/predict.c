/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/select/predict.h"

#include <limits.h>
#include <math.h>

#include "coll/algorithms/algorithms.h"
#include "coll/model/messages.h"
#include "coll/select/table.h"

#define FASTER 0.9  /* of the time of the rules' algorithm, at most */
#define ALIKE  1.15 /* a smaller ratio of two predictions says nothing */

/* Microseconds: assumed for any TCP. Without a known rate, 1 Gbit/s is assumed.
 */
dcoll_cost_model_t predict_model(unsigned wires, double rate)
{
    return (dcoll_cost_model_t){
        .ts = 12,
        .tau = 1 / (rate > 0 ? rate : 125),
        .latency = 20,
        .note = 32,
        .copy = 2e-4,
        .combine = 5e-4,
        .flag = 0.3,
        .wires = wires,
        .whole = 16 << 10, /* the usual stripe threshold of the transport */
    };
}

/* The rest stays as declared: for short blocks, copies and flags cost little
 * beside a message. */
void predict_measured(struct prediction *p, double one_way, double gap)
{
    p->model = p->declared;
    p->model.ts = fmin(gap, one_way);
    p->model.latency = one_way - p->model.ts;
    p->model.note = one_way;
}

struct forecast {
    double us; /* INFINITY: none */
    uint32_t messages;
};

static struct forecast forecast_of(const struct prediction *p,
                                   const dcoll_shape_t *shape,
                                   const dcoll_args_t *args,
                                   const dcoll_algorithm_t *algorithm)
{
    struct forecast f = {.us = INFINITY};
    dcoll_program_t program;
    if (dcoll_program_make(algorithm, shape, args, &program))
        return f;
    const bool reduces = dcoll_collective_reduces(args->collective);
    double us = dcoll_cost(&program, reduces ? &p->declared : &p->model);
    if (us >= 0)
        f = (struct forecast){us, messages_of(&program)};
    dcoll_program_free(&program);
    return f;
}

/* Of predictions that are alike, the one with fewer messages is better. */
static bool is_better(struct forecast a, struct forecast b)
{
    if (a.us * ALIKE < b.us || b.us * ALIKE < a.us)
        return a.us < b.us;
    return a.messages != b.messages ? a.messages < b.messages : a.us < b.us;
}

static const dcoll_algorithm_t *fastest(const struct prediction *p,
                                        const dcoll_shape_t *shape,
                                        const dcoll_args_t *args,
                                        const dcoll_algorithm_t *ruled)
{
    const struct forecast mine = forecast_of(p, shape, args, ruled);
    struct forecast best = {.us = INFINITY};
    const dcoll_algorithm_t *taken = ruled;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        if ((*a)->collective != args->collective || *a == ruled)
            continue;
        struct forecast f = forecast_of(p, shape, args, *a);
        if (f.us < FASTER * mine.us && is_better(f, best)) {
            best = f;
            taken = *a;
        }
    }
    return taken;
}

unsigned predict_ports(const struct prediction *p)
{
    return p->model.wires ? 1 : 0;
}

/* Measured between two and four hosts of one and two ranks, at 2 x 1 Gbit/s;
 * doubling also between eight hosts of one rank that share cores; reduce
 * circulant between two, three, four and eight hosts of one rank, at 2 x 200
 * Mbit/s.
 * Applies to blocks of from … below - 1 bytes on up to so many nodes, with
 * least … most ranks each. */
static const struct {
    size_t from, below;
    unsigned nodes, least, most;
    const dcoll_algorithm_t *algorithm;
    bool zero_copy;
} wire_rules[] = {
    {0, 192 << 10, 4, 2, UINT_MAX, &allreduce_smp_doubling, false},
    {0, 128 << 10, UINT_MAX, 2, UINT_MAX, &allreduce_smp_doubling, false},
    {0, 16 << 10, 8, 1, 1, &allreduce_doubling, false},
    {0, 96 << 10, UINT_MAX, 2, UINT_MAX, &bcast_smp, false},
    {0, 32 << 10, UINT_MAX, 1, UINT_MAX, &bcast_smp, false},
    {0, SIZE_MAX, UINT_MAX, 1, UINT_MAX, &bcast_smp_circulant, true},
    {512, 32 << 10, UINT_MAX, 2, UINT_MAX, &allgather_smp_bruck, false},
    {128 << 10, 768 << 10, 4, 2, UINT_MAX, &alltoall_pairwise, true},
    {128 << 10, SIZE_MAX, UINT_MAX, 1, 1, &reduce_circulant, true},
};

static bool rule_applies(size_t i, const dcoll_shape_t *shape,
                         const dcoll_args_t *args)
{
    const dcoll_algorithm_t *a = wire_rules[i].algorithm;
    dcoll_args_t wanted = *args;
    wanted.zero_copy = wire_rules[i].zero_copy;
    return a->collective == args->collective &&
           args->bytes >= wire_rules[i].from &&
           args->bytes < wire_rules[i].below &&
           shape->nnodes <= wire_rules[i].nodes &&
           dcoll_shape_least(shape) >= wire_rules[i].least &&
           dcoll_shape_ppn(shape) <= wire_rules[i].most &&
           !dcoll_refusal(a, shape, &wanted);
}

static const dcoll_algorithm_t *by_wire_rule(const dcoll_shape_t *shape,
                                             dcoll_args_t *args,
                                             const dcoll_algorithm_t *ruled)
{
    for (size_t i = 0; i < sizeof wire_rules / sizeof *wire_rules; i++)
        if (rule_applies(i, shape, args)) {
            args->zero_copy = wire_rules[i].zero_copy;
            return wire_rules[i].algorithm;
        }
    return ruled;
}

/* The same for all calls of a class: ranks may make different ones of them
 * first. */
static const dcoll_algorithm_t *predicted(const struct prediction *p,
                                          const dcoll_shape_t *shape,
                                          const dcoll_args_t *args,
                                          unsigned class)
{
    dcoll_args_t typical = *args;
    typical.bytes = (size_t)1 << class;
    typical.element = dcoll_collective_reduces(args->collective);
    typical.begin = NULL;
    typical.port_begin = NULL; /* a rail may be lost between two calls */
    typical.root = 0;
    typical.in_place = false;
    const dcoll_algorithm_t *ruled =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, shape, &typical);
    ruled = by_wire_rule(shape, &typical, ruled);
    return fastest(p, shape, &typical, ruled);
}

/* Simulated, of a cluster of two rails of 400 Gbit/s (ndr400-2rail): a message
 * costs so little that all ranks of a node should send. */
#define ALL_SEND_BYTES (16u << 10)

static const dcoll_algorithm_t *without_wires(const struct prediction *p,
                                              const dcoll_shape_t *shape,
                                              dcoll_args_t *args,
                                              const dcoll_algorithm_t *ruled)
{
    if (args->collective != DCOLL_ALLGATHER || p->crowded ||
        args->bytes >= ALL_SEND_BYTES || dcoll_shape_least(shape) < 2 ||
        dcoll_refusal(&allgather_smp_bruck_all, shape, args))
        return ruled;
    args->zero_copy = false;
    return &allgather_smp_bruck_all;
}

const dcoll_algorithm_t *predict_faster(struct prediction *p,
                                        const dcoll_shape_t *shape,
                                        dcoll_args_t *args,
                                        const dcoll_algorithm_t *ruled)
{
    if (shape->nnodes < 2)
        return ruled;
    if (!p->model.wires)
        return without_wires(p, shape, args, ruled);
    ruled = by_wire_rule(shape, args, ruled);
    if (p->crowded || args->bytes > PREDICTED_BYTES || args->zero_copy ||
        shape->nranks > PREDICTED_RANKS)
        return ruled;
    unsigned class = 63 - (unsigned)__builtin_clzll(args->bytes | 1);
    const dcoll_algorithm_t **known =
        &p->faster[args->collective][args->commutes][class];
    if (!*known)
        *known = predicted(p, shape, args, class);
    return dcoll_refusal(*known, shape, args) ? ruled : *known;
}
