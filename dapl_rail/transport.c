/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing the transport of one rank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/base/settings.h"
#include "dapl_rail/cards.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/team.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/transports.h"
#include "dapl_rail/links/failover/outgoing_replay.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/final_counts.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/loopback.h"
#include "dapl_rail/links/failover/loss.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/connect/requests.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/platform/files.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/timing.h"
#include "dapl_rail/stripe/way.h"

/* All that peers may send at once, and costs memory even if they don't. */
#define RECEIVES_MAX  4096u
#define FILES_OF_RAIL 16u  /* without connections */
#define CLOSE_MS      1000 /* for each step of the disconnection, … */
#define HASTE_MS      100  /* … in a job that is over */

static int config_check(const drail_config_t *cfg, drail_error_t *err)
{
    if (cfg->nrails < 1 || cfg->nrails > DRAIL_MAX_RAILS)
        return error_set(err, DRAIL_EINVAL, "%u rails: allowed are 1 to %u",
                         cfg->nrails, DRAIL_MAX_RAILS);
    for (unsigned r = 0; r < cfg->nrails; r++) {
        if (!cfg->rails[r] || !*cfg->rails[r] ||
            strlen(cfg->rails[r]) >= DRAIL_NAME_MAX)
            return error_set(err, DRAIL_EINVAL, "rail %u has no valid name", r);
        for (unsigned q = 0; q < r; q++)
            if (!strcmp(cfg->rails[q], cfg->rails[r]))
                return error_set(err, DRAIL_EINVAL, "rail %s is listed twice",
                                 cfg->rails[r]);
    }
    if (cfg->eps < 1 || cfg->eps > DRAIL_MAX_EPS)
        return error_set(err, DRAIL_EINVAL,
                         "%u EPs per rail: allowed are 1 to %u", cfg->eps,
                         DRAIL_MAX_EPS);
    if (cfg->depth < DEPTH_MIN || cfg->depth > 4096)
        return error_set(err, DRAIL_EINVAL, "depth %u: allowed are 4 to 4096",
                         cfg->depth);
    if (cfg->stripe_align & (cfg->stripe_align - 1))
        return error_set(err, DRAIL_EINVAL,
                         "stripe_align %zu: allowed are 0 and powers of 2",
                         cfg->stripe_align);
    if (cfg->eager_bytes > 1u << 20)
        return error_set(err, DRAIL_EINVAL,
                         "eager_bytes %zu: allowed are 0 to 1M",
                         cfg->eager_bytes);
    double sum = 0;
    for (unsigned r = 0; r < cfg->nrails; r++) {
        sum += cfg->weights[r];
        if (!isfinite(sum) || cfg->weights[r] < 0)
            return error_set(err, DRAIL_EINVAL,
                             "weight of rail %u: must be 0 or more", r);
    }
    if (cfg->waiting > DRAIL_WAITING_SERIAL)
        return error_set(err, DRAIL_EINVAL, "waiting %d is unknown",
                         cfg->waiting);
    if (cfg->timeout_ms < 1 || cfg->connect_timeout_ms < 1)
        return error_set(err, DRAIL_EINVAL, "timeouts must be 1 ms or more");
    return 0;
}

static int choices_check(const drail_t *t, drail_engine_t engine,
                         drail_team_t team, drail_policy_t policy,
                         unsigned fixed_rail, drail_error_t *err)
{
    if (engine > DRAIL_ENGINE_AUTO)
        return error_set(err, DRAIL_EINVAL, "engine %d is unknown", engine);
    if (team > DRAIL_TEAM_FORKJOIN)
        return error_set(err, DRAIL_EINVAL, "team %d is unknown", team);
    if (policy > DRAIL_POLICY_FIXED)
        return error_set(err, DRAIL_EINVAL, "policy %d is unknown", policy);
    if (fixed_rail >= t->nrails)
        return error_set(err, DRAIL_EINVAL, "fixed_rail %u: there are %u rails",
                         fixed_rail, t->nrails);
    return 0;
}

