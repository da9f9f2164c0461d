/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "coll/build/irregular/bundle.h"
#include "coll/build/irregular/deal.h"
#include "sizes_play.h"

enum { SLOTS = 1024, FREE = 0 };

/* A bundle's elements for each destination, and in all. */
struct bundle {
    uint64_t total;
    uint64_t *of;
};

struct rank {
    unsigned op;
    unsigned *arrived; /* by sender and tag, those not waited for yet */
    uint64_t *counter, *held, *dealt;
    struct bundle *bundle; /* by slot of its offset, on demand */
    unsigned received[STAGES_MAX];
    uint64_t got[STAGES_MAX];
};

struct play {
    const dcoll_program_t *program;
    struct sizes *sizes;
    unsigned n;
    struct rank *rank;
    size_t offset[SLOTS]; /* + 1; the layout is that of all ranks */
    const char *wrong;
};

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        abort();
    return memory;
}

static size_t slot_of(struct play *p, size_t offset)
{
    size_t at = offset / BUNDLE_HEAD * 2654435761u % SLOTS;
    while (p->offset[at] != FREE && p->offset[at] != offset + 1)
        at = (at + 1) % SLOTS;
    p->offset[at] = offset + 1;
    return at;
}

static struct bundle *bundle_at(struct play *p, unsigned rank, size_t offset)
{
    struct bundle *b = &p->rank[rank].bundle[slot_of(p, offset)];
    if (!b->of)
        b->of = zeroed(p->n, sizeof *b->of);
    return b;
}

static void empty(const struct play *p, struct bundle *b)
{
    b->total = 0;
    memset(b->of, 0, p->n * sizeof *b->of);
}

static void add(struct bundle *b, unsigned dst, uint64_t elements)
{
    b->of[dst] += elements;
    b->total += elements;
}

static void check_room(struct play *p, const struct bundle *b, size_t room)
{
    size_t free = room - BUNDLE_HEAD - bundle_marks(p->n);
    if (b->total > free / p->program->args.traffic->element)
        p->wrong = "a bundle exceeds its room";
}

static unsigned kind_of(const struct play *p, unsigned rank)
{
    const struct mesh *m = &p->sizes->mesh;
    return m->rest && mesh_column(m, rank) >= m->rest ? INCOMPLETE : COMPLETE;
}

static void raise(uint64_t *most, uint64_t value)
{
    if (*most < value)
        *most = value;
}

/* ------------------------------------------------------------ dealing --- */

static void deal_for(struct play *p, unsigned rank, const dcoll_op_t *op,
                     unsigned dst, uint64_t elements, struct bundle **bucket)
{
    const dcoll_deal_t *deal = &p->program->rank[rank].deals[op->deal];
    uint64_t *counter = &p->rank[rank].counter[dst];
    p->rank[rank].dealt[dst] += elements;
    if (p->rank[rank].dealt[dst] > deal->most)
        p->wrong = "elements for a rank are left out";
    if (op->kind == DCOLL_COLLECT) {
        add(bucket[deal_bucket(deal, dst)], dst, elements);
        return;
    }
    if (elements < deal->fan)
        for (uint64_t i = 0; i < elements; i++)
            add(bucket[deal_next(deal, *counter + i)], dst, 1);
    else
        for (unsigned b = 0; b < deal->fan; b++)
            add(bucket[b], dst, deal_share(deal, *counter, elements, b));
    *counter += elements;
}

static void deal(struct play *p, unsigned rank, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &p->program->rank[rank].deals[op->deal];
    struct bundle *bucket[1 + UINT8_MAX];
    const uint64_t *of = op->src.space == DCOLL_SEND
                             ? p->program->counts + (size_t)rank * p->n
                             : bundle_at(p, rank, op->src.offset)->of;
    uint64_t all = 0;
    for (unsigned b = 0; b < deal->fan; b++) {
        bucket[b] = bundle_at(p, rank, op->dst.offset + b * deal->stride);
        if (deal->opens)
            empty(p, bucket[b]);
    }
    for (unsigned j = 0; j < p->n; j++) {
        if (deal->opens) {
            p->rank[rank].counter[j] = deal_begin(deal, j);
            p->rank[rank].dealt[j] = 0;
        }
        if (of[j])
            deal_for(p, rank, op, j, of[j], bucket);
    }
    for (unsigned b = 0; b < deal->fan; b++) {
        check_room(p, bucket[b], deal->stride);
        all += bucket[b]->total;
    }
    raise(&p->sizes->send[op->phase - 1][kind_of(p, rank)], all);
}

static uint64_t all_for(const struct play *p, unsigned dst)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < p->n; i++)
        sum += p->program->counts[(size_t)i * p->n + dst];
    return sum;
}

static void deliver(struct play *p, unsigned rank, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &p->program->rank[rank].deals[op->deal];
    uint64_t all = 0, mine = 0;
    for (unsigned i = 0; i < deal->fan; i++) {
        struct bundle *b =
            bundle_at(p, rank, op->src.offset + i * deal->stride);
        all += b->total;
        mine += b->of[rank];
    }
    if (all != mine)
        p->wrong = "an element comes to another rank";
    else if (mine != all_for(p, rank))
        p->wrong = "something is missing";
}

