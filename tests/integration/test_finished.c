/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word that a long message has been read needs no credit: its reader may
 * have spent all of them on what the sender takes only afterwards.
 */
#include "ranks.h"

#define DEPTH 4u
#define BYTES (1u << 16)

static void credits_are_spent(struct rank *r)
{
    static unsigned char buffer[BYTES];
    for (unsigned turn = 1; turn < 20; turn++) {
        if (r->rank == 0) {
            memset(buffer, (int)turn, BYTES);
            expect(r, 0, drail_send(r->t, 1, buffer, BYTES, NULL));
            for (unsigned n = 0; n < DEPTH; n++)
                expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
        } else {
            for (unsigned n = 0; n < DEPTH; n++)
                expect(r, 0, drail_notify(r->t, 0, 0, n));
            expect(r, 0, drail_recv(r->t, 0, buffer, BYTES, NULL, -1));
            check(buffer[0] == turn && buffer[BYTES - 1] == turn);
        }
        barrier(r);
    }
}

static void shallow(drail_config_t *cfg)
{
    cfg->nrails = 1;
    cfg->depth = DEPTH;
    cfg->timeout_ms = 3000;
}

static void threaded(drail_config_t *cfg)
{
    shallow(cfg);
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"no credits left", 2, credits_are_spent, shallow, 0},
    {"no credits left, threaded", 2, credits_are_spent, threaded, 0},
};

RUN_TESTS(tests)
