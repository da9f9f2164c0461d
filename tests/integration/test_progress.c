/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drail_progress looks once for all peers and lets everything come;
 * drail_notify_any names the peer; drail_notify_test takes what has come, and
 * nothing else.
 */
#include <limits.h>

#include "ranks.h"

#define RANKS 5
#define EACH  20u

static void take_all(struct rank *r, unsigned next[RANKS])
{
    expect(r, 0, drail_progress(r->t));
    for (unsigned peer = 1; peer < RANKS; peer++) {
        uint32_t id;
        int rc;
        while (!(rc = drail_notify_test(r->t, peer, &id)))
            check(id == peer * EACH + next[peer]++);
        check(rc == DRAIL_EAGAIN);
    }
}

/* The same, but only of peers with a notification. */
static void take_any(struct rank *r, unsigned next[RANKS])
{
    unsigned peer = 0, last = 0;
    uint32_t id;
    int rc;
    expect(r, 0, drail_progress(r->t));
    for (; !(rc = drail_notify_any(r->t, peer, &peer)); peer++) {
        check(peer > last && peer < RANKS);
        last = peer;
        expect(r, 0, drail_notify_test(r->t, peer, &id)); /* one of two */
        check(id == peer * EACH + next[peer]++);
    }
    check(rc == DRAIL_EAGAIN);
}

static void from_each(struct rank *r, void (*take)(struct rank *, unsigned *))
{
    unsigned next[RANKS] = {0}, got = 0;
    if (r->rank) {
        for (unsigned n = 0; n < EACH; n++)
            expect(r, 0, drail_notify(r->t, 0, 0, r->rank * EACH + n));
        return;
    }
    for (time_t end = time(NULL) + 30; got < (RANKS - 1) * EACH;) {
        check(time(NULL) <= end);
        take(r, next);
        got = 0;
        for (unsigned peer = 1; peer < RANKS; peer++)
            got += next[peer];
    }
}

static void from_all(struct rank *r)
{
    from_each(r, take_all);
}

/* None is forgotten, though its mark is from an earlier one. */
static void from_any(struct rank *r)
{
    unsigned peer;
    from_each(r, take_any);
    expect(r, 0, drail_job_barrier(r->job, -1));
    from_each(r, take_any);
    if (!r->rank)
        expect(r, DRAIL_EAGAIN, drail_notify_any(r->t, 0, &peer));
    expect(r, 0, drail_job_barrier(r->job, -1));
}

static void what_is_refused(struct rank *r)
{
    uint32_t id;
    unsigned peer;
    expect(r, DRAIL_EINVAL, drail_notify_any(NULL, 0, &peer));
    expect(r, DRAIL_EINVAL, drail_notify_any(r->t, 0, NULL));
    expect(r, DRAIL_EAGAIN, drail_notify_any(r->t, r->size, &peer));
    expect(r, DRAIL_EAGAIN, drail_notify_any(r->t, UINT_MAX, &peer));
    expect(r, DRAIL_EINVAL, drail_progress(NULL));
    expect(r, DRAIL_EINVAL, drail_notify_test(NULL, r->peer, &id));
    expect(r, DRAIL_EINVAL, drail_notify_test(r->t, r->rank, &id));
    expect(r, DRAIL_EINVAL, drail_notify_test(r->t, r->size, &id));
    expect(r, DRAIL_EAGAIN, drail_notify_test(r->t, r->peer, NULL));
    expect(r, 0, drail_job_barrier(r->job, -1));
}

/* A peer without a connection has sent nothing; asking does not connect. */
static void not_connected(struct rank *r)
{
    uint32_t id;
    expect(r, 0, drail_progress(r->t));
    expect(r, DRAIL_EAGAIN, drail_notify_test(r->t, r->peer, &id));
    expect(r, 0, drail_job_barrier(r->job, -1));
}

static const struct test tests[] = {
    {"from all", RANKS, from_all, NULL, 0},
    {"from any", RANKS, from_any, NULL, 0},
    {"what is refused", 2, what_is_refused, NULL, 0},
    {"not connected", 2, not_connected, NULL, APART},
};

RUN_TESTS(tests)
