/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes a space. Opening has steps; after each of them the ranks
 * exchange how it went, so that an error of one rank ends all, and no rank
 * waits for one that has failed. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dsm/adopt.h"
#include "dsm/base/enter.h"
#include "dsm/heap_open.h"
#include "dsm/one_host.h"
#include "dsm/pages/handler.h"
#include "dsm/pages/history.h"
#include "dsm/pages/huge.h"
#include "dsm/pages/lock_history.h"
#include "dsm/pages/map.h"
#include "dsm/progress_thread.h"
#include "dsm/reduce.h"
#include "dsm/sync/control.h"
#include "dsm/sync/shared_barrier.h"

/* How a step went on a rank, and the settings that must be equal. */
struct report {
    int rc;
    uint64_t bytes, page_bytes, base, locks, pages;
    bool serves;
    char text[192];
};

/* While a space is opened: room for reports and keys of all ranks. */
struct opening {
    ddsm_t *d;
    struct report *reports;
    drail_key_t *keys;
};

void ddsm_config_init(ddsm_config_t *cfg)
{
    *cfg = (ddsm_config_t){.bytes = (size_t)64 << 20,
                           .page_bytes = (size_t)sysconf(_SC_PAGESIZE),
                           .locks = 64,
                           .ahead = 255,
                           .wait_ms = -1,
                           .serve_us = 50};
}

/* Exchanges the results of a step: the first error of any rank, or 0. */
static int agree_on_result(struct opening *o, int rc)
{
    ddsm_t *d = o->d;
    struct report mine = {.rc = rc,
                          .bytes = d->bytes,
                          .page_bytes = d->cfg.page_bytes,
                          .base = (uintptr_t)d->cfg.base,
                          .locks = d->cfg.locks,
                          .pages = d->cfg.pages,
                          .serves =
                              d->cfg.serves_packs && d->has_progress_thread};
    memcpy(mine.text, d->error.text, sizeof mine.text - 1);
    int told = drail_job_allgather(d->job, &mine, sizeof mine, o->reports, -1);
    if (told)
        return rc ? rc
                  : space_fail(d, told, "%s: %s", drail_strerror(told),
                               drail_job_last_error(d->job));
    for (unsigned r = 0; r < d->size && !rc; r++) {
        struct report *c = &o->reports[r];
        c->text[sizeof c->text - 1] = 0;
        if (c->rc)
            rc = space_fail(d, c->rc, "rank %u: %s", r, c->text);
        else if (c->bytes != mine.bytes || c->page_bytes != mine.page_bytes ||
                 c->base != mine.base || c->locks != mine.locks ||
                 c->pages != mine.pages)
            rc = space_fail(d, DRAIL_EINVAL,
                            "rank %u has %lu bytes of pages of %lu at 0x%lx, "
                            "%lu locks, and "
                            "pages %lu, rank %u other ones",
                            r, (unsigned long)c->bytes,
                            (unsigned long)c->page_bytes,
                            (unsigned long)c->base, (unsigned long)c->locks,
                            (unsigned long)c->pages, d->rank);
    }
    return rc;
}

static int check(ddsm_t *d)
{
    const ddsm_config_t *c = &d->cfg;
    const size_t system = (size_t)sysconf(_SC_PAGESIZE);
    if (c->page_bytes < system || c->page_bytes & (c->page_bytes - 1) ||
        c->page_bytes > (size_t)1 << 30)
        return space_fail(d, DRAIL_EINVAL,
                          "pages of %zu bytes (allowed: powers of two, %zu to "
                          "1 GiB)",
                          c->page_bytes, system);
    if ((uintptr_t)c->base & (c->page_bytes - 1))
        return space_fail(d, DRAIL_EINVAL,
                          "base %p is not a multiple of the page, %zu", c->base,
                          c->page_bytes);
    if (!c->bytes || c->bytes > (size_t)1 << 46 ||
        c->bytes / c->page_bytes >= UINT32_MAX)
        return space_fail(d, DRAIL_EINVAL,
                          "%zu bytes (allowed: 1 to 2^46, and below 2^32 pages "
                          "of %zu)",
                          c->bytes, c->page_bytes);
    if (c->pages > DDSM_PAGES_SHARED)
        return space_fail(d, DRAIL_EINVAL, "pages %d (allowed: 0 and 1)",
                          (int)c->pages);
    if (!c->serve_us)
        return space_fail(d, DRAIL_EINVAL, "serve_us 0 (allowed: from 1 on)");
    if (!c->locks || c->locks > 1u << 20)
        return space_fail(d, DRAIL_EINVAL, "%u locks (allowed: 1 to 2^20)",
                          c->locks);
    d->page_shift = (unsigned)__builtin_ctzl(c->page_bytes);
    d->pages = (c->bytes + c->page_bytes - 1) >> d->page_shift;
    d->bytes = d->pages << d->page_shift;
    return 0;
}

