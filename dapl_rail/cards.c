/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails match by fabric: IAs that reach one another, whatever their names are
 * and in whatever order a rank lists them. Where a rank has several on one
 * fabric, those of the same network match (others may be reached by routes),
 * then those of the same name, the others in their order.
 */
#include "dapl_rail/cards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/host.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/reach.h"
#include "dapl_rail/rails/rail.h"

#define CARDS_VERSION 1u

/* Settings that must be the same in all ranks. */
struct agreed {
    uint32_t depth, eager_bytes, eps, extensions;
};

struct card_set {
    uint32_t version; /* in its place in any version */
    int32_t error;    /* of this rank's rails */
    uint64_t id;      /* of the transport: rank 0's */
    uint32_t nrails;
    uint32_t depth; /* that fits there */
    struct agreed agreed;
    unsigned char host[HOST_BYTES];
    char host_name[64];
    struct card cards[DRAIL_MAX_RAILS];
};

struct card_set *cards_room(const drail_job_t *job)
{
    return calloc(job->size + 1, sizeof(struct card_set));
}

static void describe(const drail_t *t, int failed, struct card_set *mine)
{
    mine->version = CARDS_VERSION;
    mine->error = failed;
    mine->id = job_random(t->job->platform);
    mine->nrails = t->nrails;
    mine->depth = t->cfg.depth;
    mine->agreed = (struct agreed){
        .depth = t->depth_asked,
        .eager_bytes = (uint32_t)t->cfg.eager_bytes,
        .eps = t->cfg.eps,
        .extensions = t->tuning.extensions,
    };
    host_identify(mine->host);
    gethostname(mine->host_name, sizeof mine->host_name - 1);
    for (unsigned r = 0; r < t->nrails; r++) {
        const struct rail *rail = &t->rails[r];
        struct card *card = &mine->cards[r];
        strcpy(card->name, t->names[r]);
        strcpy(card->fabric, rail->info.fabric);
        strcpy(card->network, rail->info.network);
        card->host_only = rail->info.host_only;
        card->conn_qual = rail->conn_qual;
        card->address = rail->address;
    }
}

/* -------------------------------------------------------------- matching */

/* How well do they match? 0: not at all. */
static unsigned likeness(const struct card *a, const struct card *b)
{
    if (strcmp(a->fabric, b->fabric))
        return 0;
    bool network = a->network[0] && !strcmp(a->network, b->network);
    bool name = !strcmp(a->name, b->name);
    return 1 + 2 * network + name;
}
#define MOST_ALIKE 4u

/* order[r] is the counterpart in `set` of the r-th rail in `first`: those that
 * are most alike go first. NULL: all rails have one, else the first of those
 * that have none, and whose it is. */
static const struct card *match(const struct card_set *first,
                                const struct card_set *set, unsigned *order,
                                const struct card_set **whose)
{
    uint32_t matched = 0, taken = 0;
    for (unsigned least = MOST_ALIKE; least; least--)
        for (unsigned r = 0; r < first->nrails; r++)
            for (unsigned o = 0; o < set->nrails; o++) {
                if (matched & RAIL_BIT(r) || taken & RAIL_BIT(o) ||
                    likeness(&first->cards[r], &set->cards[o]) < least)
                    continue;
                order[r] = o;
                matched |= RAIL_BIT(r);
                taken |= RAIL_BIT(o);
            }
    *whose = first;
    for (unsigned r = 0; r < first->nrails; r++)
        if (!(matched & RAIL_BIT(r)))
            return &first->cards[r];
    *whose = set;
    for (unsigned r = 0; r < set->nrails; r++)
        if (!(taken & RAIL_BIT(r)))
            return &set->cards[r];
    return NULL;
}

/* -------------------------------------------------------------- checking */

static void list(const struct card_set *set, char *text, size_t size)
{
    size_t used = 0;
    for (unsigned r = 0; r < set->nrails && used < size; r++)
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)",
                                 r ? ", " : "", set->cards[r].name,
                                 set->cards[r].fabric);
}

static int no_counterpart(const struct card_set *all,
                          const struct card_set *whose,
                          const struct card_set *other, const struct card *card,
                          drail_error_t *err)
{
    char rails[160] = "";
    list(other, rails, sizeof rails);
    return error_set(err, DRAIL_EINVAL,
                     "rail %.40s (fabric %.40s) of rank %u has no counterpart "
                     "among the rails of rank %u: %s",
                     card->name, card->fabric, (unsigned)(whose - all),
                     (unsigned)(other - all), rails);
}

