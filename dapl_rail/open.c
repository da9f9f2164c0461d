/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drail_open: opens the rails of all ranks, and exchanges their addresses.
 *
 * The public calls are in the files of this folder, in reading order: open.c
 * (with limits.h, wireup.h, cards.h), connection.c, put.c, notify.c, send.c,
 * atomic.c (with own_atomic.h), close.c; properties.c, stats.c. Calls on a peer
 * begin with connection.h and end with outcome.h. The folders, from callee to
 * caller: platform, base, job, rails, memory, stripe, links, engine, messages.
 */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/settings.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/transports.h"
#include "dapl_rail/limits.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/platform/files.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/tuners.h"
#include "dapl_rail/wireup.h"

#define FILES_OF_RAIL 16u /* without connections */

/* For connections to all peers. */
static void reserve_files(const drail_t *t)
{
    if (!platform_is_simulated(t->job->platform))
        files_reserve(t->nrails * (FILES_OF_RAIL +
                                   FILES_PER_LINK * peers_of(t) * t->cfg.eps));
}

static int rails_open(drail_t *t, drail_error_t *err)
{
    int rc = 0;
    reserve_files(t);
    for (unsigned r = 0; !rc && r < t->nrails; r++)
        rc = rail_open(&t->rails[r], t->names[r], t->env.extensions, err);
    for (unsigned r = 0; !rc && r < t->nrails; r++) {
        rc = rail_limits_check(t, &t->rails[r], err);
        if (!rc)
            depth_lower(t, depth_that_fits(t, &t->rails[r]));
    }
    if (!rc)
        rc = notify_by_check(t, t->cfg.notify_by, err);
    for (unsigned r = 0; !rc && r < t->nrails; r++) {
        struct rail *rail = &t->rails[r];
        rc = rail_listen(rail, peers_of(t) * t->cfg.eps * link_events(rail));
        if (rc)
            error_set(err, rc, "%s", rail->error.text);
    }
    return rc;
}

/*
 * Rank 0 opens its rails before the other ranks. Ranks are mostly alike: if
 * rank 0 fails, the others don't try, and what providers write to stderr
 * appears once. A rank that has failed before takes part, too, so that no other
 * rank waits for it or goes on. *cards becomes the most rails that a rank has.
 */
static int rails_open_first(drail_job_t *job, drail_t *t, int failed,
                            unsigned *cards, drail_error_t *err)
{
    struct {
        int8_t error;
        uint8_t nrails;
    } mine = {(int8_t)failed, failed ? 0 : (uint8_t)t->nrails},
      all[DRAIL_MAX_RANKS];
    if (!failed && job->rank == 0)
        mine.error = (int8_t)rails_open(t, err);
    int rc = drail_job_allgather(job, &mine, sizeof mine, all,
                                 failed ? -1 : t->cfg.timeout_ms);
    *cards = 0;
    if (mine.error)
        return mine.error;
    if (rc)
        return error_set(err, rc, "wait for all ranks: %s", job_why(job, rc));
    for (unsigned rank = 0; rank < job->size; rank++) {
        if (all[rank].error)
            return error_set(err, DRAIL_EPEER, "rank %u has no rails: %s", rank,
                             drail_strerror(all[rank].error));
        *cards = all[rank].nrails > *cards ? all[rank].nrails : *cards;
    }
    return *cards <= DRAIL_MAX_RAILS
               ? 0
               : error_set(err, DRAIL_EINVAL, "a rank has %u rails", *cards);
}

/* The first core for the threads of this rank; see DRAIL_PIN_AUTO. */
static unsigned first_core(const drail_t *t, unsigned cores)
{
    unsigned local = drail_job_local_rank(t->job, t->job->rank);
    unsigned ranks = drail_job_local_size(t->job, t->job->rank);
    if (t->cfg.pin_base != DRAIL_PIN_AUTO)
        return t->cfg.pin_base;
    return ranks * t->nrails <= cores ? local * t->nrails : local;
}