static int tables(ddsm_t *d)
{
    const size_t n = d->size;
    d->page = calloc(d->pages, sizeof *d->page);
    d->cost = calloc(d->pages, sizeof *d->cost);
    d->interval = 1;
    d->huge = calloc(d->bytes / HUGE_BYTES + 1, sizeof *d->huge);
    d->dirty.page = malloc(d->pages * sizeof *d->dirty.page);
    d->written.page = malloc(d->pages * sizeof *d->written.page);
    d->changed.page = malloc(d->pages * sizeof *d->changed.page);
    d->visits.page = malloc(d->pages * sizeof *d->visits.page);
    d->grouped = malloc(d->pages * sizeof *d->grouped);
    d->group = calloc(n + 1, sizeof *d->group);
    for (unsigned use = 0; use < USES; use++)
        d->recorded[use].page = malloc(d->pages * sizeof(uint32_t));
    d->under_recorded.page = malloc(d->pages * sizeof(uint32_t));
    d->pasts = calloc(NAMES, sizeof *d->pasts);
    d->foretold_by = NAMES;
    d->vector_clock = calloc(n, sizeof *d->vector_clock);
    d->unfenced = calloc(n, sizeof *d->unfenced);
    d->held = calloc(d->cfg.locks, sizeof *d->held);
    d->store_keys = calloc(n, sizeof *d->store_keys);
    return d->page && d->cost && d->huge && d->dirty.page && d->written.page &&
                   d->changed.page && d->visits.page && d->grouped &&
                   d->group && d->recorded[USE_FETCH].page &&
                   d->recorded[USE_WRITE].page && d->under_recorded.page &&
                   d->pasts && d->vector_clock && d->unfenced && d->held &&
                   d->store_keys
               ? 0
               : space_fail(d, DRAIL_ENOMEM, "out of memory for %zu pages",
                            d->pages);
}

/* Reserves the view: at rank 0's address on all ranks, or else anywhere. */
static int choose_address(struct opening *o)
{
    ddsm_t *d = o->d;
    uint64_t there = 0, all[d->size];
    bool same = true;
    if (d->rank == 0)
        map_reserve(d, d->cfg.base);
    there = (uintptr_t)d->view;
    int rc = drail_job_allgather(d->job, &there, sizeof there, all, -1);
    if (!rc && d->rank && all[0])
        map_reserve(d, (void *)(uintptr_t)all[0]);
    there = (uintptr_t)d->view;
    if (!rc)
        rc = drail_job_allgather(d->job, &there, sizeof there, all, -1);
    if (rc)
        return space_fail(d, rc, "%s: %s", drail_strerror(rc),
                          drail_job_last_error(d->job));
    for (unsigned r = 0; r < d->size; r++)
        same &= all[r] && all[r] == all[0];
    d->symmetric = same;
    if (!same && d->cfg.base)
        return space_fail(d, DRAIL_EINVAL,
                          "%zu bytes at %p: something else is there, or it is "
                          "more than ulimit -v, on this rank or another",
                          d->bytes, d->cfg.base);
    return d->view || map_reserve(d, NULL)
               ? 0
               : space_fail(d, DRAIL_ENOMEM, "no room for %zu bytes", d->bytes);
}

/* A get after the writer's fence must find what was put: completions must mean
 * delivery. */
static int check_rails(ddsm_t *d)
{
    for (unsigned i = 0; i < drail_nrails(d->t); i++) {
        const drail_rail_info_t *rail = drail_rail_at(d->t, i);
        if (!rail->is_delivering)
            return space_fail(d, DRAIL_ENOTSUP,
                              "rail %s: its completions do not say that data "
                              "have arrived",
                              rail->name);
    }
    return 0;
}

