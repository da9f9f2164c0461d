/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails that are a model of wires: each serves its parts in turn, at its rate,
 * and tells of their end some time later. The clock is the test's, so nothing
 * but the policy decides.
 */
#ifndef TESTS_WIRES_H
#define TESTS_WIRES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/tuners.h"
#include "dapl_rail/stripe/tuning/cut.h"

#define RAILS  3          /* at most */
#define WINDOW 64u        /* at most */
#define FAST   0.125      /* bytes/ns: 1000 Mbit/s */
#define SLOW   (FAST / 2) /* 500 Mbit/s */
#define TOLD   30000      /* ns from a part's end until it can be known */

struct part {
    struct timed_message *timed;
    unsigned number; /* of the message */
    size_t bytes;
    uint64_t start, told;
};

/* A wire with the parts that it has yet to tell of. */
struct wire {
    double rate;
    uint64_t free_at;
    struct part parts[WINDOW];
    unsigned head, tail;
    uint64_t carried;
};

static uint64_t now, looks; /* ns between looks for what is told */
static struct wire wires[RAILS];
static unsigned left[WINDOW]; /* parts of each message under way */
static struct rail rails[RAILS];
static drail_t t;

static inline uint64_t now_ns(const struct drail_platform *p)
{
    return now;
}

static const struct drail_platform platform = {.now_ns = now_ns};
static drail_job_t job = {.size = 2, .platform = &platform};

/* Rails of these rates; 0: no such rail. */
static inline void wires_begin(double first, double second, double third,
                               uint64_t look_ns)
{
    unsigned nrails = third > 0 ? 3 : 2;
    now = looks = look_ns;
    memset(wires, 0, sizeof wires);
    memset(left, 0, sizeof left);
    wires[0].rate = first;
    wires[1].rate = second;
    wires[2].rate = third;
    t = (drail_t){.job = &job,
                  .rails = rails,
                  .nrails = nrails,
                  .measured = RAIL_BIT(nrails) - 1,
                  .cfg = {.engine = DRAIL_ENGINE_NONTHREADED,
                          .policy = DRAIL_POLICY_ADAPTIVE,
                          .eps = 1,
                          .stripe_threshold = 8192}};
    assert_int_equal(timing_open(&t), 0);
    tuners_begin(&t);
    route_settle(&t);
}

static inline void wires_end(void)
{
    timing_close(&t);
}

/* The next look after this time. */
static inline uint64_t look_after(uint64_t ns)
{
    return (ns + looks - 1) / looks * looks;
}

static inline void look(void)
{
    for (unsigned r = 0; r < RAILS; r++) {
        struct wire *w = &wires[r];
        for (; w->tail != w->head; w->tail++) {
            struct part *p = &w->parts[w->tail % WINDOW];
            if (p->told > now)
                break;
            if (p->timed)
                timing_part(&t, r, p->timed, p->start, p->bytes, true);
            left[p->number % WINDOW]--;
        }
    }
}

static inline void post(unsigned number, const drail_chunk_t *chunk,
                        struct timed_message *timed)
{
    struct wire *w = &wires[chunk->rail];
    uint64_t from = w->free_at > now ? w->free_at : now;
    w->free_at = from + (uint64_t)((double)chunk->bytes / w->rate);
    w->parts[w->head++ % WINDOW] =
        (struct part){timed, number, chunk->bytes, now, w->free_at + TOLD};
    w->carried += chunk->bytes;
    left[number % WINDOW]++;
}

/* As transfer_cut and transfer_rail do it. */
static inline void put(unsigned number, size_t bytes)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    struct route route = route_next(&t, t.measured, false, bytes, 1);
    int n = cut_message(&t, bytes, &route, chunks);
    struct timed_message *timed =
        route.timed ? timing_start(&t, &route, chunks, n, 1, now) : NULL;
    for (int i = 0; i < n; i++)
        post(number, &chunks[i], timed);
}

static inline void await(unsigned number)
{
    while (left[number % WINDOW]) {
        uint64_t next = UINT64_MAX;
        for (unsigned r = 0; r < RAILS; r++) {
            const struct wire *w = &wires[r];
            uint64_t told = w->parts[w->tail % WINDOW].told;
            if (w->tail != w->head && told < next)
                next = told;
        }
        now = look_after(next > now ? next : now);
        look();
    }
}

/* Rate of so many messages, each of which begins when the window-th before it
 * is complete; bytes/ns. */
static inline double stream(unsigned window, size_t bytes, unsigned messages)
{
    uint64_t start = now;
    for (unsigned r = 0; r < RAILS; r++)
        wires[r].carried = 0;
    for (unsigned i = 0; i < messages + window; i++) {
        if (i >= window)
            await(i - window);
        if (i < messages)
            put(i, bytes);
    }
    return (double)bytes * messages / (double)(now - start);
}

#endif