static int notify_by_check(const drail_t *t, drail_notify_by_t by,
                           drail_error_t *err)
{
    if (by > DRAIL_NOTIFY_BY_IMMED)
        return error_set(err, DRAIL_EINVAL, "notify_by %d is unknown", by);
    for (unsigned r = 0; r < t->nrails && by == DRAIL_NOTIFY_BY_IMMED; r++)
        if (!t->rails[r].write_immed)
            return error_set(err, DRAIL_ENOTSUP,
                             "notifications by immediate data: %s has no RDMA "
                             "writes with it%s",
                             t->names[r],
                             t->tuning.extensions ? "" : " (DRAIL_EXTENSIONS)");
    return 0;
}

/* Nothing posted may exceed what the IA offers. */
static int limits_check(const drail_t *t, const struct rail *rail,
                        drail_error_t *err)
{
    unsigned max = rail->info.max_dto;
    if (max && t->depth_asked + spare_receives(t) > max)
        return error_set(err, DRAIL_EINVAL,
                         "depth %u: %s allows %u DTOs per EP", t->depth_asked,
                         rail->info.name, max);
    if (slot_bytes(t) > rail->info.max_message)
        return error_set(err, DRAIL_EINVAL,
                         "eager_bytes %zu: %s sends at most %lu bytes",
                         t->cfg.eager_bytes, rail->info.name,
                         (unsigned long)rail->info.max_message);
    return 0;
}

static unsigned peers_of(const drail_t *t)
{
    return t->job->size > 1 ? t->job->size - 1 : 1;
}

static unsigned requests_of(const struct rail *rail, unsigned depth)
{
    unsigned max = rail->info.max_dto, wanted = depth * REQUESTS_PER_RECEIVE;
    unsigned others = link_carried_requests(rail->owner);
    return max && wanted + others > max ? max - others : wanted;
}

/* Does one EVD hold the DTOs of all peers at this depth, and may all that they
 * send come at once? */
static bool depth_fits(const drail_t *t, const struct rail *rail,
                       unsigned depth)
{
    uint64_t links = (uint64_t)peers_of(t) * t->cfg.eps;
    uint64_t events = requests_of(rail, depth) + depth + spare_receives(t) +
                      link_carried_requests(t);
    unsigned max = rail->info.max_evd_qlen;
    return links * depth <= RECEIVES_MAX && (!max || links * events <= max);
}

/* Where there are many peers, fewer messages are under way to each; where they
 * are too many for that, links are made until the EVD is full. */
static unsigned depth_that_fits(const drail_t *t, const struct rail *rail)
{
    unsigned depth = t->depth_asked;
    while (depth > DEPTH_MIN && !depth_fits(t, rail, depth))
        depth--;
    return depth;
}

/* The depth becomes this, if it is less than before. */
static void depth_lower(drail_t *t, unsigned depth)
{
    if (depth < t->cfg.depth)
        t->cfg.depth = depth;
    for (unsigned r = 0; r < t->nrails; r++)
        t->rails[r].request_depth = requests_of(&t->rails[r], t->cfg.depth);
}