static int open_rails(ddsm_t *d)
{
    drail_config_t config;
    drail_error_t error = {0};
    drail_config_init(&config);
    if (d->cfg.rails)
        config = *d->cfg.rails;
    /* a fault in a parallel region could fork no team */
    if (config.team == DRAIL_TEAM_FORKJOIN)
        config.team = DRAIL_TEAM_RESIDENT;
    int rc = drail_open(d->job, &config, &d->t, &error);
    if (rc)
        return space_fail(d, rc, "%s", error.text);
    drail_set_guard(d->t, &(drail_guard_t){.enter = space_guard_enter,
                                           .leave = space_guard_leave,
                                           .context = d});
    return 0;
}

/* Locks need atomics, also of a rank on its own memory. */
static int check_atomics(ddsm_t *d)
{
    drail_key_t key;
    uint64_t old;
    drail_mem_key(d->control.mem, &key);
    int rc = drail_atomic(d->t, d->rank, DRAIL_FETCH_ADD, &key,
                          d->control.broken_offset, 0, 0, &old);
    return rc ? space_fail_rails(d, rc, "locks need atomics") : 0;
}

static int register_store(ddsm_t *d)
{
    int rc = drail_mem_register(d->t, d->store, d->bytes,
                                DRAIL_ACCESS_REMOTE_READ |
                                    DRAIL_ACCESS_REMOTE_WRITE |
                                    DRAIL_ACCESS_REMOTE_ATOMIC,
                                &d->store_mem);
    return rc ? space_fail_rails(d, rc, "registering the pages") : 0;
}

/* All local steps after the rails are open. */
static int open_memory(ddsm_t *d)
{
    int rc = check_rails(d);
    if (!rc)
        rc = map_open(d);
    if (!rc)
        rc = d->is_shared ? shared_barrier_open(d) : register_store(d);
    if (!rc)
        rc = control_open(d);
    return rc ? rc : check_atomics(d);
}

static int exchange_keys(struct opening *o)
{
    ddsm_t *d = o->d;
    drail_key_t mine[2] = {0};
    if (!d->is_shared)
        drail_mem_key(d->store_mem, &mine[0]);
    drail_mem_key(d->control.mem, &mine[1]);
    int rc = drail_job_allgather(d->job, mine, sizeof mine, o->keys, -1);
    for (unsigned r = 0; r < d->size && !rc; r++) {
        d->store_keys[r] = o->keys[2 * r];
        d->control.keys[r] = o->keys[2 * r + 1];
    }
    return rc ? space_fail(d, rc, "%s: %s", drail_strerror(rc),
                           drail_job_last_error(d->job))
              : 0;
}

/* Now, because a rank that computes answers no request to connect. */
static int connect_all(ddsm_t *d)
{
    int rc = 0;
    for (unsigned i = 1; i < d->size && !rc; i++)
        rc = drail_connect(d->t, (d->rank + i) % d->size);
    return rc ? space_fail_rails(d, rc, "connecting") : 0;
}

static int prepare(ddsm_t *d, const dcoll_call_t *call, dcoll_request_t **out)
{
    int rc = dcoll_init(d->team, call, out);
    return rc ? space_fail(d, rc, "%s", dcoll_last_error(d->team)) : 0;
}

static int open_team(ddsm_t *d)
{
    struct control *c = &d->control;
    const dcoll_reduction_t present = reduce_current_operation(d);
    const dcoll_call_t barrier_request = {.collective = DCOLL_ALLGATHER,
                                          .send = c->arrival,
                                          .recv = c->arrivals,
                                          .bytes = sizeof *c->arrival};
    const dcoll_call_t reduce_request = {.collective = DCOLL_ALLREDUCE,
                                         .send = c->reduce_in,
                                         .recv = c->reduce_out,
                                         .bytes = REDUCE_INLINE_BYTES,
                                         .reduction = &present};
    drail_error_t error = {0};
    const dcoll_call_t meet_request = {.collective = DCOLL_BARRIER};
    int rc = dcoll_team_create(d->job, d->t, NULL, &d->team, &error);
    if (rc)
        return space_fail(d, rc, "%s", error.text);
    rc = prepare(d, &barrier_request, &d->barrier_request);
    if (!rc)
        rc = prepare(d, &meet_request, &d->meet_request);
    return rc ? rc : prepare(d, &reduce_request, &d->reduce_request);
}

/* The progress thread is the last step. */
static void look_who_serves(const struct opening *o)
{
    ddsm_t *d = o->d;
    bool all = true;
    for (unsigned r = 0; r < d->size; r++)
        all &= o->reports[r].serves;
    space_enter(d);
    d->homes_serve = all;
    space_leave(d);
}

