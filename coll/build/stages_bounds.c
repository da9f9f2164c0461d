/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long messages can get. The seed's lemma 3 is for lengths that P divides;
 * each distribution of others leaves up to DEAL_EXCESS more of each destination
 * in a bucket.
 */
#include <math.h>

#include "deal.h"
#include "stages.h"

/* What one rank may hold before a stage. */
struct load {
    double share; /* of what `sources` ranks send to a destination, … */
    double sources;
    double excess; /* … and so much more */
    double runs;   /* for one destination */
    double total;  /* for all of them */
};

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double for_one(const struct load *h, const dcoll_traffic_t *t)
{
    double most = (double)t->max_rank;
    double sent = lesser(most, h->sources * (double)t->max_pair);
    return lesser(most, h->share * sent + h->excess);
}

/* Destinations that share a bucket. */
static double sharing(const struct mesh *mesh, enum dealing dealing)
{
    switch (dealing) {
    case DEALT_BY_COLUMN:
        return mesh->rows;
    case DEALT_BY_ROW: /* all are for ranks of one column */
    case DEALT_BY_RANK:
        return 1;
    case DEALT_EVENLY:
        break;
    }
    return mesh->ranks;
}

/* The greatest part of a destination's elements that a bucket gets. */
static double portion(const struct stage *stage, const struct mesh *mesh)
{
    if (stage->exchange == &exchange_rows)
        return (double)mesh->rows / mesh->ranks;
    if (stage->exchange == &exchange_columns)
        return 1.0 / (mesh->rows - (mesh->rest ? 1 : 0));
    return 1.0 / mesh->ranks;
}

/* Most senders of a rank. */
static double senders(const struct stage *stage, const struct mesh *mesh)
{
    if (stage->exchange == &exchange_rows)
        return mesh->columns + (mesh->rest ? 1 : 0);
    return stage->exchange == &exchange_columns ? mesh->rows : mesh->ranks;
}

void stages_bounds(const struct stages *stages, const struct mesh *mesh,
                   const dcoll_traffic_t *traffic,
                   struct stage_bound bound[STAGES_MAX])
{
    struct load h = {.share = 1,
                     .sources = 1,
                     .runs = 1,
                     .total = (double)traffic->max_rank};
    for (unsigned i = 0; i < stages->count; i++) {
        const struct stage *stage = &stages->stage[i];
        double n = senders(stage, mesh);
        double dsts = sharing(mesh, stage->dealing);
        double message = lesser(h.total, dsts * for_one(&h, traffic));
        if (stage->dealing == DEALT_EVENLY) {
            double part = portion(stage, mesh);
            message = lesser(message, part * message +
                                          DEAL_EXCESS * lesser(dsts, message));
            h.share *= part;
            h.excess = h.excess * part + DEAL_EXCESS;
        }
        bound[i].elements = ceil(message);
        bound[i].runs = lesser(bound[i].elements, dsts * h.runs);
        h.total = n * message;
        h.excess *= n;
        /* either the senders' elements are from different ranks, or each has
         * some from all */
        if (h.sources < mesh->ranks) {
            h.sources = h.runs = lesser(mesh->ranks, h.sources * n);
        } else {
            h.share *= n;
            h.runs *= n;
        }
    }
}
