/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handle of a transport: all its state hangs off it. In reading order,
 * base/ has limits.h (sizes and units), error.h (codes and sentences),
 * sentence.h (sentences of links and peers), settings.h (environment), alloc.h,
 * dat.h, and this file.
 */
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
    drail_t *next_open; /* see drail_job.open */
    drail_guard_t guard;
    drail_config_t cfg;
    char names[DRAIL_MAX_RAILS][DRAIL_NAME_MAX];
    struct env_settings env;
    struct rail *rails;
    unsigned nrails;
    uint32_t common;       /* rails over which every rank reaches every other */
    uint32_t measured;     /* rails that the tuners compare, see route.h */
    uint64_t id;           /* random, the same on all ranks */
    unsigned depth_asked;  /* by the caller; cfg.depth is what fits */
    struct roster *roster; /* addresses and hosts of all ranks */
    drail_gathered_t *cards; /* from which ranks of one process made it, or NULL
                              */
    struct peer **peers;     /* by rank; NULL: nothing to do with it yet */
    struct peer *spare;      /* for the next one; or NULL */
    struct peer *met;        /* all of them, by next */
    struct peer *sought;     /* peers that are not connected, and some others */
    TAILQ_HEAD(, peer) soliciting;        /* see connect/solicit.h; in order */
    _Atomic uint64_t *noted;              /* by rank, a bit: see note_mark() */
    bool reach_changed;                   /* since reach_measured() */
    const struct link_handlers *handlers; /* of messages that arrive */
    struct cache *cache;
    struct team *team;
    bool parallel; /* the rails belong to several threads, see rail_take */
    bool meeting;  /* attempts to connect are under way */
    bool closing;  /* no attempt begins any more */
    unsigned unconnected;    /* peers */
    unsigned waits;          /* of operations, see progress.c */
    drail_polling_t polling; /* YIELDING: see poll_with_yields(); … */
    unsigned sleeping_waits; /* … but these waits sleep at once */
    uint64_t checked_ns;     /* the last drail_progress that looked for all */
    _Atomic bool interrupted;
    _Atomic bool unsettled; /* a link is lost, or carries messages of one */
    struct spin spin;       /* of the caller, for events */
    unsigned turn;          /* policy roundrobin: number of the next message */
    uint64_t looked_ns;     /* last look for silent links, … */
    uint64_t look_took_ns;  /* … and how long it took */
    struct timing *timing;  /* engine auto, policy adaptive */
    drail_error_t error;
    drail_error_t *_Atomic last; /* the error of the last failure */
};

static inline uint32_t all_rails(const drail_t *t)
{
    return RAIL_BIT(t->nrails) - 1;
}

/* The rail, among these, of engine single and policy fixed, as a bit; the
 * lowest one if fixed_rail is not among them. */
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
