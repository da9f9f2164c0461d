/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What transport and collectives ask of the machine that they run on: time,
 * sleep, threads. A job carries a pointer to one table, all that hangs off the
 * job uses it; a simulator puts its own in the place of the real one. Shared
 * with coll/, not installed.
 *
 * Each hook gets its own table first, so that one who fills in another can put
 * it into a structure of his. All may be called from any thread.
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

    /* Until the clock shows this, or a signal has come. */
    void (*sleep_until)(const struct drail_platform *p, uint64_t ns);
    /*
     * Sleeps while the flag has this value: until it is woken, the clock shows
     * until_ns, or for no reason. Shared: other processes wake it.
     */
    void (*wait)(const struct drail_platform *p, _Atomic uint32_t *flag,
                 uint32_t value, uint64_t until_ns, bool shared);
    /* Wakes all who wait for the flag; its value has been changed before. */
    void (*wake)(const struct drail_platform *p, _Atomic uint32_t *flag,
                 bool shared);
    /* Sets a flag that another core looks at, which sees it in a while, and
     * wakes all who wait for it; and, until all are seen that the caller's rank
     * has set, before their memory goes. NULL: a store does, which is seen. */
    void (*set)(const struct drail_platform *p, _Atomic uint32_t *flag,
                uint32_t value);
    void (*settle)(const struct drail_platform *p);
    /* Between two polls: gives the core away; keeps it. */
    void (*yield)(const struct drail_platform *p);
    void (*relax)(const struct drail_platform *p);

    /*
     * Runs body(arg, i) for i < n, all at the same time, each in a thread that
     * gets no signals. @return 0, or DRAIL_ENOMEM where there are fewer
     * threads: then no body has run.
     */
    int (*threads_start)(const struct drail_platform *p, unsigned n,
                         platform_body_t body, void *arg,
                         struct platform_threads **threads);
    /* Waits until all bodies have returned; frees. */
    void (*threads_join)(const struct drail_platform *p,
                         struct platform_threads *threads);
    /* Fork and join: the same with the calling thread and those of its OpenMP
     * pool. DRAIL_ENOTSUP where there are fewer. */
    int (*threads_run)(const struct drail_platform *p, unsigned n,
                       platform_body_t body, void *arg);

    void (*copy)(const struct drail_platform *p, void *to, const void *from,
                 size_t bytes);
    /* The caller combines two operands in memory, one of which may be where the
     * result goes. NULL: that takes the time that it takes. */
    void (*combine)(const struct drail_platform *p, void *result,
                    const void *left, const void *right, size_t bytes);
    /* Memory of this range has no contents from now on (copies and messages
     * take their time there, and move nothing), or has some again: before it is
     * given back. 0, or DRAIL_ENOMEM: it has them still; or, which has some
     * again, it can't be touched, but unmapped. NULL: all memory has. */
    int (*hollow)(const struct drail_platform *p, void *address, size_t bytes,
                  bool on);

    /* The caller would compute for so long, and doesn't. NULL: it need not
     * pretend. */
    void (*compute)(const struct drail_platform *p, uint64_t ns);

    /* What the rail "sim:…" stands for, where rails are simulated. */
    const char *const *rails;
    unsigned nrails;
    const char *cluster; /* drail_cluster_t.name, NULL: this machine */

    /* drail_job_run, when ranks are anything else than forked processes. NULL:
     * they are, and supervised by the clock of this machine. */
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

/* Are all ranks those of one process, in a time of their own? */
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

/* May data be without contents? */
static inline bool platform_is_hollow(const struct drail_platform *p)
{
    return p->hollow;
}

/* If they are, of a range that such data go through. */
static inline int platform_hollow(const struct drail_platform *p, void *address,
                                  size_t bytes, bool on)
{
    return p->hollow && bytes ? p->hollow(p, address, bytes, on) : 0;
}

/* Of the user's data. */
static inline void platform_copy(const struct drail_platform *p, void *to,
                                 const void *from, size_t bytes)
{
    p->copy(p, to, from, bytes);
}

/* Of the user's data. False: they may be without contents, so there is nothing
 * to be computed. */
static inline bool platform_combine(const struct drail_platform *p,
                                    void *result, const void *left,
                                    const void *right, size_t bytes)
{
    if (p->combine)
        p->combine(p, result, left, right, bytes);
    return !platform_is_hollow(p);
}

#endif