/* Settings of a rank beside rank 0's. */
static int check_agreed(const struct card_set *all, unsigned rank,
                        drail_error_t *err)
{
    const struct agreed *a = &all[0].agreed, *b = &all[rank].agreed;
    const struct {
        const char *name;
        unsigned first, other;
    } settings[] = {
        {"DRAIL_DEPTH", a->depth, b->depth},
        {"DRAIL_EAGER_BYTES", a->eager_bytes, b->eager_bytes},
        {"DRAIL_EPS", a->eps, b->eps},
        {"DRAIL_EXTENSIONS", a->extensions, b->extensions},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (settings[i].first != settings[i].other)
            return error_set(
                err, DRAIL_EINVAL, "%s is %u in rank 0 and %u in rank %u",
                settings[i].name, settings[i].first, settings[i].other, rank);
    return 0;
}

static int check_rank(const struct card_set *all, unsigned rank,
                      drail_error_t *err)
{
    const struct card_set *set = &all[rank], *whose;
    unsigned order[DRAIL_MAX_RAILS];
    if (set->version != all[0].version)
        return error_set(err, DRAIL_EINVAL,
                         "ranks 0 and %u run different versions of dapl_rail",
                         rank);
    if (set->error)
        return error_set(err, DRAIL_EPEER, "rank %u has no rails: %s", rank,
                         drail_strerror(set->error));
    if (set->nrails < 1 || set->nrails > DRAIL_MAX_RAILS)
        return error_set(err, DRAIL_EINVAL, "rank %u has %u rails", rank,
                         set->nrails);
    int rc = check_agreed(all, rank, err);
    const struct card *alone = rc ? NULL : match(&all[0], set, order, &whose);
    if (alone)
        rc = no_counterpart(all, whose, whose == set ? &all[0] : set, alone,
                            err);
    return rc;
}

static void terminate(struct card_set *set)
{
    set->host_name[sizeof set->host_name - 1] = '\0';
    for (unsigned r = 0; r < DRAIL_MAX_RAILS; r++) {
        set->cards[r].name[DRAIL_NAME_MAX - 1] = '\0';
        set->cards[r].fabric[DRAIL_NAME_MAX - 1] = '\0';
        set->cards[r].network[DRAIL_NAME_MAX - 1] = '\0';
    }
}

/* ---------------------------------------------------------------- taking */

/* Puts our rails, and all that goes by their index, into this order. */
static void reorder(drail_t *t, const unsigned *order)
{
    struct rail before[DRAIL_MAX_RAILS];
    drail_config_t cfg = t->cfg;
    memcpy((void *)before, t->rails, t->nrails * sizeof *before);
    for (unsigned r = 0; r < t->nrails; r++) {
        memcpy((void *)&t->rails[r], &before[order[r]], sizeof *before);
        t->rails[r].index = r;
        strcpy(t->names[r], t->rails[r].info.name);
        t->cfg.weights[r] = cfg.weights[order[r]];
        if (order[r] == cfg.fixed_rail)
            t->cfg.fixed_rail = r;
    }
}

static uint32_t host_only(const struct peer *peer)
{
    uint32_t rails = 0;
    for (unsigned r = 0; r < peer->owner->nrails; r++)
        rails |= peer->cards[r].host_only ? RAIL_BIT(r) : 0;
    return rails;
}

static bool same_host(const struct card_set *a, const struct card_set *b)
{
    return !memcmp(a->host, b->host, sizeof a->host);
}

/* Rails of networks, by which two ranks reach one another anywhere. */
static uint32_t outside(const drail_t *t, unsigned a, unsigned b)
{
    return all_rails(t) & ~(host_only(&t->peers[a]) | host_only(&t->peers[b]));
}

/* Rails by which two ranks reach one another: on one host those that don't
 * leave it, if there are any, else those of networks. */
static uint32_t between(const drail_t *t, const struct card_set *all,
                        unsigned a, unsigned b)
{
    uint32_t inside = same_host(&all[a], &all[b])
                          ? host_only(&t->peers[a]) & host_only(&t->peers[b])
                          : 0;
    return inside ? inside : outside(t, a, b);
}

static void find_reach(drail_t *t, const struct card_set *all)
{
    for (unsigned a = 0; a < t->job->size; a++)
        for (unsigned b = 0; b < a; b++)
            t->common &= between(t, all, a, b);
    for (unsigned p = 0; p < t->job->size; p++) {
        struct peer *peer = &t->peers[p];
        strcpy(peer->host, all[p].host_name);
        peer->inside = between(t, all, t->job->rank, p);
        peer->outside = outside(t, t->job->rank, p);
        if (peer->outside == peer->inside)
            peer->outside = 0;
        peer_take(peer, peer->inside);
    }
    reach_measured(t);
}

static void take(drail_t *t, const struct card_set *all)
{
    unsigned order[DRAIL_MAX_RAILS];
    const struct card_set *whose;
    t->id = all[0].id;
    for (unsigned p = 0; p < t->job->size; p++) {
        struct card *cards = &t->cards[p * t->nrails];
        match(&all[0], &all[p], order, &whose);
        for (unsigned r = 0; r < t->nrails; r++)
            cards[r] = all[p].cards[order[r]];
        t->peers[p].cards = cards;
        if (all[p].depth < t->cfg.depth)
            t->cfg.depth = all[p].depth;
    }
    find_reach(t, all);
    match(&all[0], &all[t->job->rank], order, &whose);
    reorder(t, order);
}

int cards_exchange(drail_t *t, struct card_set *room, int failed,
                   drail_error_t *err)
{
    unsigned size = t->job->size;
    struct card_set *mine = &room[size];
    describe(t, failed, mine);
    int rc = drail_job_allgather(t->job, mine, sizeof *mine, room,
                                 t->cfg.timeout_ms);
    if (failed)
        return failed;
    if (rc)
        return error_set(err, rc, "exchange of addresses: %s",
                         drail_strerror(rc));
    for (unsigned rank = 0; rank < size; rank++)
        terminate(&room[rank]);
    for (unsigned rank = 0; !rc && rank < size; rank++)
        rc = check_rank(room, rank, err);
    if (!rc)
        take(t, room);
    return rc;
}
