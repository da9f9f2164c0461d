/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that concern no connection of this rank harm none: an error of an EP
 * that is gone, a request that can't be read, a request for an EP that does not
 * exist. The test stands in for the provider.
 */
#include "hello_said.h"

/* In memory that the ranks share. */
static struct {
    _Atomic unsigned rejected; /* requests, by rank 1 */
} * board;

static DAT_EVD_HANDLE async_evd;
static bool broken;     /* an EP of nobody, next */
static bool unreadable; /* requests of rank 0 are */
static bool no_such_ep; /* rank 0 asks for an EP that does not exist */
static int nobody;

STAND_IN DAT_RETURN dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT qlen,
                                 DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia,
                                 DAT_UINT32 major, DAT_UINT32 minor,
                                 DAT_BOOLEAN thread_safe)
{
    DAT_RETURN status =
        real(dat_ia_openv)(name, qlen, evd, ia, major, minor, thread_safe);
    async_evd = *evd;
    return status;
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (!broken || evd != async_evd)
        return real(dat_evd_dequeue)(evd, event);
    broken = false;
    memset(event, 0, sizeof *event);
    event->event_number = DAT_ASYNC_ERROR_EP_BROKEN;
    event->event_data.asynch_error_event_data.dat_handle = &nobody;
    return DAT_SUCCESS;
}

STAND_IN DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask,
                                 DAT_CR_PARAM *param)
{
    DAT_RETURN status = real(dat_cr_query)(cr, mask, param);
    struct link_hello hello = {0};
    if (status == DAT_SUCCESS)
        memcpy(&hello, param->private_data, sizeof hello);
    return unreadable && status == DAT_SUCCESS && hello.rank == 0
               ? (DAT_RETURN)DAT_CLASS_ERROR | DAT_INTERNAL_ERROR
               : status;
}

STAND_IN DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT bytes,
                                  const DAT_PVOID data)
{
    board->rejected += !bytes; /* no answer to a knock */
    return real(dat_cr_reject)(cr, bytes, data);
}

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (no_such_ep)
        hello->ep = 1;
    return true;
}

static void talk(struct rank *r, unsigned peer)
{
    expect(r, 0, drail_notify(r->t, peer, 0, 0));
    expect(r, 0, drail_notify_wait(r->t, peer, NULL, -1));
}

static void ep_that_is_gone(struct rank *r)
{
    broken = true;
    for (double begin = seconds(); broken;) { /* until that event is taken */
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 1));
        check(seconds() - begin < 20);
    }
    barrier(r);
    talk(r, r->peer);
    barrier(r);
}

/* Rank 0 is rejected once, while rank 1 speaks with rank 2. */
static void rejected_once(struct rank *r)
{
    if (r->rank == 0)
        expect(r, DRAIL_EPEER, drail_connect(r->t, 1));
    if (r->rank > 0)
        expect(r, 0, drail_connect(r->t, 3 - r->rank));
    for (double begin = seconds(); r->rank == 1 && !board->rejected; nap(1)) {
        check(seconds() - begin < 20);
        expect(r, 0, drail_connect(r->t, 2));
    }
    unreadable = no_such_ep =
        false; /* the rank that leaves the barrier first may ask */
    barrier(r);
    if (r->rank < 2)
        expect(r, 0, drail_connect(r->t, r->peer));
    if (r->rank < 2)
        talk(r, r->peer);
    board->rejected = 0;
}

static void can_not_be_read(struct rank *r)
{
    unreadable = r->rank == 1;
    rejected_once(r);
}

static void another_ep(struct rank *r)
{
    no_such_ep = r->rank == 0;
    rejected_once(r);
}

static void patient(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    cfg->connect_timeout_ms = 20000;
}

static const struct test tests[] = {
    {"an EP that is gone", 2, ep_that_is_gone, patient, 0},
    {"a request that can't be read", 3, can_not_be_read, patient, APART},
    {"a request for another EP", 3, another_ep, patient, APART},
};

RUN_TESTS_AFTER(board = shared_memory(sizeof *board), 1, tests)
