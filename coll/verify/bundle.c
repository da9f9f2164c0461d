/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular collectives: deals and delivers elements as the executor does
 * (coll/run/irregular/deal.c), cell by cell. The cell of a head holds the bytes
 * of its bundle, and its start and phase; the cell of a run holds its number in
 * verifier.runs. Elements with destinations have no runs: their contents tell
 * the destination.
 */
#include <string.h>

#include "coll/build/irregular/deal.h"
#include "verify.h"

#define IS_HEAD    ((uint64_t)1 << 62)
#define IS_RUN     ((uint64_t)1 << 61)
#define HEAD_TIME  32
#define HEAD_BYTES (((uint64_t)1 << HEAD_TIME) - 1)

size_t verify_traffic(const struct verifier *v, unsigned rank, bool receives)
{
    uint64_t elements = 0;
    for (unsigned r = 0; r < v->nranks; r++)
        elements += receives ? count_of(v, r, rank) : count_of(v, rank, r);
    return elements * v->program->args.traffic->element;
}

void verify_counts(struct verifier *v)
{
    const dcoll_traffic_t *t = v->program->args.traffic;
    if (!v->program->counts || !t->element || t->element % BUNDLE_HEAD) {
        verify_fail(v, "irregular: there must be counts, and elements of a "
                       "multiple of 16 bytes");
        return;
    }
    const size_t bytes = (size_t)v->nranks * v->nranks * sizeof *t->counts;
    if (t->counts && memcmp(t->counts, v->program->counts, bytes))
        verify_fail(v, "the schedules are for other counts");
    for (unsigned r = 0; r < v->nranks; r++) {
        for (unsigned to = 0; to < v->nranks; to++)
            if (count_of(v, r, to) > t->max_pair)
                verify_fail(v,
                            "rank %u sends rank %u more than the traffic's "
                            "max_pair",
                            r, to);
        if (send_bytes(v, r) > t->max_rank * t->element ||
            recv_bytes(v, r) > t->max_rank * t->element)
            verify_fail(v, "rank %u has more than the traffic's max_rank", r);
    }
}

/* The region from offset `bytes` on. */
static struct region behind(const struct verifier *v, struct region r,
                            size_t bytes)
{
    r.cells += bytes / v->grain;
    r.offset += bytes;
    return r;
}

static void fail_op(struct verifier *v, const struct actor *actor,
                    const char *what)
{
    const struct player *p = &v->players[actor->rank];
    verify_fail_at(v, actor->rank, p->start, p->op, "%s", what);
}

/* The head's value for the actor's present start and a phase of it. */
static uint64_t head_value(const struct verifier *v, const struct actor *actor,
                           unsigned phase, size_t bytes)
{
    uint64_t start = v->players[actor->rank].start;
    return IS_HEAD | (start << 8 | phase) << HEAD_TIME | bytes;
}

static unsigned phase_of(const struct verifier *v, const struct actor *actor)
{
    return op_of(v, actor->rank, actor->access.what)->phase;
}

static bool read_head(struct verifier *v, const struct actor *actor,
                      const struct region *bundle, unsigned phase, size_t room,
                      size_t *bytes)
{
    const uint64_t value = bundle->cells->value;
    *bytes = value & HEAD_BYTES;
    if (!verify_read(v, actor, bundle, 0))
        return false;
    if (value == head_value(v, actor, phase, *bytes) && *bytes <= room)
        return true;
    fail_op(v, actor, "there is no bundle of this start and phase");
    return false;
}

bool verify_bundle(struct verifier *v, const struct actor *actor,
                   const struct region *bundle, size_t room, size_t *bytes)
{
    return read_head(v, actor, bundle, phase_of(v, actor), room, bytes);
}

bool verify_arrived(struct verifier *v, const struct actor *actor,
                    const struct region *bundle, size_t room, size_t *bytes)
{
    return read_head(v, actor, bundle, phase_of(v, actor) - 1, room, bytes);
}

bool verify_head(struct verifier *v, const struct actor *actor,
                 const struct region *bundle, size_t bytes)
{
    return verify_write(v, actor, bundle, 0,
                        head_value(v, actor, phase_of(v, actor), bytes));
}

/* ------------------------------------------------------------ dealing --- */

/* A run, and the place of its elements. */
struct piece {
    struct bundle_run run;
    struct region elements;
};

/* Only the dealer has written this head, and writes it again: the earlier value
 * need not be read by another rank. */
