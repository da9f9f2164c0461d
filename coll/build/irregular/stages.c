/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TEMP, the same on all ranks: send buffers with the buckets of a stage; then
 * receive buffers with the bundles that a rank can receive in a stage. Blocking
 * and -n1 have one of each, and a barrier before each stage: after it all ranks
 * have read the bundles of the stage before (the paper's figure 12). -n2 has
 * two send buffers, and a receive buffer for each stage: there, the bundles
 * that a rank receives imply that its targets have read their earlier ones.
 */
#include "dapl_rail/dapl_rail.h"
#include "coll/build/irregular/bundle.h"
#include "coll/build/exchange/disseminate.h"
#include "coll/build/irregular/stages.h"

const struct stages stages_a1 = {1, {{&exchange_all, DEALT_BY_RANK}}};
const struct stages stages_a2 = {
    2, {{&exchange_all, DEALT_EVENLY}, {&exchange_all, DEALT_BY_RANK}}};
const struct stages stages_a3 = {
    2, {{&exchange_rows, DEALT_BY_COLUMN}, {&exchange_columns, DEALT_BY_ROW}}};
const struct stages stages_a4 = {4,
                                 {{&exchange_rows, DEALT_EVENLY},
                                  {&exchange_columns, DEALT_EVENLY},
                                  {&exchange_rows, DEALT_BY_COLUMN},
                                  {&exchange_columns, DEALT_BY_ROW}}};

/* The state of generating the schedule of one rank. */
struct maker {
    const struct stages *stages;
    enum stages_form form;
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned rank;
    dcoll_schedule_t *s;
    struct mesh mesh;
    size_t room[STAGES_MAX]; /* for a message of the stage */
    uint64_t most[STAGES_MAX];
    size_t send_bytes; /* one send buffer */
    size_t receive[STAGES_MAX];
    unsigned stage, first_step;
    unsigned puts, puts_before[STAGES_MAX + 1]; /* before that stage */
    dcoll_place_t own; /* the bucket for the rank itself */
    bool dealt;        /* a bundle has been dealt in this stage */
};

static const struct exchange *exchange_of(const struct maker *m)
{
    return m->stages->stage[m->stage].exchange;
}

/* --------------------------------------------------------------- memory */

#define ROOM_UNIT 16u
#define ROOM_MOST (double)((size_t)1 << 46)

size_t stages_room(const struct stage_bound *bound,
                   const dcoll_traffic_t *traffic, unsigned nranks)
{
    double bytes = bound->elements * (double)traffic->element;
    if (traffic->labelled)
        bytes += bound->runs * (double)BUNDLE_RUN;
    if (bytes > ROOM_MOST)
        return 0;
    size_t whole = BUNDLE_HEAD + (size_t)bytes + bundle_marks(nranks);
    return (whole + ROOM_UNIT - 1) / ROOM_UNIT * ROOM_UNIT;
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The most buckets, or places for received bundles, of any rank. */
static unsigned most(const struct maker *m, const struct exchange *x,
                     bool places)
{
    unsigned most = 0;
    for (unsigned r = 0; r < m->mesh.ranks; r++) {
        unsigned n =
            places ? exchange_sources(x, &m->mesh, r) : x->buckets(&m->mesh, r);
        most = n > most ? n : most;
    }
    return most;
}

static bool in_complete_column(const struct maker *m)
{
    return mesh_height(&m->mesh, mesh_column(&m->mesh, m->rank)) ==
           m->mesh.rows;
}

/* False: too much memory. */
static bool lay_out(struct maker *m)
{
    struct stage_bound bound[STAGES_MAX];
    size_t received = 0, bytes = 0;
    stages_bounds(m->stages, &m->mesh, m->args->traffic, bound);
    for (unsigned i = 0; i < m->stages->count; i++) {
        const struct exchange *x = m->stages->stage[i].exchange;
        m->room[i] = stages_room(&bound[i], m->args->traffic, m->mesh.ranks);
        if (!m->room[i])
            return false;
        m->most[i] = bound[i].most[!in_complete_column(m)];
        m->send_bytes = greater(m->send_bytes, most(m, x, false) * m->room[i]);
        received = most(m, x, true) * m->room[i];
        m->receive[i] = m->form == STAGES_N2 ? bytes : 0;
        bytes =
            m->form == STAGES_N2 ? bytes + received : greater(bytes, received);
    }
    size_t behind = (m->form == STAGES_N2 ? 2 : 1) * m->send_bytes;
    for (unsigned i = 0; i < m->stages->count; i++)
        m->receive[i] += behind;
    m->s->temp_bytes = behind + bytes;
    return true;
}

static dcoll_place_t bucket_at(const struct maker *m, unsigned bucket)
{
    size_t turn = m->form == STAGES_N2 ? m->stage % 2 : 0;
    return dcoll_at(DCOLL_TEMP,
                    turn * m->send_bytes + bucket * m->room[m->stage]);
}

/* The place of a bundle received in a stage. */
static dcoll_place_t place_at(const struct maker *m, unsigned stage,
                              unsigned place)
{
    return dcoll_at(DCOLL_TEMP, m->receive[stage] + place * m->room[stage]);
}

/* -------------------------------------------------------------- dealing */

static dcoll_kind_t deal_of(const struct maker *m, dcoll_deal_t *deal)
{
    const struct mesh *mesh = &m->mesh;
    enum dealing dealing = m->stages->stage[m->stage].dealing;
    unsigned fan = exchange_of(m)->buckets(mesh, m->rank);
    *deal = (dcoll_deal_t){
        .fan = fan,
        .stride = m->room[m->stage],
        .opens = !m->dealt,
        .period = exchange_of(m) == &exchange_columns ? fan : mesh->ranks,
        .divisor = dealing == DEALT_BY_ROW ? mesh->columns : 1,
        .most = m->most[m->stage],
    };
    return dealing == DEALT_EVENLY ? DCOLL_DISTRIBUTE : DCOLL_COLLECT;
}

static void deal(struct maker *m, dcoll_place_t src)
{
    dcoll_deal_t deal;
    dcoll_kind_t kind = deal_of(m, &deal);
    dcoll_add_deal(m->s, kind, src, m->stage ? m->room[m->stage - 1] : 0,
                   bucket_at(m, 0), &deal);
    m->dealt = true;
}

/* -n2: the puts from this send buffer, two stages ago, must be complete. */
static void reuse_send_buffer(struct maker *m)
{
    unsigned before = m->form == STAGES_N2 && m->stage >= 2
                          ? m->puts_before[m->stage - 1]
                          : 0;
    if (before)
        dcoll_add_complete_first(m->s, before);
}

static void begin_stage(struct maker *m)
{
    m->s->phase = (uint8_t)(m->stage + 1);
    m->s->step = (uint16_t)m->first_step;
    m->dealt = false;
    reuse_send_buffer(m);
}

/* Deals all bundles received in the stage before. */
static void deal_received(struct maker *m)
{
    unsigned sources, before = m->stage - 1;
    if (!m->stage) {
        deal(m, dcoll_at(DCOLL_SEND, 0));
        return;
    }
    sources =
        exchange_sources(m->stages->stage[before].exchange, &m->mesh, m->rank);
    for (unsigned i = 0; i < sources; i++)
        deal(m, place_at(m, before, i));
}

/* ------------------------------------------------------------ exchanging */

/* The step of the k-port model; steps of the exchange count from 1. */
static void set_step(struct maker *m, unsigned step)
{
    m->s->step = (uint16_t)(m->first_step + (step - 1) / m->shape->ports);
}

static void send_bucket(struct maker *m, unsigned step)
{
    const struct exchange *x = exchange_of(m);
    size_t room = m->room[m->stage];
    unsigned bucket;
    if (!x->bucket(&m->mesh, m->rank, step, &bucket))
        return; /* a stall */
    unsigned target = x->target(&m->mesh, m->rank, bucket);
    unsigned place = exchange_place(x, &m->mesh, target, m->rank);
    set_step(m, step);
    if (target != m->rank) {
        dcoll_add_put(m->s, target, (step - 1) % m->shape->ports,
                      bucket_at(m, bucket), place_at(m, m->stage, place), room);
        m->puts++;
        dcoll_add_sized(m->s);
        return;
    }
    m->own = bucket_at(m, bucket);
    if (m->form == STAGES_N2 && m->stage + 1 < m->stages->count)
        return; /* my own bundle is dealt from where it is */
    dcoll_add_copy(m->s, bucket_at(m, bucket), place_at(m, m->stage, place),
                   room);
    dcoll_add_sized(m->s);
}

static unsigned steps_of(const struct maker *m, unsigned stage)
{
    return m->stages->stage[stage].exchange->steps(&m->mesh, m->rank);
}

static void send_all(struct maker *m)
{
    for (unsigned i = 1; i <= steps_of(m, m->stage); i++)
        send_bucket(m, i);
}

/* Waits for the message of a step. False: none comes from another rank. */
static bool await_sender(struct maker *m, unsigned stage, unsigned step,
                         unsigned *place)
{
    unsigned sender;
    if (!exchange_sender(m->stages->stage[stage].exchange, &m->mesh, m->rank,
                         step, &sender, place) ||
        sender == m->rank)
        return false;
    dcoll_add_wait(m->s, sender, DCOLL_DATA, 0);
    return true;
}

static void await_all(struct maker *m)
{
    unsigned place;
    for (unsigned i = 1; i <= steps_of(m, m->stage); i++)
        await_sender(m, m->stage, i, &place);
}

/* One step of k messages after the other. */
static void exchange_paced(struct maker *m)
{
    unsigned steps = steps_of(m, m->stage), k = m->shape->ports, place;
    for (unsigned first = 1; first <= steps; first += k) {
        unsigned end = first + k <= steps ? first + k : steps + 1;
        for (unsigned i = first; i < end; i++)
            send_bucket(m, i);
        for (unsigned i = first; i < end; i++)
            await_sender(m, m->stage, i, &place);
        dcoll_add_complete(m->s);
    }
}

static void end_stage(struct maker *m)
{
    const struct exchange *x = exchange_of(m);
    unsigned steps = 0;
    for (unsigned r = 0; r < m->mesh.ranks; r++)
        if (x->steps(&m->mesh, r) > steps)
            steps = x->steps(&m->mesh, r);
    m->first_step += (steps + m->shape->ports - 1) / m->shape->ports;
    m->puts_before[m->stage + 1] = m->puts;
}

/* ------------------------------------------------------------- the forms */

static void barrier(struct maker *m)
{
    disseminate(m->s, NULL, m->shape->nranks, m->rank, m->shape->ports,
                DCOLL_CREDIT);
}

static void one_send_buffer(struct maker *m)
{
    for (m->stage = 0; m->stage < m->stages->count; m->stage++) {
        begin_stage(m);
        deal_received(m);
        barrier(m);
        if (m->form == STAGES_B) {
            exchange_paced(m);
        } else {
            send_all(m);
            await_all(m);
            dcoll_add_complete(m->s);
        }
        end_stage(m);
    }
}

/* Deals bundles as they arrive, into the send buffer that the stage before does
 * not use: its messages may still be under way. */
static void deal_as_it_comes(struct maker *m)
{
    unsigned before = m->stage - 1, place;
    deal(m, m->own);
    for (unsigned i = 1; i <= steps_of(m, before); i++)
        if (await_sender(m, before, i, &place))
            deal(m, place_at(m, before, place));
}

static void two_send_buffers(struct maker *m)
{
    for (m->stage = 0; m->stage < m->stages->count; m->stage++) {
        begin_stage(m);
        if (m->stage)
            deal_as_it_comes(m);
        else
            deal_received(m);
        send_all(m);
        end_stage(m);
    }
    m->stage--;
    await_all(m);
}

static void deliver(struct maker *m)
{
    unsigned last = m->stages->count - 1;
    const struct exchange *x = m->stages->stage[last].exchange;
    dcoll_deal_t all = {.fan = exchange_sources(x, &m->mesh, m->rank),
                        .stride = m->room[last]};
    dcoll_add_deal(m->s, DCOLL_DELIVER, place_at(m, last, 0), 0,
                   dcoll_at(DCOLL_RECV, 0), &all);
}

void stages_generate(const struct stages *stages, enum stages_form form,
                     const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct maker m = {.stages = stages,
                      .form = form,
                      .shape = shape,
                      .args = args,
                      .rank = rank,
                      .s = s,
                      .mesh = mesh_of(shape->nranks)};
    if (!lay_out(&m)) {
        s->error = DRAIL_ENOMEM;
        return;
    }
    if (form == STAGES_N2)
        two_send_buffers(&m);
    else
        one_send_buffer(&m);
    deliver(&m);
    if (form == STAGES_N2 && m.puts)
        dcoll_add_complete(s);
}

const char *stages_refuse(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    (void)shape;
    if (!args->traffic)
        return "it is for calls with counts";
    return args->traffic->max_rank ? NULL : "it needs bounds of the counts";
}

const char *stages_refuse_unsquare(const dcoll_shape_t *shape,
                                   const dcoll_args_t *args)
{
    struct mesh mesh = mesh_of(shape->nranks);
    if (!mesh_is_square(&mesh))
        return "the number of ranks must be a perfect square: mesh is for any";
    return stages_refuse(shape, args);
}
