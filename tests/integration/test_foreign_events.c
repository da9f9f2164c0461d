/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What concerns no connection of ours harms none: an error of an EP that is
 * gone, a request that can't be read, one for an EP that there is not. Stands
 * in for the provider at its own calls.
 */
#include "hello_said.h"

/* In memory that the ranks share. */
static struct {
    _Atomic unsigned rejected; /* requests, by rank 1 */
} * board;

static DAT_EVD_HANDLE async_evd;
static bool broken;     /* an EP of nobody, next */
static bool unreadable; /* requests of rank 0 are */
static bool foreign;    /* so is the EP that rank 0 asks for */
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
    (void)ep;
    (void)qual;
    if (foreign)
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
    unreadable = foreign = false; /* who leaves the barrier first may ask */
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
    foreign = r->rank == 0;
    rejected_once(r);
}

static void one_rail(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    cfg->connect_timeout_ms = 20000;
}

static const struct test tests[] = {
    {"an EP that is gone", 2, ep_that_is_gone, one_rail, 0},
    {"a request that can't be read", 3, can_not_be_read, one_rail, APART},
    {"a request for another EP", 3, another_ep, one_rail, APART},
};

int main(int argc, char **argv)
{
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(board != MAP_FAILED);
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
