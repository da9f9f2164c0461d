/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The longest messages. The paper's lemma 3 holds for lengths that P divides;
 * for others, each distribution leaves up to DEAL_EXCESS elements more of each
 * destination in a bucket. Complete and incomplete columns differ: complete
 * ones get more in the first distribution, incomplete ones have fewer ranks to
 * share it (lemma 2).
 */
#include <math.h>

#include "coll/build/irregular/deal.h"
#include "coll/build/irregular/stages.h"

/* Columns. */
enum { COMPLETE, INCOMPLETE, KINDS };

/* The most elements that a rank may hold before a stage. */
struct load {
    double
        share; /* fraction of the elements from `sources` ranks to one rank */
    double sources;
    double excess; /* elements more than that */
    double runs;   /* for one destination */
    double total;  /* for all of them */
};

/* A stage, for a receiver in a column of this kind. */
struct view {
    const struct stage *stage;
    const struct mesh *mesh;
    const dcoll_traffic_t *traffic;
    unsigned kind;
};

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double for_one(const struct load *h, const dcoll_traffic_t *t)
{
    double most = (double)t->max_rank;
    double sent = lesser(most, h->sources * (double)t->max_pair);
    return lesser(most, h->share * sent + h->excess);
}

/* Rounds up, with a margin for rounding errors. */
static uint64_t whole(double elements)
{
    return (uint64_t)(elements * (1 + 1e-12) + 1e-6);
}

static double height(const struct view *v)
{
    return v->mesh->rows - (v->kind == INCOMPLETE ? 1 : 0);
}

/* The number of destinations that share a bucket. */
static double sharing(const struct view *v)
{
    switch (v->stage->dealing) {
    case DEALT_BY_COLUMN:
        return height(v);
    case DEALT_BY_ROW: /* all are for ranks of one column */
    case DEALT_BY_RANK:
        return 1;
    case DEALT_EVENLY:
        break;
    }
    return v->mesh->ranks;
}

/* The fraction of a destination's elements in a bucket. */
static double portion(const struct view *v)
{
    if (v->stage->exchange == &exchange_rows)
        return height(v) / v->mesh->ranks;
    if (v->stage->exchange == &exchange_columns)
        return 1 / height(v);
    return 1.0 / v->mesh->ranks;
}

static bool is_first(const struct view *v)
{
    return v->kind == COMPLETE || v->stage->exchange != &exchange_rows;
}

/* The most senders of a rank. */
static double senders(const struct view *v)
{
    if (v->stage->exchange == &exchange_rows)
        return v->mesh->columns + (v->kind == INCOMPLETE ? 1 : 0);
    return v->stage->exchange == &exchange_columns ? height(v) : v->mesh->ranks;
}

/* The most elements in a bucket, of so many for all destinations. */
static double evenly(const struct view *v, double elements)
{
    double dsts = lesser(sharing(v), elements);
    double first = (double)v->mesh->rows / v->mesh->ranks * elements +
                   DEAL_EXCESS_FIRST * dsts;
    if (is_first(v))
        return lesser(elements,
                      portion(v) * elements + DEAL_EXCESS_FIRST * dsts);
    return lesser(elements,
                  lesser(first, portion(v) * elements + DEAL_EXCESS * dsts));
}

/* The longest message of ranks that hold h. */
static struct stage_bound message(const struct view *v, const struct load *h)
{
    double elements = lesser(h->total, sharing(v) * for_one(h, v->traffic));
    if (v->stage->dealing == DEALT_EVENLY)
        elements = evenly(v, elements);
    elements = ceil(elements);
    return (struct stage_bound){.elements = elements,
                                .runs = lesser(elements, sharing(v) * h->runs)};
}

/* What a rank holds after the stage. */
static struct load received(const struct view *v, struct load h, double message)
{
    double n = senders(v);
    if (v->stage->dealing == DEALT_EVENLY) {
        h.share *= portion(v);
        h.excess = h.excess * portion(v) +
                   (is_first(v) ? DEAL_EXCESS_FIRST : DEAL_EXCESS);
    }
    h.total = n * message;
    h.excess *= n;
    /* either the senders' elements are from different ranks, or each sender has
     * some from all ranks */
    if (h.sources < v->mesh->ranks) {
        h.sources = h.runs = lesser(v->mesh->ranks, h.sources * n);
    } else {
        h.share *= n;
        h.runs *= n;
    }
    return h;
}

/* The senders: of the same column, or of both kinds. */
static struct load before(const struct view *v, const struct load h[KINDS])
{
    const struct load *a = &h[COMPLETE], *b = &h[INCOMPLETE];
    if (v->stage->exchange == &exchange_columns)
        return h[v->kind];
    return (struct load){.share = greater(a->share, b->share),
                         .sources = greater(a->sources, b->sources),
                         .excess = greater(a->excess, b->excess),
                         .runs = greater(a->runs, b->runs),
                         .total = greater(a->total, b->total)};
}

void stages_bounds(const struct stages *stages, const struct mesh *mesh,
                   const dcoll_traffic_t *traffic,
                   struct stage_bound bound[STAGES_MAX])
{
    const struct load begin = {.share = 1,
                               .sources = 1,
                               .runs = 1,
                               .total = (double)traffic->max_rank};
    struct load held[KINDS] = {begin, begin};
    for (unsigned i = 0; i < stages->count; i++) {
        struct load next[KINDS] = {held[COMPLETE], held[COMPLETE]};
        bound[i] = (struct stage_bound){0};
        for (unsigned kind = 0; kind < (mesh->rest ? KINDS : 1); kind++) {
            struct view v = {&stages->stage[i], mesh, traffic, kind};
            struct load h = before(&v, held);
            struct stage_bound longest = message(&v, &h);
            bound[i].elements = greater(bound[i].elements, longest.elements);
            bound[i].runs = greater(bound[i].runs, longest.runs);
            bound[i].most[kind] = whole(for_one(&h, traffic));
            next[kind] = received(&v, h, longest.elements);
        }
        held[COMPLETE] = next[COMPLETE];
        held[INCOMPLETE] = next[mesh->rest ? INCOMPLETE : COMPLETE];
    }
}
