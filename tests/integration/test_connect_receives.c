/* SPDX-License-Identifier: BSD-3-Clause */
/* A new EP does not take all of its receives: drail_connect fails at once, and
 * neither it nor drail_close waits for those that the EP has taken. */
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define SOON 1.2 /* s; less than the time limit of either call */

static unsigned left; /* the call that fails; 0: none */

STAND_IN DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    if (!left || --left)
        return real(dat_ep_post_recv)(ep, n, local, cookie, flags);
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
}

static void fails_in(struct rank *r, unsigned victim)
{
    drail_config_t cfg;
    drail_error_t err;
    drail_t *t;
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    cfg.connect_timeout_ms = 700;
    expect(r, 0, drail_open(r->job, &cfg, &t, &err));
    double begun = seconds();
    left = r->rank == victim ? 2 : 0;
    int rc = drail_connect(t, r->peer);
    drail_close(t);
    if (r->rank == victim) {
        check(rc == DRAIL_ENOMEM && !left);
        check(seconds() - begun < SOON);
    }
}

static void in_rank_0(struct rank *r)
{
    fails_in(r, 0);
}

static void in_rank_1(struct rank *r)
{
    fails_in(r, 1);
}

static const struct test tests[] = {
    {"in rank 0", 2, in_rank_0, NULL, APART},
    {"in rank 1", 2, in_rank_1, NULL, APART},
};

RUN_TESTS(tests)
