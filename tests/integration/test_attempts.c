/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of an attempt to connect has 16 bits: after the last one comes
 * the first. Stands in for the provider's call, so that few attempts do.
 */
#include "hello_said.h"

#define EPS 2u

static const uint16_t numbers[] = {30000, 60000, 65535, 0, 1};
#define ATTEMPTS (sizeof numbers / sizeof numbers[0])

static DAT_EP_HANDLE eps[EPS];

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (hello->kind) /* is no attempt */
        return true;
    check(hello->attempt >= 1 && hello->attempt <= ATTEMPTS);
    hello->attempt = numbers[hello->attempt - 1];
    eps[hello->ep] = ep;
    return true;
}

static void end_connection(struct rank *r)
{
    int rc = DRAIL_ETIMEOUT;
    for (unsigned e = 0; r->rank == 0 && e < EPS; e++)
        dat_ep_disconnect(eps[e], DAT_CLOSE_ABRUPT_FLAG);
    for (double begin = seconds(); rc == DRAIL_ETIMEOUT;) {
        rc = drail_notify_wait(r->t, r->peer, NULL, 1);
        check(seconds() - begin < 20);
    }
    expect(r, DRAIL_EPEER, rc);
    barrier(r);
}

static void again(struct rank *r)
{
    for (unsigned n = 0; n < ATTEMPTS; n++) {
        uint32_t id = n + 1;
        expect(r, 0, drail_connect(r->t, r->peer));
        expect(r, 0, drail_notify(r->t, r->peer, 0, n));
        expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
        check(id == n);
        barrier(r);
        end_connection(r);
    }
}

static void several(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    cfg->eps = EPS;
    cfg->connect_timeout_ms = 20000;
}

static const struct test tests[] = {
    {"their numbers begin again", 2, again, several, APART},
};

RUN_TESTS(tests)