/* Where the rails are in this machine; simulated rails are not in it. */
static void localities_find(drail_t *t)
{
    if (platform_is_simulated(t->job->platform))
        return;
    struct locality *topology = locality_open();
    unsigned first = first_core(t, locality_cores(topology));
    for (unsigned r = 0; r < t->nrails; r++) {
        struct rail *rail = &t->rails[r];
        locality_of(topology, &rail->info);
        if (t->cfg.pin)
            rail->cpu = locality_core(topology, &rail->info, first + r);
    }
    locality_close(topology);
}

static int allocate(drail_t *t)
{
    unsigned size = t->job->size;
    t->rails = alloc_lines(t->nrails * sizeof *t->rails);
    t->peers = calloc(size, sizeof *t->peers);
    t->spare = peer_new(t);
    t->noted = calloc(size / 64 + 1, sizeof *t->noted);
    for (unsigned r = 0; t->rails && r < t->nrails; r++) {
        t->rails[r].owner = t;
        t->rails[r].index = r;
    }
    t->roster = roster_new(size, t->nrails);
    t->unconnected = size - 1;
    bool made = t->rails && t->peers && t->spare && t->noted && t->roster;
    int rc = made ? cache_open(t) : DRAIL_ENOMEM;
    return rc ? rc : timing_open(t);
}

/* The part of opening that needs no other rank. */
static int prepare(drail_t *t, const drail_config_t *cfg, drail_error_t *err)
{
    int rc = settings_load(NULL, &t->env, err);
    if (!rc)
        rc = config_check(cfg, err);
    if (rc)
        return rc;
    spin_init(&t->spin, t->job->platform, SPIN_YIELD_NS,
              t->env.spin_us * 1000ull);
    t->polling = DRAIL_POLLING_ON;
    t->nrails = cfg->nrails;
    t->common = t->measured = all_rails(t);
    for (unsigned r = 0; r < t->nrails; r++) {
        strcpy(t->names[r], cfg->rails[r]);
        t->cfg.rails[r] = t->names[r];
    }
    rc = choices_check(t, cfg->engine, cfg->team, cfg->policy, cfg->fixed_rail,
                       err);
    if (!rc && allocate(t))
        rc = error_set(err, DRAIL_ENOMEM, "out of memory");
    return rc;
}

static drail_t *handle_new(drail_job_t *job, const drail_config_t *cfg)
{
    drail_t *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->job = job;
    t->cfg = *cfg;
    t->last = &t->error;
    t->depth_asked = cfg->depth;
    TAILQ_INIT(&t->soliciting);
    t->handlers = &mailbox_handlers;
    return t;
}

/* Expands "sim:…" to all rails of a simulated node. */
static const drail_config_t *all_simulated(const drail_job_t *job,
                                           const drail_config_t *cfg,
                                           drail_config_t *room)
{
    const struct drail_platform *p = job->platform;
    if (!platform_is_simulated(p) || cfg->nrails != 1 || !cfg->rails[0] ||
        strncmp(cfg->rails[0], "sim:", 4))
        return cfg;
    *room = *cfg;
    room->nrails = p->nrails;
    memcpy(room->rails, p->rails, p->nrails * sizeof *p->rails);
    return room;
}

int drail_open(drail_job_t *job, const drail_config_t *cfg, drail_t **out,
               drail_error_t *err)
{
    drail_config_t simulated;
    if (!job || !cfg || !out)
        return error_set(err, DRAIL_EINVAL, "drail_open: NULL argument");
    cfg = all_simulated(job, cfg, &simulated);
    drail_t *t = handle_new(job, cfg);
    drail_gathered_t *room = wireup_room(job);
    unsigned cards;
    int rc = t && room ? prepare(t, cfg, err)
                       : error_set(err, DRAIL_ENOMEM, "out of memory");
    rc = rails_open_first(job, t, rc, &cards, err);
    if (rc)
        goto out;
    if (job->rank > 0)
        rc = rails_open(t, err);
    rc = wireup_exchange(t, room, cards, rc, err);
    room = NULL;
    if (!rc)
        depth_lower(t, t->cfg.depth);
    if (rc)
        goto out;
    localities_find(t);
    tuners_begin(t);
    route_settle(t);
    transports_attach(job, t, progress_step);
    *out = t;
out:
    drail_gathered_free(room);
    if (rc)
        drail_close(t);
    return rc;
}
