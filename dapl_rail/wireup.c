/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes this rank's rails, checks those of all ranks, and takes them over.
 */
#include "dapl_rail/wireup.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/cards.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/rendezvous/host.h"
#include "dapl_rail/links/connect/reach.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/platform/fnv.h"
#include "dapl_rail/rails/rail.h"

#define CARDS_VERSION 2u

/* The sets of all ranks; each has room for so many cards. */
struct sets {
    const drail_gathered_t *all;
    unsigned size, cards;
};

static const struct card_set *set_of(const struct sets *s, unsigned rank)
{
    return drail_gathered_of(s->all, rank);
}

static uint64_t kind_of(const struct card_set *set)
{
    uint64_t sum = fnv_add(FNV_EMPTY, &set->nrails, sizeof set->nrails);
    sum = fnv_add(sum, &set->agreed, sizeof set->agreed);
    for (unsigned r = 0; r < set->nrails; r++)
        sum = fnv_add(sum, &set->cards[r], offsetof(struct card, conn_qual));
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
        .extensions = t->env.extensions,
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

/* -------------------------------------------------------------- checking */

static void list(const struct card_set *set, char *text, size_t size)
{
    size_t used = 0;
    for (unsigned r = 0; r < set->nrails && used < size; r++)
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)",
                                 r ? ", " : "", set->cards[r].name,
                                 set->cards[r].fabric);
}

/* first: the card without a counterpart is rank 0's; else it is this rank's. */
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

static const char *shown(unsigned setting, char text[12])
{
    if (setting == (uint32_t)DRAIL_EAGER_AUTO)
        return "auto";
    snprintf(text, 12, "%u", setting);
    return text;
}

/* Compares the settings of a rank with rank 0's. */
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
    char first[12], other[12];
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (settings[i].first != settings[i].other)
            return error_set(err, DRAIL_EINVAL,
                             "%s is %s in rank 0 and %s in rank %u",
                             settings[i].name, shown(settings[i].first, first),
                             shown(settings[i].other, other), rank);
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
    const struct card *alone =
        rc ? NULL : cards_match(zero, set, order, &whose);
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

/* Puts this rank's rails, and all that has their index, into this order. */
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

/* The order of a rank's rails that matches rank 0's. */
static void order_of(const struct sets *all, unsigned rank, unsigned *order)
{
    const struct card_set *zero = set_of(all, 0), *set = set_of(all, rank);
    const struct card_set *whose;
    for (unsigned r = 0; r < zero->nrails; r++)
        order[r] = r;
    if (set->kind != zero->kind)
        cards_match(zero, set, order, &whose);
}

/* The first rank of the same host. Tries the first rank of the last rank's host
 * before others: ranks of one host mostly follow each other. */
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

/* Enters all ranks into the roster. */
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

/* Ranks of one process share a roster, which the first of them makes. */
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

drail_gathered_t *wireup_room(drail_job_t *job)
{
    drail_gathered_t *room;
    int rc = drail_gathered_new(job, sizeof(struct card_set), &room);
    return rc ? NULL : room;
}

/* Unless another rank of this process has done so: they share the cards. */
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

int wireup_exchange(drail_t *t, drail_gathered_t *room, unsigned cards,
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
        error_set(err, rc, "exchange of addresses: %s", job_why(t->job, rc));
    if (!failed && !rc && gathered_common(room))
        t->cards = room;
    else
        drail_gathered_free(room);
    return failed ? failed : rc;
}

void wireup_forget(drail_t *t)
{
    if (!t->cards)
        free(t->roster);
    drail_gathered_free(t->cards);
}
