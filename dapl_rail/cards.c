/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails match by fabric: IAs that reach one another, whatever their names are
 * and in whatever order a rank lists them. Where a rank has several on one
 * fabric, those of the same network match (others may be reached by routes),
 * then those of the same name, the others in their order.
 */
#include "dapl_rail/cards.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/host.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/reach.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/rails/rail.h"

#define CARDS_VERSION 2u

/* Settings that must be the same in all ranks. */
struct agreed {
    uint32_t depth, eager_bytes, eps, extensions;
};

/* How to reach one rail of a rank. */
struct card {
    char name[DRAIL_NAME_MAX];
    char fabric[DRAIL_NAME_MAX], network[DRAIL_NAME_MAX]; /* it reaches, … */
    bool host_only; /* … and nothing but its host */
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
};

/* Of a rank. Mostly they are of one kind: those of whom `kind` is the same have
 * rails of the same names, fabrics and networks in the same order, and the same
 * settings. */
struct card_set {
    uint32_t version; /* in its place in any version */
    int32_t error;    /* of this rank's rails */
    uint64_t id;      /* of the transport: rank 0's */
    uint64_t kind;
    uint32_t nrails;
    uint32_t depth;         /* that fits there */
    uint32_t address_bytes; /* of the longest */
    struct agreed agreed;
    unsigned char host[HOST_BYTES];
    char host_name[64];
    struct card cards[DRAIL_MAX_RAILS];
};

/* All sets, each with no more cards than any rank has. */
struct sets {
    const drail_gathered_t *all;
    unsigned size, cards;
};

static const struct card_set *set_of(const struct sets *s, unsigned rank)
{
    return drail_gathered_of(s->all, rank);
}

static uint64_t mixed(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    while (bytes--)
        sum = (sum ^ *byte++) * 0x100000001b3ull; /* FNV-1a */
    return sum;
}

static uint64_t kind_of(const struct card_set *set)
{
    uint64_t sum =
        mixed(0xcbf29ce484222325ull, &set->nrails, sizeof set->nrails);
    sum = mixed(sum, &set->agreed, sizeof set->agreed);
    for (unsigned r = 0; r < set->nrails; r++)
        sum = mixed(sum, &set->cards[r], offsetof(struct card, conn_qual));
    return sum;
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
        size_t n = address_length(&card->address);
        mine->address_bytes =
            n > mine->address_bytes ? (uint32_t)n : mine->address_bytes;
    }
    mine->kind = kind_of(mine);
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

/* A card of rank 0's, or of this rank's. */
static int no_counterpart(const struct sets *all, unsigned rank, bool first,
                          const struct card *card, drail_error_t *err)
{
    char rails[160] = "";
    list(set_of(all, first ? rank : 0), rails, sizeof rails);
    return error_set(err, DRAIL_EINVAL,
                     "rail %.40s (fabric %.40s) of rank %u has no counterpart "
                     "among the rails of rank %u: %s",
                     card->name, card->fabric, first ? 0 : rank,
                     first ? rank : 0, rails);
}

