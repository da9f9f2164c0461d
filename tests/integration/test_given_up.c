/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that an abandoned connect leaves to the provider. Stands in for the
 * provider at its own calls, to do what libdaplofa does.
 */
#include "ranks.h"
#include "tests/stand_in.h"

#define CONNECT_MS 2000
#define RAILS      2u

static unsigned eps;     /* that exist */
static bool gone;        /* the provider has taken all requests back */
static bool evd_in_use;  /* EVDs can't be freed */
static bool abrupt;      /* an IA was closed so */
static bool ends_itself; /* an EP would, before the connect's time is up */

STAND_IN DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                                  DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                                  DAT_EVD_HANDLE connect,
                                  const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
    eps++;
    return real(dat_ep_create)(ia, pz, recv, request, connect, attr, ep);
}

STAND_IN DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep)
{
    eps--;
    return real(dat_ep_free)(ep);
}

STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                                   DAT_COUNT bytes, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    ends_itself |= timeout <= CONNECT_MS * 1000;
    return real(dat_ep_connect)(ep, address, qual, timeout, bytes, data, qos,
                                flags);
}

STAND_IN DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask,
                                 DAT_CR_PARAM *param)
{
    return gone ? (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_HANDLE
                : real(dat_cr_query)(cr, mask, param);
}

STAND_IN DAT_RETURN dat_evd_free(DAT_EVD_HANDLE evd)
{
    return evd_in_use ? (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_STATE
                      : real(dat_evd_free)(evd);
}

STAND_IN DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
    abrupt |= flags == DAT_CLOSE_ABRUPT_FLAG;
    return real(dat_ia_close)(ia, flags);
}

/* Rank 0 connects to one that does not. */
static void give_up(struct rank *r)
{
    if (r->rank == 0)
        expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, 1));
    barrier_outside(r);
}

static void connect_and_talk(struct rank *r)
{
    expect(r, 0, drail_connect(r->t, r->peer));
    expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ALL_RAILS, 1));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    barrier(r);
}

/* An EP is freed before the caller hears that there is no connection, so that
 * the peer can't accept its request any more. */
static void nothing_is_left(struct rank *r)
{
    give_up(r);
    check(eps == 0);
    check(!ends_itself);
    connect_and_talk(r);
    check(eps == RAILS || r->rank); /* the peer may have accepted in vain */
}

/* A request whose sender has given up is no request. */
static void requests_that_are_gone(struct rank *r)
{
    gone = true;
    expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, r->peer));
    barrier_outside(r); /* a rank that still asks is not answered */
    gone = false;
    connect_and_talk(r);
}

/* Closing must not end the process. */
static void evd_stays_in_use(struct rank *r)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    take_rails(&cfg, RAILS);
    connect_and_talk(r);
    evd_in_use = true;
    drail_close(r->t);
    check(!abrupt);
    evd_in_use = false;
    check(drail_open(r->job, &cfg, &r->t, NULL) == 0);
    connect_and_talk(r);
}

static void impatient(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->connect_timeout_ms = CONNECT_MS;
}

static const struct test tests[] = {
    {"nothing is left", 2, nothing_is_left, impatient, APART},
    {"requests that are gone", 2, requests_that_are_gone, impatient, APART},
    {"an EVD stays in use", 2, evd_stays_in_use, NULL, APART},
};

RUN_TESTS(tests)
