/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long message that its reader does not read in time is withdrawn: without a
 * credit left, too, and in the middle of the reading. For that the reader is
 * held up between two rails, by what stands in for the provider's call.
 */
#include "ranks.h"
#include "tests/stand_in.h"

#define DEPTH 4u
#define BYTES (1u << 18)

static _Atomic bool *withdrawn; /* in memory that the ranks share */
static unsigned reads;          /* of this rank */

/* The second read waits until the sender has given up. */
STAND_IN DAT_RETURN dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT n,
                                          DAT_LMR_TRIPLET *local,
                                          DAT_DTO_COOKIE cookie,
                                          const DAT_RMR_TRIPLET *remote,
                                          DAT_COMPLETION_FLAGS flags)
{
    double begin = seconds();
    while (reads == 1 && !*withdrawn && seconds() - begin < 10)
        nap(1);
    reads++;
    return real(dat_ep_post_rdma_read)(ep, n, local, cookie, remote, flags);
}

/* All but one credit are spent on notifications that the reader does not take
 * yet, the last one on the announcement. */
static void no_credit(struct rank *r)
{
    static unsigned char buffer[BYTES];
    for (unsigned turn = 1; turn < 4; turn++) {
        size_t got = 0;
        uint32_t id;
        memset(buffer, r->rank ? 0 : (int)turn, sizeof buffer);
        for (unsigned n = 0; r->rank == 0 && n < DEPTH - 1; n++)
            expect(r, 0, drail_notify(r->t, 1, 0, n));
        if (r->rank == 0)
            expect(r, DRAIL_ETIMEOUT,
                   drail_send(r->t, 1, buffer, sizeof buffer, NULL));
        barrier(r);
        for (unsigned n = 0; r->rank == 1 && n < DEPTH - 1; n++) {
            expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
            check(id == n);
        }
        if (r->rank == 0)
            expect(r, 0, drail_send(r->t, 1, buffer, turn, NULL));
        else
            expect(r, 0, drail_recv(r->t, 0, buffer, sizeof buffer, &got, -1));
        check(r->rank == 0 || (got == turn && buffer[0] == turn));
        barrier(r);
    }
}

static void striped(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
}

/* Only the sender is impatient. */
static void open_again(struct rank *r)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    striped(&cfg);
    cfg.timeout_ms = r->rank ? 20000 : 2000;
    drail_close(r->t);
    check(drail_open(r->job, &cfg, &r->t, NULL) == 0);
    expect(r, 0, drail_connect(r->t, r->peer));
    barrier(r);
}

/* The next contents of the sender's buffer are not received. */
static void half_read(struct rank *r)
{
    static unsigned char buffer[BYTES];
    memset(buffer, r->rank ? 0 : 7, BYTES);
    open_again(r);
    if (r->rank == 0) {
        expect(r, DRAIL_ETIMEOUT, drail_send(r->t, 1, buffer, BYTES, NULL));
        memset(buffer, 8, BYTES);
        *withdrawn = true;
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 1, NULL, 10000));
    } else {
        expect(r, DRAIL_EACCESS, drail_recv(r->t, 0, buffer, BYTES, NULL, -1));
        check(reads == 2);
        for (size_t i = 0; i < BYTES; i++)
            check(buffer[i] != 8);
    }
    expect(r, 0, drail_connect(r->t, r->peer));
    if (r->rank == 0) {
        expect(r, 0, drail_send(r->t, 1, buffer, BYTES, NULL));
    } else {
        expect(r, 0, drail_recv(r->t, 0, buffer, BYTES, NULL, -1));
        check(buffer[0] == 8 && buffer[BYTES - 1] == 8);
    }
}

static void shallow(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    cfg->depth = DEPTH;
    cfg->timeout_ms = 500;
}

static const struct test tests[] = {
    {"no credit left", 2, no_credit, shallow, 0},
    {"in the middle of the reading", 2, half_read, striped, APART},
};

RUN_TESTS_AFTER(withdrawn = shared_memory(sizeof *withdrawn), 1, tests)
