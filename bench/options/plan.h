/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations that one run compares, interleaved. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "options.h"

/** Operations x ways to notify x (engine single, and three engines of two teams
 *  or ways to wait with each policy). */
#define PLAN_MAX (3 * 3 * (DRAIL_MAX_RAILS + 3 * 2 * 5))

/** A configuration: how messages go over the rails. */
typedef struct setup {
    op_kind_t op;
    drail_engine_t engine;
    drail_team_t team; /**< threaded only */
    drail_policy_t policy;
    unsigned rail;           /**< policy fixed: the rail */
    drail_waiting_t waiting; /**< if setup_waits() */
    drail_notify_by_t notify_by;
} setup_t;

typedef struct plan {
    setup_t setups[PLAN_MAX];
    unsigned count;
} plan_t;

/**
 * Engine single once on each rail (the base line of the paper, and what the
 * efficiency of the others is measured against); the other engines with every
 * policy, threaded also with every team, nonthreaded with every way to wait;
 * all of it with every operation; puts with every way to notify, of which
 * others know nothing.
 */
void plan_make(plan_t *plan, const options_t *opts);

/** Does a setup use only its one rail? */
bool setup_one_rail(const setup_t *setup);

/** Does one thread wait for several rails? */
bool setup_waits(const setup_t *setup);

/** Index of engine single on @p rail that does and notifies as @p like does,
 *  or -1. */
int plan_single(const plan_t *plan, unsigned rail, const setup_t *like);

/** Names of the rails that a setup uses, joined by '+'. */
void setup_rails(const setup_t *setup, const options_t *opts, char *text,
                 size_t size);

const char *op_name(op_kind_t op);

/** What else tells a setup from others, e.g. "get", "serial+immed"; "" for
 *  what is usual. */
void setup_variant(const setup_t *setup, char *text, size_t size);

/** Short name for people, e.g. "threaded/forkjoin adaptive". */
void setup_label(const setup_t *setup, const options_t *opts, char *text,
                 size_t size);

#endif