/* ----------------------------------------------------------- messages --- */

static void move(struct play *p, unsigned rank, unsigned to,
                 const dcoll_op_t *op)
{
    const struct bundle *src = bundle_at(p, rank, op->src.offset);
    struct bundle *dst = bundle_at(p, to, op->dst.offset);
    unsigned stage = op->phase - 1u;
    check_room(p, src, op->bytes);
    dst->total = src->total;
    memcpy(dst->of, src->of, p->n * sizeof *src->of);
    p->rank[to].received[stage]++;
    p->rank[to].got[stage] += src->total;
    raise(&p->sizes->message[stage][kind_of(p, to)], src->total);
    raise(&p->sizes->step[op->step], src->total);
    p->sizes->stage[op->step] = stage;
    for (unsigned j = 0; stage == p->sizes->spread && j < p->n; j++)
        p->rank[to].held[j] += src->of[j];
}

static unsigned *arrived(struct play *p, unsigned to, unsigned from,
                         dcoll_tag_t tag)
{
    return &p->rank[to].arrived[from * DCOLL_TAGS + tag];
}

/* False: the rank must wait. */
static bool play_op(struct play *p, unsigned rank, const dcoll_op_t *op)
{
    switch (op->kind) {
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
        deal(p, rank, op);
        return true;
    case DCOLL_DELIVER:
        deliver(p, rank, op);
        return true;
    case DCOLL_COPY:
        move(p, rank, rank, op);
        return true;
    case DCOLL_PUT:
        move(p, rank, op->peer, op);
        ++*arrived(p, op->peer, rank, DCOLL_DATA);
        return true;
    case DCOLL_NOTIFY:
        ++*arrived(p, op->peer, rank, op->tag);
        return true;
    case DCOLL_WAIT:
        return *arrived(p, rank, op->peer, op->tag) &&
               (*arrived(p, rank, op->peer, op->tag))--;
    default:
        return true;
    }
}

/* True: it got somewhere. */
static bool play_rank(struct play *p, unsigned rank)
{
    const dcoll_schedule_t *s = &p->program->rank[rank];
    unsigned before = p->rank[rank].op, *op = &p->rank[rank].op;
    while (*op < s->nops && play_op(p, rank, &s->ops[*op]))
        ++*op;
    return *op > before;
}

static void sum_up(struct play *p, unsigned dst)
{
    struct sizes *s = p->sizes;
    uint64_t even = all_for(p, dst);
    for (unsigned r = 0; r < p->n; r++) {
        uint64_t held = p->rank[r].held[dst] * p->n;
        raise(&s->uneven, held > even ? held - even : even - held);
    }
}

static void sum_up_rank(struct play *p, unsigned rank)
{
    struct sizes *s = p->sizes;
    unsigned kind = kind_of(p, rank);
    for (unsigned i = 0; i < STAGES_MAX; i++) {
        unsigned count = p->rank[rank].received[i];
        raise(&s->received[i][kind], p->rank[rank].got[i]);
        if (s->count[i][kind] < count)
            s->count[i][kind] = count;
    }
}

static void set_up(struct play *p)
{
    p->rank = zeroed(p->n, sizeof *p->rank);
    for (unsigned r = 0; r < p->n; r++) {
        p->rank[r].arrived = zeroed(p->n * DCOLL_TAGS, sizeof(unsigned));
        p->rank[r].counter = zeroed(p->n, sizeof(uint64_t));
        p->rank[r].held = zeroed(p->n, sizeof(uint64_t));
        p->rank[r].dealt = zeroed(p->n, sizeof(uint64_t));
        p->rank[r].bundle = zeroed(SLOTS, sizeof(struct bundle));
    }
}

static void tear_down(struct play *p)
{
    for (unsigned r = 0; r < p->n; r++) {
        for (unsigned i = 0; i < SLOTS; i++)
            free(p->rank[r].bundle[i].of);
        free(p->rank[r].bundle);
        free(p->rank[r].held);
        free(p->rank[r].dealt);
        free(p->rank[r].counter);
        free(p->rank[r].arrived);
    }
    free(p->rank);
}

const char *sizes_play(const dcoll_program_t *program, struct sizes *sizes)
{
    struct play p = {
        .program = program, .sizes = sizes, .n = program->shape->nranks};
    bool moved = true;
    sizes->mesh = mesh_of(p.n);
    set_up(&p);
    while (moved) {
        moved = false;
        for (unsigned r = 0; r < p.n; r++)
            moved |= play_rank(&p, r);
    }
    for (unsigned r = 0; r < p.n; r++) {
        if (p.rank[r].op < program->rank[r].nops)
            p.wrong = "a rank waits forever";
        sum_up(&p, r);
        sum_up_rank(&p, r);
    }
    tear_down(&p);
    return p.wrong;
}
