/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine's services for transport and collectives: time, sleep, threads,
 * copies. A job has a pointer to one table of hooks, and all that belongs to
 * the job uses it. A simulator replaces the table. Shared with coll/, not
 * installed.
 *
 * Each hook gets its table as first argument: a simulator embeds the table in a
 * structure of its own. All hooks may be called by any thread.
 *
 * In reading order: platform.h, machine.c (this machine), spin.h (polling
 * before sleeping), deadline.h, files.h and resources.h (limits of the
 * process), fnv.h, boot.h, and headers that providers share: long_copy.h,
 * short_copy.h, prefetch.h, resize.h, memfd.h, timens.h.
 */
#ifndef DRAIL_PLATFORM_H
#define DRAIL_PLATFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define PLATFORM_FOREVER UINT64_MAX

typedef void (*platform_body_t)(void *arg, unsigned index);

/* Threads that were started together. */
struct platform_threads;

struct drail_platform {
    /* A clock that never goes back, and the CPU time of the calling thread;
     * nanoseconds. */
    uint64_t (*now_ns)(const struct drail_platform *p);
    uint64_t (*cpu_ns)(const struct drail_platform *p);

    /* Sleeps until the clock shows this, or a signal comes. */
    void (*sleep_until)(const struct drail_platform *p, uint64_t ns);
    /*
     * Sleeps while the flag has this value, until wake() or until_ns; may also
     * return for no reason. shared: other processes call wake().
     */
    void (*wait)(const struct drail_platform *p, _Atomic uint32_t *flag,
                 uint32_t value, uint64_t until_ns, bool shared);
    /* Wakes all threads that wait for the flag, after a change of its value. */
    void (*wake)(const struct drail_platform *p, _Atomic uint32_t *flag,
                 bool shared);
    /* set: sets a flag that another core polls. The core sees it some time
     * later, and threads that wait for it are woken. settle: waits until all
     * flags that this rank has set are seen; before their memory is freed.
     * NULL: a store is enough. */
    void (*set)(const struct drail_platform *p, _Atomic uint32_t *flag,
                uint32_t value);
    void (*settle)(const struct drail_platform *p);
    /* Between two polls: yield gives the core away, relax keeps it. */
    void (*yield)(const struct drail_platform *p);
    void (*relax)(const struct drail_platform *p);

    /*
     * Runs body(arg, i) for i < n at the same time, each in a thread that gets
     * no signals. 0, or DRAIL_ENOMEM if there are fewer threads: then no body
     * has run.
     */
    int (*threads_start)(const struct drail_platform *p, unsigned n,
                         platform_body_t body, void *arg,
                         struct platform_threads **threads);
    /* Waits until all bodies have returned, and frees threads. */
    void (*threads_join)(const struct drail_platform *p,
                         struct platform_threads *threads);
    /* Fork and join: the same with the calling thread and its OpenMP pool.
     * DRAIL_ENOTSUP if there are fewer threads. */
    int (*threads_run)(const struct drail_platform *p, unsigned n,
                       platform_body_t body, void *arg);

    void (*copy)(const struct drail_platform *p, void *to, const void *from,
                 size_t bytes);
    /* The caller combines two operands in memory; one of them may be the
     * result. NULL: real time passes. */
    void (*combine)(const struct drail_platform *p, void *result,
                    const void *left, const void *right, size_t bytes);
    /* on: this range has no contents from now on: copies and messages take
     * their time there and move nothing. Off: it has contents again, before it
     * is freed. DRAIL_ENOMEM: on: nothing has changed; off: the range can only
     * be unmapped. NULL: all memory has contents. */
    int (*hollow)(const struct drail_platform *p, void *address, size_t bytes,
                  bool on);

    /* The caller pretends to compute for so long. NULL: nothing to do. */
    void (*compute)(const struct drail_platform *p, uint64_t ns);

    /* Simulated rails, for which "sim:…" stands; else none. */
    const char *const *rails;
    unsigned nrails;
    const char *cluster; /* drail_cluster_t.name, NULL: this machine */

    /* drail_job_run(), if the platform starts the ranks itself; or NULL. */
    int (*run_ranks)(const struct drail_platform *p,
                     const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                     void *arg);
};

/* This machine. */
extern const struct drail_platform platform_machine;

#pragma GCC visibility push(default)
/* The platform of a job, never NULL. Exported for coll/. */
const struct drail_platform *drail_job_platform(const drail_job_t *job);
#pragma GCC visibility pop

/* Do all ranks run in one process, in virtual time? */
static inline bool platform_is_simulated(const struct drail_platform *p)
{
    return p->nrails != 0;
}

static inline uint64_t platform_now(const struct drail_platform *p)
{
    return p->now_ns(p);
}

static inline void platform_sleep(const struct drail_platform *p, uint64_t ns)
{
    p->sleep_until(p, p->now_ns(p) + ns);
}

/* May data have no contents? */
static inline bool platform_is_hollow(const struct drail_platform *p)
{
    return p->hollow;
}

/* Calls hollow() if data may have no contents. */
static inline int platform_hollow(const struct drail_platform *p, void *address,
                                  size_t bytes, bool on)
{
    return p->hollow && bytes ? p->hollow(p, address, bytes, on) : 0;
}

/* Copies the user's data. */
static inline void platform_copy(const struct drail_platform *p, void *to,
                                 const void *from, size_t bytes)
{
    p->copy(p, to, from, bytes);
}

/* Takes the time to combine the user's data. False: they may have no contents,
 * so the caller computes nothing. */
static inline bool platform_combine(const struct drail_platform *p,
                                    void *result, const void *left,
                                    const void *right, size_t bytes)
{
    if (p->combine)
        p->combine(p, result, left, right, bytes);
    return !platform_is_hollow(p);
}

#endif