/* Of connections to all peers: sockets, and what tells of their ends. */
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
        rc = rail_open(&t->rails[r], t->names[r], t->tuning.extensions, err);
    for (unsigned r = 0; !rc && r < t->nrails; r++) {
        rc = limits_check(t, &t->rails[r], err);
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
 * Rank 0's. Ranks are alike: where it can't open its rails, the others don't
 * try, and what providers write to stderr is written once. Takes part also when
 * this rank has failed already: nobody is to wait for it, and none goes on.
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
        return error_set(err, rc, "wait for all ranks: %s", drail_strerror(rc));
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

/* Which cores the threads of this rank take; see DRAIL_PIN_AUTO. */
static unsigned first_core(const drail_t *t, unsigned cores)
{
    unsigned local = drail_job_local_rank(t->job, t->job->rank);
    unsigned ranks = drail_job_local_size(t->job, t->job->rank);
    if (t->cfg.pin_base != DRAIL_PIN_AUTO)
        return t->cfg.pin_base;
    return ranks * t->nrails <= cores ? local * t->nrails : local;
}

/* Simulated rails are not of this machine. */
static void places_find(drail_t *t)
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
    t->noted = calloc(size / 64 + 1, sizeof *t->noted);
    for (unsigned r = 0; t->rails && r < t->nrails; r++) {
        t->rails[r].owner = t;
        t->rails[r].index = r;
    }
    t->roster = roster_new(size, t->nrails);
    t->unconnected = size - 1;
    bool made = t->rails && t->peers && t->noted && t->roster;
    int rc = made ? cache_open(t) : DRAIL_ENOMEM;
    return rc ? rc : timing_open(t);
}

/* What can be done, and fail, without the other ranks. */
static int prepare(drail_t *t, const drail_config_t *cfg, drail_error_t *err)
{
    int rc = settings_load(NULL, &t->tuning, err);
    if (!rc)
        rc = config_check(cfg, err);
    if (rc)
        return rc;
    spin_init(&t->spin, t->job->platform, SPIN_YIELD_NS,
              t->tuning.spin_us * 1000ull);
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

/* "sim:…" stands for all rails of a simulated node. */
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
    drail_gathered_t *room = cards_room(job);
    unsigned cards;
    int rc = t && room ? prepare(t, cfg, err)
                       : error_set(err, DRAIL_ENOMEM, "out of memory");
    rc = rails_open_first(job, t, rc, &cards, err);
    if (rc)
        goto out;
    if (job->rank > 0)
        rc = rails_open(t, err);
    rc = cards_exchange(t, room, cards, rc, err);
    room = NULL;
    if (!rc)
        depth_lower(t, t->cfg.depth);
    if (rc)
        goto out;
    places_find(t);
    timing_begin(t);
    way_settle(t);
    transports_attach(job, t, progress_step);
    *out = t;
out:
    drail_gathered_free(room);
    if (rc)
        drail_close(t);
    return rc;
}
static bool link_ended(struct link *link)
{
    return link->state != LINK_UP;
}

/* What is under way is complete, and the peer knows what is. */
static bool link_closable(struct link *link)
{
    return !link->peer->connected || (link_settled(link) && loss_told(link));
}

static bool final_counts_sent(struct link *link)
{
    return carrier_idle(link);
}

static void links_await(drail_t *t, bool (*reached)(struct link *link))
{
    progress_until(t, reached, NULL, UINT32_MAX,
                   drail_job_interrupted(t->job) ? HASTE_MS : CLOSE_MS);
}

/* What has been posted arrives: for as long as it does, and the timeout. */
static int await_delivery(drail_t *t)
{
    struct patience p = {.t = t, .timeout_ms = t->cfg.timeout_ms}, anew = p;
    uint64_t before = drail_moved(t, t->job->rank);
    while (!progress_until(t, link_closable, NULL, UINT32_MAX, TURN_MS)) {
        uint64_t completed = drail_moved(t, t->job->rank);
        if (completed != before)
            p = anew;
        before = completed;
        int rc = patience_check(&p);
        if (rc)
            return rc;
    }
    return 0;
}

/* Ends the connections. Verbs providers cut off what is under way, also when
 * asked to disconnect gracefully, so all of it must be complete before. 0, or
 * why it is not. */
