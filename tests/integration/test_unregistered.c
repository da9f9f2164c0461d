/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of memory that is not registered: up to 128 KB they go over shared
 * memory without a registration. */
#include "failover.h"

#define MOST  131072u
#define EAGER 8192u
#define ROW   20u

static unsigned char bytes[MOST + 1];

static uint64_t registrations(const struct rank *r)
{
    drail_cache_stats_t stats;
    drail_cache_stats(r->t, &stats);
    return stats.misses;
}

/* From rank 0 to rank 1. */
static void pass(struct rank *r, size_t length, unsigned id, drail_mem_t *mem)
{
    size_t got;
    if (r->rank == 0) {
        fill(bytes, length, id);
        expect(r, 0, drail_send(r->t, 1, bytes, length, mem));
    } else {
        memset(bytes, 0, length);
        expect(r, 0, drail_recv(r->t, 0, bytes, sizeof bytes, &got, -1));
        check(got == length);
        verify(bytes, length, id);
    }
}

static void without_registration(struct rank *r)
{
    static const size_t sizes[] = {4096,      4097,  6000,     EAGER - 1, EAGER,
                                   EAGER + 1, 65536, MOST - 1, MOST};
    uint64_t before = registrations(r);
    for (unsigned n = 0; n < ROW * sizeof sizes / sizeof *sizes; n++)
        pass(r, sizes[n / ROW], n, NULL);
    check(registrations(r) == before);
    check(!stats_sum(r).gets);
}

static void longer_ones(struct rank *r)
{
    uint64_t before = registrations(r);
    pass(r, MOST + 1, 0, NULL);
    check(registrations(r) > before);
    barrier(r);
    check(r->rank == 0 || stats_sum(r).gets);
}

static void registered_ones(struct rank *r)
{
    drail_mem_t *mem;
    expect(r, 0,
           drail_mem_register(r->t, bytes, sizeof bytes,
                              DRAIL_ACCESS_REMOTE_READ, &mem));
    pass(r, EAGER, 0, mem);
    check(!stats_sum(r).gets);
    pass(r, EAGER + 1, 0, mem);
    check(r->rank == 0 || stats_sum(r).gets);
    barrier(r);
    drail_mem_release(mem);
}

static void two_rails(drail_config_t *cfg)
{
    take_rails(cfg, 2);
}

static const struct test tests[] = {
    {"without a registration", 2, without_registration, one_rail, 0},
    {"without, two rails", 2, without_registration, two_rails, 0},
    {"longer ones", 2, longer_ones, one_rail, 0},
    {"registered ones", 2, registered_ones, one_rail, 0},
};

RUN_TESTS(tests)
