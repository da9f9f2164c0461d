/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle of a transport: everything hangs off it. */
#ifndef DRAIL_HANDLE_H
#define DRAIL_HANDLE_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/settings.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/platform/spin.h"

struct cache;
struct link_handlers;
struct peer;
struct rail;
struct roster;
struct team;
struct timing;

struct drail {
    drail_job_t *job;
    drail_t *next_open; /* of the job's */
    drail_guard_t guard;
    drail_config_t cfg;
    char names[DRAIL_MAX_RAILS][DRAIL_NAME_MAX];
    struct tuning tuning;
    struct rail *rails;
    unsigned nrails;
    uint32_t common;       /* rails over which every rank reaches every other */
    uint32_t measured;     /* rails whose ways are compared, see way.h */
    uint64_t id;           /* random, the same on all ranks */
    unsigned depth_asked;  /* cfg.depth is what fits */
    struct roster *roster; /* what is known of all ranks, … */
    drail_gathered_t *cards; /* … and of what, where they share it; or NULL */
    struct peer **peers;     /* by rank; NULL: not met yet */
    struct peer *met;        /* all of them, by next */
    struct peer *sought;     /* those that are not connected, and some others */
    TAILQ_HEAD(, peer) soliciting; /* see connect/solicit.h; in order */
    _Atomic uint64_t *noted;     /* by rank, a bit: see note_mark() */
    bool reach_changed;          /* since reach_measured() */
    const struct link_handlers *handlers; /* of what arrives */
    struct cache *cache;
    struct team *team;
    bool parallel; /* the rails belong to several threads, see rail_take */
    bool meeting;  /* some attempts to connect are under way, */
    bool closing;  /* and none begins any more */
    unsigned unconnected; /* peers */
    unsigned waits;       /* of operations, see progress.c */
    uint64_t checked_ns;  /* the last drail_progress that looked for all */
    _Atomic bool interrupted;
    _Atomic bool unsettled; /* a link is lost, or has to do with one that is */
    struct spin spin;       /* of the caller, for events */
    unsigned turn;          /* roundrobin */
    uint64_t looked_ns;     /* for links that are silent, … */
    uint64_t look_took_ns;  /* … which took so long */
    struct timing *timing;  /* auto, adaptive */
    drail_error_t error;
    drail_error_t *_Atomic last; /* that of the last failure */
};

static inline uint32_t all_rails(const drail_t *t)
{
    return RAIL_BIT(t->nrails) - 1;
}

/* The rail that engine single and policy fixed take of these, as a bit: where
 * that is not among them, the lowest. */
static inline uint32_t fixed_rail(const drail_t *t, uint32_t rails)
{
    uint32_t fixed = rails & RAIL_BIT(t->cfg.fixed_rail);
    return fixed ? fixed : rails & -rails;
}

static inline int timeout_or(const drail_t *t, int timeout_ms)
{
    return timeout_ms < 0 ? t->cfg.timeout_ms : timeout_ms;
}

#endif
