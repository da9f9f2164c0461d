/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of three rails over TCP break at random DTOs of both ends. */
#ifndef TESTS_LOSSES_TCP_H
#define TESTS_LOSSES_TCP_H

#include "failover.h"
#include "over_tcp.h"

#define RAILS   3
#define SECONDS 1
#define LOSSES  3 /* at least, of each end */

/* At one of the next DTOs. The last rail stays, whatever both ends draw. */
static inline void break_something(struct rank *r, unsigned dtos)
{
    unsigned rail = (unsigned)(rnd(r) % (RAILS - 1));
    if (cut.left[rail] != CUT_NEVER)
        return;
    cut.after = rnd(r) % 2;
    cut.left[rail] = (unsigned)(rnd(r) % dtos);
}

/* Until both have lost enough; asked in calls that help the other rank. */
static inline bool goes_on(struct rank *r, double end)
{
    bool mine = seconds() < end || stats_sum(r).failures < LOSSES, other;
    expect(r, 0, drail_send(r->t, r->peer, &mine, sizeof mine, NULL));
    expect(r, 0, drail_recv(r->t, r->peer, &other, sizeof other, NULL, -1));
    return mine || other;
}

/* Nothing breaks any more, and all rails are back. */
static inline void break_no_more(struct rank *r)
{
    for (unsigned i = 0; i < RAILS; i++)
        cut.left[i] = CUT_NEVER;
    await_rails(r);
}

static inline void one(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a");
}

static inline void three(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a", "tcp-b", "tcp-c");
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static inline void threaded(drail_config_t *cfg)
{
    three(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

#endif