static bool bucket_length(struct verifier *v, const struct actor *actor,
                          const struct region *bucket, size_t *bytes)
{
    struct cell *head = bucket->cells;
    *bytes = head->value & HEAD_BYTES;
    if (head->value != head_value(v, actor, phase_of(v, actor), *bytes)) {
        fail_op(v, actor, "the bucket was not opened in this start and phase");
        return false;
    }
    verify_forget(v, head);
    return true;
}

static bool write_run(struct verifier *v, const struct actor *actor,
                      const struct region *at, const struct bundle_run *run)
{
    if (!verify_room(v, (void **)&v->runs, v->nruns, &v->runs_capacity,
                     sizeof *v->runs))
        return false;
    v->runs[v->nruns] = *run;
    return verify_write(v, actor, at, 0, IS_RUN | v->nruns++);
}

static bool append(struct verifier *v, const dcoll_deal_t *deal,
                   const struct actor *actor, const struct region *bucket,
                   const struct piece *piece)
{
    const dcoll_traffic_t *t = v->program->args.traffic;
    size_t have, label = t->labelled ? BUNDLE_RUN : 0;
    size_t payload = piece->run.count * t->element;
    if (!bucket_length(v, actor, bucket, &have))
        return false;
    if (have + label + payload + bundle_marks(v->nranks) > deal->stride) {
        fail_op(v, actor, "there is no room for so much in a bucket");
        return false;
    }
    struct region run = behind(v, *bucket, have);
    struct region dst = behind(v, run, label);
    return (!label || write_run(v, actor, &run, &piece->run)) &&
           verify_move(v, actor, &piece->elements, &dst, payload) &&
           verify_head(v, actor, bucket, have + label + payload);
}

static uint64_t share_of(struct verifier *v, const dcoll_op_t *op,
                         const dcoll_deal_t *deal, unsigned rank,
                         const struct bundle_run *run, unsigned bucket)
{
    if (op->kind == DCOLL_COLLECT)
        return deal_bucket(deal, run->dst) == bucket ? run->count : 0;
    return deal_share(deal, v->players[rank].counter[run->dst], run->count,
                      bucket);
}

/* Gives each bucket its part of the run. */
static bool deal_run(struct verifier *v, const dcoll_op_t *op,
                     const struct actor *actor, const struct piece *whole,
                     const struct region *buckets)
{
    const dcoll_deal_t *deal = &schedule_of(v, actor->rank)->deals[op->deal];
    struct piece part = *whole;
    for (unsigned b = 0; b < deal->fan; b++) {
        struct region bucket = behind(v, *buckets, b * deal->stride);
        uint64_t n = share_of(v, op, deal, actor->rank, &whole->run, b);
        part.run.count = (uint32_t)n;
        if (n && !append(v, deal, actor, &bucket, &part))
            return false;
        part.run.first += (uint32_t)n;
        part.elements =
            behind(v, part.elements, n * v->program->args.traffic->element);
    }
    uint64_t *counter = &v->players[actor->rank].counter[whole->run.dst];
    *counter += whole->run.count;
    if (*counter - deal_begin(deal, whole->run.dst) <= deal->most)
        return true;
    fail_op(v, actor, "that many elements for one rank would be left out");
    return false;
}

static bool open_buckets(struct verifier *v, const dcoll_deal_t *deal,
                         const struct actor *actor,
                         const struct region *buckets)
{
    for (unsigned j = 0; j < v->nranks; j++)
        v->players[actor->rank].counter[j] = deal_begin(deal, j);
    for (unsigned b = 0; b < deal->fan; b++) {
        struct region bucket = behind(v, *buckets, b * deal->stride);
        if (!verify_head(v, actor, &bucket, BUNDLE_HEAD) ||
            !verify_may_write(v, actor, &bucket, BUNDLE_HEAD, deal->stride))
            return false;
    }
    return true;
}

static bool read_run(struct verifier *v, const struct actor *actor,
                     const struct region *head, struct piece *piece)
{
    if (!(head->cells->value & IS_RUN)) {
        fail_op(v, actor, "there is no run in the bundle");
        return false;
    }
    piece->run = v->runs[head->cells->value & ~IS_RUN];
    piece->elements = behind(v, *head, BUNDLE_RUN);
    return true;
}

