/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider that takes back a request whose sender has given up may use its
 * handle for the next one: that is another request. Stands in for the provider
 * at its own calls: the second request over each rail gets the handle that the
 * first one over the other rail had.
 */
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define RAILS 2u

/* In memory that the ranks share. */
static struct {
    _Atomic unsigned taken; /* requests of rank 0, by rank 1 */
} * board;

static unsigned self;
static bool listens;                 /* rank 1: handles are ours */
static DAT_EVD_HANDLE evds[RAILS];   /* of requests, */
static DAT_CR_HANDLE genuine[RAILS]; /* which they are now, */
static char handles[RAILS];          /* as the library knows them */
static DAT_EVENT kept;
static bool is_kept;

static bool fails; /* rank 0's connect, over all rails */
static DAT_EP_HANDLE eps[RAILS];
static unsigned connects;

static DAT_RETURN dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    return real(dat_evd_dequeue)(evd, event);
}

/* The library gets this handle for the request from now on. */
static void rename_request(DAT_EVENT *event, unsigned handle)
{
    DAT_CR_HANDLE *cr = &event->event_data.cr_arrival_event_data.cr_handle;
    genuine[handle] = *cr;
    *cr = &handles[handle];
}

static unsigned rail_of(DAT_EVD_HANDLE evd)
{
    unsigned r = 0;
    while (r < RAILS && evds[r] && evds[r] != evd)
        r++;
    check(r < RAILS);
    evds[r] = evd;
    return r;
}

/* The provider has the other rail's request already, too. */
static void both_renamed(DAT_EVENT *event, unsigned rail)
{
    double begin = seconds();
    while (dequeue(evds[1 - rail], &kept) != DAT_SUCCESS) {
        check(seconds() - begin < 20);
        nap(1);
    }
    rename_request(&kept, rail);
    rename_request(event, 1 - rail);
    is_kept = true;
}

static void arrived(DAT_EVENT *event)
{
    unsigned rail = rail_of(event->evd_handle);
    if (board->taken++ < RAILS)
        rename_request(event, rail);
    else if (board->taken == RAILS + 1)
        both_renamed(event, rail);
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (is_kept && kept.evd_handle == evd) {
        *event = kept;
        is_kept = false;
        board->taken++;
        return DAT_SUCCESS;
    }
    DAT_RETURN status = dequeue(evd, event);
    if (listens && status == DAT_SUCCESS &&
        event->event_number == DAT_CONNECTION_REQUEST_EVENT)
        arrived(event);
    return status;
}

static DAT_CR_HANDLE genuine_of(DAT_CR_HANDLE cr)
{
    for (unsigned r = 0; r < RAILS; r++)
        if (cr == &handles[r])
            return genuine[r];
    return cr;
}

STAND_IN DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask,
                                 DAT_CR_PARAM *param)
{
    return real(dat_cr_query)(genuine_of(cr), mask, param);
}

STAND_IN DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT bytes,
                                  const DAT_PVOID data)
{
    return real(dat_cr_reject)(genuine_of(cr), bytes, data);
}

STAND_IN DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep,
                                  DAT_COUNT bytes, const DAT_PVOID data)
{
    return real(dat_cr_accept)(genuine_of(cr), ep, bytes, data);
}

static void await_taken(unsigned n)
{
    for (double begin = seconds(); board->taken < n; nap(1))
        check(seconds() - begin < 20);
}

/* A failed connect has been reported. */
STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT us,
                                   DAT_COUNT bytes, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    DAT_RETURN status =
        real(dat_ep_connect)(ep, address, qual, us, bytes, data, qos, flags);
    unsigned rail = connects++ % RAILS;
    if (self == 0)
        eps[rail] = ep;
    if (!fails)
        return status;
    await_taken(rail + 1);
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INTERNAL_ERROR;
}

static void talk(struct rank *r, unsigned peer)
{
    uint32_t id = peer;
    expect(r, 0, drail_notify(r->t, peer, DRAIL_ALL_RAILS, 1));
    expect(r, 0, drail_notify_wait(r->t, peer, &id, -1));
}

/* Rank 0 gives up an attempt, and the next one is answered. */
static void asks(struct rank *r)
{
    expect(r, 0, drail_connect(r->t, 1));
    barrier(r);
    for (unsigned i = 0; i < RAILS; i++)
        dat_ep_disconnect(eps[i], DAT_CLOSE_ABRUPT_FLAG);
    fails = true;
    double begin = seconds();
    while (drail_connect(r->t, 1) == 0) /* not disconnected yet */
        check(seconds() - begin < 20);
    fails = false;
    expect(r, 0, drail_connect(r->t, 1));
    talk(r, 1);
}

/* Rank 1 takes requests while it looks after its connection to rank 2. */
static void is_asked(struct rank *r)
{
    expect(r, 0, drail_connect(r->t, 0));
    expect(r, 0, drail_connect(r->t, 2));
    listens = true;
    barrier(r);
    for (double begin = seconds(); board->taken < 2 * RAILS; nap(1)) {
        expect(r, 0, drail_connect(r->t, 2));
        check(seconds() - begin < 20);
    }
    expect(r, 0, drail_connect(r->t, 0));
    talk(r, 0);
}

static void next_one(struct rank *r)
{
    self = r->rank;
    if (r->rank == 0) {
        asks(r);
    } else if (r->rank == 1) {
        is_asked(r);
    } else {
        expect(r, 0, drail_connect(r->t, 1));
        barrier(r);
    }
}

static void patient(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->connect_timeout_ms = 20000;
}

static const struct test tests[] = {
    {"the next request has its handle", 3, next_one, patient, APART},
};

RUN_TESTS_AFTER(board = shared_memory(sizeof *board), 1, tests)