static int open_space(struct opening *o)
{
    ddsm_t *d = o->d;
    int rc = check(d);
    if (!rc)
        rc = tables(d);
    rc = agree_on_result(o, rc);
    if (!rc)
        rc = agree_on_result(o, choose_address(o));
    if (!rc)
        rc = agree_on_result(o, open_rails(d));
    if (!rc)
        rc = one_host_open(d);
    if (!rc)
        rc = agree_on_result(o, open_memory(d));
    if (!rc)
        rc = exchange_keys(o);
    if (!rc)
        rc = agree_on_result(o, connect_all(d));
    if (!rc)
        rc = agree_on_result(o, open_team(d));
    if (!rc) {
        rc = handler_add(d, d->view, d->bytes);
        rc = agree_on_result(o, rc ? rc : progress_thread_start(d));
    }
    if (!rc)
        look_who_serves(o);
    return rc;
}

static void free_space(ddsm_t *d)
{
    progress_thread_stop(d);
    handler_remove(d);
    dcoll_team_free(d->team);
    /* before memory is unmapped: a transfer that has not ended may still write
     * there */
    drail_close(d->t);
    control_close(d);
    heap_close(d);
    free(d->unfinished_reduction);
    adopt_give_back(d);
    shared_barrier_close(d);
    map_close(d);
    pthread_mutex_destroy(&d->mutex);
    free(d->page);
    free(d->cost);
    free(d->huge);
    free(d->dirty.page);
    free(d->written.page);
    free(d->changed.page);
    free(d->visits.page);
    free(d->grouped);
    free(d->group);
    for (unsigned use = 0; use < USES; use++)
        free(d->recorded[use].page);
    history_close(d);
    free(d->vector_clock);
    free(d->unfenced);
    lock_history_close(d);
    free(d->held);
    free(d->lock_numbers.number);
    free(d->store_keys);
    free(d);
}

static ddsm_t *new_space(drail_job_t *job, const ddsm_config_t *cfg)
{
    ddsm_t *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    ddsm_config_init(&d->cfg);
    if (cfg)
        d->cfg = *cfg;
    d->job = job;
    d->rank = drail_job_rank(job);
    d->size = drail_job_size(job);
    d->process = getpid();
    d->fd = -1;
    pthread_mutex_init(&d->mutex, NULL);
    return d;
}

/* Have all ranks memory for the reports? Else none can receive them. */
static int check_memory_everywhere(struct opening *o, drail_job_t *job,
                                   drail_error_t *error)
{
    const unsigned size = drail_job_size(job);
    int all[size], mine = o->reports && o->keys ? 0 : DRAIL_ENOMEM;
    int rc = drail_job_allgather(job, &mine, sizeof mine, all, -1);
    *error = (drail_error_t){.code = rc};
    if (rc)
        snprintf(error->text, sizeof error->text, "%s: %s", drail_strerror(rc),
                 drail_job_last_error(job));
    for (unsigned r = 0; r < size && !rc; r++)
        if (all[r]) {
            rc = error->code = all[r];
            snprintf(error->text, sizeof error->text, "rank %u: out of memory",
                     r);
        }
    return rc;
}

int ddsm_open(drail_job_t *job, const ddsm_config_t *cfg, ddsm_t **out,
              drail_error_t *err)
{
    drail_error_t error;
    if (!job || !out)
        return DRAIL_EINVAL;
    struct opening o = {.d = new_space(job, cfg)};
    if (o.d) {
        o.reports = calloc(o.d->size, sizeof *o.reports);
        o.keys = calloc(o.d->size, 2 * sizeof *o.keys);
    }
    int rc = check_memory_everywhere(&o, job, &error);
    if (!rc) {
        rc = open_space(&o);
        error = o.d->error;
    }
    if (rc && o.d)
        free_space(o.d);
    if (rc && err)
        *err = error;
    if (!rc)
        *out = o.d;
    free(o.reports);
    free(o.keys);
    return rc;
}

void ddsm_close(ddsm_t *d)
{
    /* a forked child has none of the memory, and its parent's other threads may
     * have left rails and mutex in any state */
    if (!d || d->process != getpid())
        return;
    if (space_is_inside(d)) /* ddsm_rails_give is missing */
        space_leave(d);
    if (!d->broken)
        adopt_fetch(d);
    /* other ranks may still fetch pages from here */
    drail_job_barrier(d->job, INT_MAX);
    free_space(d);
}