/* An element without a label, as a run of one. */
static bool read_element(struct verifier *v, const struct actor *actor,
                         const struct region *element, struct piece *piece)
{
    struct origin origin;
    if (!verify_origin(v, v->players[actor->rank].start, element->cells->value,
                       &origin) ||
        origin.cell % verify_unit(v)) {
        fail_op(v, actor, "there is no element of this start in the bundle");
        return false;
    }
    piece->run = (struct bundle_run){
        .dst = origin.to, .src = origin.from, .first = 0, .count = 1};
    piece->elements = *element;
    return true;
}

/* Reads the next run of a bundle of so many bytes, at *at. */
static bool next_run(struct verifier *v, const struct actor *actor,
                     const struct region *bundle, size_t bytes, size_t *at,
                     struct piece *piece)
{
    const dcoll_traffic_t *t = v->program->args.traffic;
    if (*at >= bytes || v->error)
        return false;
    struct region head = behind(v, *bundle, *at);
    if (!verify_read(v, actor, &head, 0) ||
        !(t->labelled ? read_run : read_element)(v, actor, &head, piece))
        return false;
    *at += (t->labelled ? BUNDLE_RUN : 0) + piece->run.count * t->element;
    return true;
}

static void deal_send(struct verifier *v, const dcoll_op_t *op,
                      const struct actor *actor, const struct region *send,
                      const struct region *buckets)
{
    struct piece piece = {.run.src = actor->rank, .elements = *send};
    for (unsigned j = 0; j < v->nranks; j++) {
        piece.run.dst = j;
        piece.run.count = (uint32_t)count_of(v, actor->rank, j);
        if (piece.run.count && !deal_run(v, op, actor, &piece, buckets))
            return;
        piece.elements =
            behind(v, piece.elements,
                   piece.run.count * v->program->args.traffic->element);
    }
}

void verify_deal(struct verifier *v, const dcoll_op_t *op,
                 const struct actor *actor, const struct region *src,
                 const struct region *buckets)
{
    const dcoll_deal_t *deal = &schedule_of(v, actor->rank)->deals[op->deal];
    struct piece piece;
    size_t bytes, at = BUNDLE_HEAD;
    if (deal->opens && !open_buckets(v, deal, actor, buckets))
        return;
    if (op->src.space == DCOLL_SEND) {
        deal_send(v, op, actor, src, buckets);
        return;
    }
    if (!verify_arrived(v, actor, src, op->bytes, &bytes) ||
        !verify_may_read(v, actor, src, bytes, op->bytes))
        return;
    while (next_run(v, actor, src, bytes, &at, &piece))
        if (!deal_run(v, op, actor, &piece, buckets))
            return;
}

/* --------------------------------------------------------- delivering --- */

/* The begin in RECV of the elements from a rank. */
static size_t begin_of(const struct verifier *v, unsigned rank, unsigned from)
{
    uint64_t before = 0;
    for (unsigned r = 0; r < from; r++)
        before += count_of(v, r, rank);
    return before * v->program->args.traffic->element;
}

/* Elements without labels follow each other in the order of arrival. */
static bool deliver_run(struct verifier *v, const struct actor *actor,
                        const struct piece *piece, const struct region *recv,
                        size_t *next)
{
    const dcoll_traffic_t *t = v->program->args.traffic;
    const struct bundle_run *run = &piece->run;
    unsigned me = actor->rank;
    size_t bytes = run->count * t->element;
    size_t at = t->labelled
                    ? begin_of(v, me, run->src) + run->first * t->element
                    : *next;
    if (run->dst != me || at + bytes > v->players[me].recv) {
        fail_op(v, actor,
                run->dst != me ? "an element is for another rank"
                               : "more elements have come than were sent");
        return false;
    }
    struct region dst = behind(v, *recv, at);
    *next += bytes;
    return verify_move(v, actor, &piece->elements, &dst, bytes);
}

void verify_deliver(struct verifier *v, const dcoll_op_t *op,
                    const struct actor *actor, const struct region *bundles,
                    const struct region *recv)
{
    const dcoll_deal_t *deal = &schedule_of(v, actor->rank)->deals[op->deal];
    size_t next = 0;
    for (unsigned i = 0; i < deal->fan; i++) {
        struct region bundle = behind(v, *bundles, i * deal->stride);
        struct piece piece;
        size_t bytes, at = BUNDLE_HEAD;
        if (!verify_bundle(v, actor, &bundle, deal->stride, &bytes) ||
            !verify_may_read(v, actor, &bundle, bytes, deal->stride))
            return;
        while (next_run(v, actor, &bundle, bytes, &at, &piece))
            if (!deliver_run(v, actor, &piece, recv, &next))
                return;
    }
}
