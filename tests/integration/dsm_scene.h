/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of the ranks on shared memory, over rails of any kind. */
#ifndef TESTS_DSM_SCENE_H
#define TESTS_DSM_SCENE_H

#include <sys/wait.h>

#include "dsm/ddsm.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define ok(d, call)                                                            \
    check_at(said(d, call), #call " of the shared memory", __FILE__, __LINE__)

static inline bool said(const ddsm_t *d, int rc)
{
    if (rc)
        printf("# rank %u: %s: %s\n", ddsm_rank(d), drail_strerror(rc),
               ddsm_last_error(d));
    return rc == 0;
}

/* Other rails than the default ones. */
static const drail_config_t *space_rails;
static ddsm_pages_t space_pages = DDSM_PAGES_COPIED;
static bool space_serves_packs;

static inline ddsm_t *space(struct rank *r, size_t bytes, unsigned ahead)
{
    ddsm_config_t cfg;
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    ddsm_config_init(&cfg);
    cfg.bytes = bytes;
    cfg.ahead = ahead;
    cfg.rails = space_rails;
    cfg.pages = space_pages;
    cfg.serves_packs = space_serves_packs;
    int rc = ddsm_open(r->job, &cfg, &d, &err);
    if (rc)
        printf("# rank %u: ddsm_open: %s\n", r->rank, err.text);
    check(rc == 0);
    return d;
}

static inline void dawdle(struct rank *r)
{
    r->rng = r->rng * 6364136223846793005u + 1442695040888963407u;
    if (r->rng >> 62 == 0)
        usleep((useconds_t)(r->rng >> 40) % 2000);
}

/* Each rank writes its part, all read all, round after round; the parts end
 * within pages, so several write one. */
static inline void parts(struct rank *r)
{
    enum { N = 30011, ROUNDS = 12 };
    ddsm_t *d = space(r, 1 << 20, r->size % 2 ? 64 : 0);
    const ddsm_place_t place = {.element = 4, .homes = DDSM_CYCLIC};
    uint32_t *a = ddsm_alloc(d, N * sizeof *a, &place);
    unsigned char *b = ddsm_alloc(d, N, NULL);
    check(a && b);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        size_t first, last;
        /* by another rank each time */
        ddsm_part(d, 0, N, &first, &last);
        size_t shift = round * 1000;
        for (size_t i = first; i < last; i++) {
            a[(i + shift) % N] += (uint32_t)(i + shift) % N * round;
            b[(i + shift) % N] = (unsigned char)(i + shift + round);
            if (i % 5000 == 0)
                dawdle(r);
        }
        ok(d, ddsm_barrier(d));
        for (size_t i = 0; i < N; i++) {
            check(a[i] == (uint32_t)i * (round * (round + 1) / 2));
            check(b[i] == (unsigned char)((i < shift % N ? i + N : i) + round +
                                          shift / N * N));
        }
        ok(d, ddsm_barrier(d));
    }
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    const bool copied = r->size > 1 && !ddsm_pages_are_shared(d);
    check(copied == (s.fetched_pages > 0) && copied == (s.diff_bytes > 0));
    check(s.barriers == 2 * ROUNDS);
    ddsm_close(d);
}

/* Single bytes of one page, a neighbour's on either side. */
static inline void bytes_of_one_page(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 16, 64);
    unsigned char *p = ddsm_alloc(d, 4096, NULL);
    for (unsigned round = 1; round < 40; round++) {
        for (size_t i = r->rank; i < 4096; i += r->size)
            p[i] = (unsigned char)(i * round);
        ok(d, ddsm_barrier(d));
        for (size_t i = 0; i < 4096; i++)
            check(p[i] == (unsigned char)(i * round));
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* Counters under locks, and what was written before the lock was given back,
 * also to a third rank by way of another lock. */
static inline void locks(struct rank *r)
{
    enum { LOCKS = 5, TIMES = 150 };
    struct counter {
        uint64_t value, sum;
        char apart[4096 - 16];
        uint32_t trail[1024];
    } * c;
    ddsm_t *d = space(r, 1 << 20, 64);
    c = ddsm_alloc(d, LOCKS * sizeof *c, NULL);
    for (unsigned i = 0; i < TIMES; i++) {
        unsigned l = (i + r->rank) % LOCKS;
        ok(d, ddsm_lock(d, l));
        check(c[l].value == 0 || c[l].trail[(c[l].value - 1) % 1024] ==
                                     (uint32_t)(c[l].value - 1) * 7);
        c[l].trail[c[l].value % 1024] = (uint32_t)c[l].value * 7;
        c[l].value++;
        c[l].sum += i;
        dawdle(r);
        ok(d, ddsm_unlock(d, l));
    }
    ok(d, ddsm_barrier(d));
    uint64_t count = 0, sum = 0;
    for (unsigned l = 0; l < LOCKS; l++) {
        count += c[l].value;
        sum += c[l].sum;
    }
    check(count == (uint64_t)TIMES * r->size);
    check(sum == (uint64_t)r->size * TIMES * (TIMES - 1) / 2);
    ddsm_close(d);
}

/* LeakSanitizer asks this when a process exits. A forked child must not look
 * for leaks: a thread that only its parent has may hold the allocator's locks,
 * which ASan does not take before a fork, and what that thread alone points to
 * seems to be leaked. */
static bool is_forked_child;
int __lsan_is_turned_off(void);
STAND_IN int __lsan_is_turned_off(void)
{
    return is_forked_child;
}

static inline void child_ends(ddsm_t *d, bool closes)
{
    enum { IN_TIME = 20 /* s */ };
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    check(child >= 0);
    if (!child) {
        is_forked_child = true;
        alarm(IN_TIME);
        if (closes)
            ddsm_close(d);
        exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    check(status == 0);
}

/* Children of rank 0 close what they have, or only exit, at any moment of its
 * progress thread; it goes on. */
static inline void children_end(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 16, 0);
    volatile unsigned *p = ddsm_alloc(d, 4096, NULL);
    for (unsigned i = 0; i < 40; i++) {
        if (r->rank == 0)
            child_ends(d, i % 2);
        p[r->rank] = i;
        ok(d, ddsm_barrier(d));
        check(p[1 - r->rank] == i);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

#endif