/* Settings of a rank beside rank 0's. */
static int check_agreed(const struct sets *all, unsigned rank,
                        drail_error_t *err)
{
    const struct agreed *a = &set_of(all, 0)->agreed;
    const struct agreed *b = &set_of(all, rank)->agreed;
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

static int check_rank(const struct sets *all, unsigned rank, drail_error_t *err)
{
    const struct card_set *set = set_of(all, rank), *zero = set_of(all, 0);
    const struct card_set *whose;
    unsigned order[DRAIL_MAX_RAILS];
    if (set->version != zero->version)
        return error_set(err, DRAIL_EINVAL,
                         "ranks 0 and %u run different versions of dapl_rail",
                         rank);
    if (set->error)
        return error_set(err, DRAIL_EPEER, "rank %u has no rails: %s", rank,
                         drail_strerror(set->error));
    if (set->nrails < 1 || set->nrails > all->cards)
        return error_set(err, DRAIL_EINVAL, "rank %u has %u rails", rank,
                         set->nrails);
    if (set->depth < DEPTH_MIN)
        return error_set(err, DRAIL_EINVAL, "rank %u has depth %u", rank,
                         set->depth);
    if (set->kind == zero->kind)
        return 0;
    int rc = check_agreed(all, rank, err);
    const struct card *alone = rc ? NULL : match(zero, set, order, &whose);
    if (alone)
        rc = no_counterpart(all, rank, whose == zero, alone, err);
    return rc;
}

static void terminate(struct card_set *set, unsigned cards)
{
    set->host_name[sizeof set->host_name - 1] = '\0';
    if (set->address_bytes > sizeof set->cards[0].address)
        set->address_bytes = sizeof set->cards[0].address;
    for (unsigned r = 0; r < cards; r++) {
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

static uint32_t host_only(const struct card_set *set, const unsigned *order,
                          unsigned nrails)
{
    uint32_t rails = 0;
    for (unsigned r = 0; r < nrails; r++)
        rails |= set->cards[order[r]].host_only ? RAIL_BIT(r) : 0;
    return rails;
}

/* In the order of rank 0's. */
static void order_of(const struct sets *all, unsigned rank, unsigned *order)
{
    const struct card_set *zero = set_of(all, 0), *set = set_of(all, rank);
    const struct card_set *whose;
    for (unsigned r = 0; r < zero->nrails; r++)
        order[r] = r;
    if (set->kind != zero->kind)
        match(zero, set, order, &whose);
}

/* The first rank of the same host, which is none before that of the rank
 * before: ranks of one host mostly follow one another. */
static unsigned first_of_host(const struct sets *all, unsigned rank,
                              unsigned of_last)
{
    const unsigned char *host = set_of(all, rank)->host;
    if (!memcmp(set_of(all, of_last)->host, host, HOST_BYTES))
        return of_last;
    unsigned first = 0;
    while (memcmp(set_of(all, first)->host, host, HOST_BYTES))
        first++;
    return first;
}

static void roster_for(drail_t *t, const struct sets *all)
{
    size_t name = 0, address = 0;
    for (unsigned p = 0; p < all->size; p++) {
        const struct card_set *set = set_of(all, p);
        size_t n = strlen(set->host_name);
        name = n > name ? n : name;
        address = set->address_bytes > address ? set->address_bytes : address;
    }
    t->roster = roster_fit(t->roster, name, address);
}

/* Enters all ranks. */
static void enter(drail_t *t, const struct sets *all)
{
    struct entry e = {0};
    for (unsigned p = 0; p < all->size; p++) {
        const struct card_set *set = set_of(all, p);
        unsigned order[DRAIL_MAX_RAILS];
        order_of(all, p, order);
        e.host = first_of_host(all, p, e.host);
        e.host_only = host_only(set, order, t->nrails);
        e.host_name = set->host_name;
        for (unsigned r = 0; r < t->nrails; r++) {
            e.conn_qual[r] = set->cards[order[r]].conn_qual;
            e.address[r] = &set->cards[order[r]].address;
        }
        roster_enter(t->roster, p, &e);
    }
}

/* Ranks that share memory have one roster: the first of them makes it. */
static void roster_make(drail_t *t, const struct sets *all)
{
    void **common = gathered_common(all->all);
    if (common && *common) {
        free(t->roster);
        t->roster = *common;
        return;
    }
    roster_for(t, all);
    enter(t, all);
    if (common)
        *common = t->roster;
}

static void take(drail_t *t, const struct sets *all)
{
    unsigned order[DRAIL_MAX_RAILS], size = t->job->size;
    t->id = set_of(all, 0)->id;
    roster_make(t, all);
    for (unsigned p = 0; p < size; p++)
        if (set_of(all, p)->depth < t->cfg.depth)
            t->cfg.depth = set_of(all, p)->depth;
    bool inside = roster_has_inside(t->roster);
    for (unsigned a = 0; inside && a < size; a++)
        for (unsigned b = 0; b < a; b++)
            t->common &= roster_between(t, a, b);
    reach_measured(t);
    order_of(all, t->job->rank, order);
    reorder(t, order);
}

drail_gathered_t *cards_room(drail_job_t *job)
{
    drail_gathered_t *room;
    int rc = drail_gathered_new(job, sizeof(struct card_set), &room);
    return rc ? NULL : room;
}

/* Who shares them with the rank may have done so before. */
static void terminate_all(const struct sets *all)
{
    void **common = gathered_common(all->all);
    for (unsigned rank = 0; rank < all->size && !(common && *common); rank++)
        terminate((struct card_set *)set_of(all, rank), all->cards);
}

static int take_cards(drail_t *t, const struct sets *all, drail_error_t *err)
{
    int rc = 0;
    terminate_all(all);
    for (unsigned rank = 0; !rc && rank < all->size; rank++)
        rc = check_rank(all, rank, err);
    if (!rc)
        take(t, all);
    return rc;
}

int cards_exchange(drail_t *t, drail_gathered_t *room, unsigned cards,
                   int failed, drail_error_t *err)
{
    struct card_set mine = {0};
    const struct sets all = {room, t->job->size, cards};
    describe(t, failed, &mine);
    gathered_shrink(room, offsetof(struct card_set, cards) +
                              cards * sizeof(struct card));
    int rc = drail_gathered_exchange(room, &mine, t->cfg.timeout_ms);
    if (!failed && !rc)
        rc = take_cards(t, &all, err);
    else if (!failed)
        error_set(err, rc, "exchange of addresses: %s", drail_strerror(rc));
    if (!failed && !rc && gathered_common(room))
        t->cards = room;
    else
        drail_gathered_free(room);
    return failed ? failed : rc;
}

void cards_forget(drail_t *t)
{
    if (!t->cards)
        free(t->roster);
    drail_gathered_free(t->cards);
}
