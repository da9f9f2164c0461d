/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages somewhat longer than eager ones, whose memory is not registered, go
 * over shared memory in pieces. */
#include <sys/mman.h>

#include "pieces.h"
#include "rails_up.h"

#define SECONDS 2.0

static void both_ways(struct rank *r)
{
    one_way(r, 0, 0);
    barrier(r);
    one_way(r, 1, ROW);
    check(!stats_sum(r).gets);
}

/* All pieces lie in the ring, and those for which it has no room elsewhere,
 * before the peer takes the first one. */
static void to_a_late_peer(struct rank *r)
{
    for (unsigned n = 0; n < 4 * ROW; n++) {
        if (r->rank == 0)
            send_one(r, n);
        barrier_outside(r);
        if (r->rank == 1)
            receive_one(r, n);
        barrier_outside(r);
    }
    check(!stats_sum(r).gets);
}

/* Each message lies at the address of the one before, in other memory. */
static void mapped_anew(struct rank *r)
{
    void *place = NULL;
    for (unsigned n = 0; n < 4 * ROW; n++) {
        if (r->rank == 1) {
            receive_one(r, n);
            continue;
        }
        void *at =
            mmap(place, MOST, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
        check(at != MAP_FAILED);
        place = at;
        fill(at, size_of(n), n);
        expect(r, 0, drail_send(r->t, 1, at, size_of(n), NULL));
        check(!munmap(at, MOST));
    }
    barrier(r);
}

static void by_rendezvous(struct rank *r)
{
    one_way(r, 0, 0);
    barrier(r);
    check(r->rank == 0 || stats_sum(r).gets);
}

/* The connection that carries the pieces breaks while they are on their way. */
static void connections_break(struct rank *r)
{
    bool more = true;
    double end = seconds() + SECONDS;
    for (unsigned first = 0; more; first += ROW) {
        if (r->rank == 0 && is_up(r, 0) && is_up(r, 1))
            cut.left[0] = (unsigned)(rnd(r) % (2 * ROW));
        one_way(r, 0, first);
        one_way(r, 1, first);
        more = seconds() < end || stats_sum(r).failures < 3;
        check(seconds() < end + 30);
        if (r->rank == 0)
            expect(r, 0, drail_send(r->t, 1, &more, sizeof more, NULL));
        else
            expect(r, 0, drail_recv(r->t, 0, &more, sizeof more, NULL, -1));
    }
    cut.left[0] = CUT_NEVER;
    await_rails_up(r);
    barrier(r);
}

static void only_one(drail_config_t *cfg)
{
    use_rails(cfg, "shm0");
}

static void hasty(drail_config_t *cfg)
{
    only_one(cfg);
    cfg->timeout_ms = 1000;
}

/* Pieces would take more than a quarter of the credits. */
static void few_credits(drail_config_t *cfg)
{
    only_one(cfg);
    cfg->depth = 63;
}

static void eager_bytes_set(drail_config_t *cfg)
{
    only_one(cfg);
    cfg->eager_bytes = 8192;
}

static void two(drail_config_t *cfg)
{
    use_rails(cfg, "shm0", "shm1");
}

static const struct test tests[] = {
    {"one rail", 2, both_ways, only_one, 0},
    {"two rails", 2, both_ways, two, 0},
    {"to a late peer", 2, to_a_late_peer, two, 0},
    {"mapped anew", 2, mapped_anew, only_one, 0},
    {"without credits", 2, without_credits, hasty, 0},
    {"too long", 2, too_long, only_one, 0},
    {"without waiting", 2, without_waiting, only_one, 0},
    {"few credits", 2, by_rendezvous, few_credits, 0},
    {"eager bytes set", 2, by_rendezvous, eager_bytes_set, 0},
    {"connections break", 2, connections_break, two, 0},
};

RUN_TESTS_AFTER(cut.direct = true, 1, tests)
