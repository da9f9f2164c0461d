/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_moved never falls, also when a connection ends and is made anew. */
#include "memory.h"

#define BYTES  4096u
#define PUTS   100u
#define ROUNDS 3u

static uint64_t grown(const struct rank *r, uint64_t before)
{
    uint64_t now = drail_moved(r->t, r->rank);
    if (now < before)
        printf("# %llu, and before %llu\n", (unsigned long long)now,
               (unsigned long long)before);
    check(now >= before);
    return now;
}

/* Rank 1 refuses an access, which ends the connection. */
static void end_connection(struct rank *r, const struct memory *m)
{
    drail_req_t req;
    drail_key_t wrong = m->keys[r->peer];
    drail_xfer_t x = memory_xfer(r, m, BYTES);
    memset(wrong.rmr_context, 0, sizeof wrong.rmr_context);
    x.remote = &wrong;
    int rc = drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, 0, &req);
    expect(r, DRAIL_EACCESS, rc ? rc : drail_wait(r->t, &req, -1));
}

static void anew(struct rank *r)
{
    struct memory m;
    uint64_t moved = 0;
    memory_open(r, &m, BYTES);
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned n = 0; r->rank == 0 && n < PUTS; n++)
            memory_put(r, &m, BYTES);
        moved = grown(r, moved);
        check(r->rank || moved > PUTS / 2);
        barrier(r);
        if (r->rank == 0)
            end_connection(r, &m);
        else
            expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, -1));
        moved = grown(r, moved);
        barrier(r);
        expect(r, 0, drail_connect(r->t, r->peer));
        moved = grown(r, moved);
    }
    memory_close(r, &m);
}

static const struct test tests[] = {
    {"the connection is made anew", 2, anew, NULL, 0},
};

RUN_TESTS(tests)