static int disconnect(drail_t *t)
{
    struct link *link;
    struct peer *peer;
    t->closing = true;
    for (peer = t->met; peer; peer = peer->next) {
        solicit_end(peer);
        requests_reject(peer);
    }
    int rc = await_delivery(t);
    for (peer = t->met; peer; peer = peer->next)
        if (peer->connected)
            final_counts_send(peer);
    links_await(t, final_counts_sent);
    for (peer = t->met; peer; peer = peer->next)
        peer->ending = true;
    for (peer = t->met; peer; peer = peer->next)
        for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
            if (link->ep.state == EP_UP) {
                dat_ep_disconnect(link->ep.handle, DAT_CLOSE_GRACEFUL_FLAG);
                rail_catch_up(link->rail); /* its receives are flushed */
            }
    links_await(t, link_ended);
    for (peer = t->met; peer; peer = peer->next) /* whose end is gone */
        for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
            link_down(link, DRAIL_EPEER, "closed");
    links_await(t, link_drained);
    return rc;
}

int drail_close(drail_t *t)
{
    int rc = 0;
    if (!t)
        return 0;
    transports_detach(t->job, t);
    team_close(t);
    if (t->peers && t->rails) {
        rc = disconnect(t);
        for (struct peer *peer = t->met; peer; peer = peer->next)
            peer_free(peer);
        links_await(t, NULL); /* those of attempts before, too */
        for (unsigned r = 0; r < t->nrails; r++)
            links_bury(&t->rails[r], true);
    }
    for (unsigned r = 0; t->rails && r < t->nrails; r++)
        loopback_close(&t->rails[r]);
    regions_free(t);
    for (unsigned r = 0; t->rails && r < t->nrails; r++)
        rail_close(&t->rails[r]);
    free(t->rails);
    for (struct peer *next; t->met; t->met = next) {
        next = t->met->next;
        sentence_free(&t->met->refused);
        free(t->met);
    }
    free(t->peers);
    free(t->noted);
    cards_forget(t);
    timing_close(t);
    free(t);
    return rc;
}

void drail_interrupt(drail_t *t)
{
    atomic_store_explicit(&t->interrupted, true, memory_order_relaxed);
}

unsigned drail_nrails(const drail_t *t)
{
    return t->nrails;
}

const drail_rail_info_t *drail_rail_at(const drail_t *t, unsigned index)
{
    return index < t->nrails ? &t->rails[index].info : NULL;
}

const drail_config_t *drail_config_of(const drail_t *t)
{
    return &t->cfg;
}

int drail_set_engine(drail_t *t, drail_engine_t engine, drail_team_t team)
{
    int rc = choices_check(t, engine, team, t->cfg.policy, t->cfg.fixed_rail,
                           &t->error);
    if (rc) {
        t->last = &t->error;
        return rc;
    }
    t->cfg.engine = engine;
    t->cfg.team = team;
    timing_team(t);
    way_settle(t);
    return 0;
}

int drail_set_policy(drail_t *t, drail_policy_t policy, const double *weights,
                     unsigned fixed_rail)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    int rc = choices_check(t, t->cfg.engine, t->cfg.team, policy, fixed_rail,
                           &t->error);
    if (!rc && weights) {
        drail_stripe_t probe = {.policy = DRAIL_POLICY_WEIGHTED,
                                .nrails = t->nrails,
                                .weights = weights};
        if (drail_stripe(&probe, 1, chunks) < 0)
            rc = error_set(&t->error, DRAIL_EINVAL,
                           "weights must be 0 or more and not all 0");
    }
    if (rc) {
        t->last = &t->error;
        return rc;
    }
    t->cfg.policy = policy;
    t->cfg.fixed_rail = fixed_rail;
    if (weights) {
        memcpy(t->cfg.weights, weights, t->nrails * sizeof *weights);
        timing_reset(t);
    }
    way_settle(t);
    return 0;
}

int drail_set_waiting(drail_t *t, drail_waiting_t waiting)
{
    if (waiting > DRAIL_WAITING_SERIAL)
        return fail(t, DRAIL_EINVAL, "waiting %d is unknown", waiting);
    t->cfg.waiting = waiting;
    return 0;
}

int drail_set_notify_by(drail_t *t, drail_notify_by_t by)
{
    int rc = notify_by_check(t, by, &t->error);
    if (rc) {
        t->last = &t->error;
        return rc;
    }
    t->cfg.notify_by = by;
    return 0;
}
