/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider that does not accept a request, and leaves it with its consumer,
 * or frees it, as libdaplofa does: the asking rank is told, and asks again; by
 * itself where another rail is up. */
#include "rails_up.h"
#include "ranks.h"
#include "tests/stand_in.h"

static unsigned failures;   /* calls that are to fail */
static bool frees;          /* the request is gone then, … */
static DAT_CR_HANDLE freed; /* … and nobody may use it */
static unsigned used_freed;

STAND_IN DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT bytes,
                                  const DAT_PVOID data)
{
    if (!freed || cr != freed)
        return real(dat_cr_reject)(cr, bytes, data);
    used_freed++;
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_HANDLE;
}

STAND_IN DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep,
                                  DAT_COUNT bytes, const DAT_PVOID data)
{
    if (!failures) {
        freed = DAT_HANDLE_NULL; /* the handle may have come again */
        return real(dat_cr_accept)(cr, ep, bytes, data);
    }
    failures--;
    if (!frees)
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    freed = DAT_HANDLE_NULL;
    dat_cr_reject(cr, 0, NULL);
    freed = cr;
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
}

static void talk(struct rank *r)
{
    expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ALL_RAILS, 0));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
}

static void asks_again(struct rank *r)
{
    failures = r->rank == 1 ? 2 : 0;
    if (r->rank == 0) {
        expect(r, DRAIL_EPEER, drail_connect(r->t, 1));
        check(strstr(drail_last_error(r->t), "rejected"));
    }
    expect(r, 0, drail_connect(r->t, r->peer));
    talk(r);
    check(!failures);
    check(!used_freed);
}

static void freed_with_it(struct rank *r)
{
    frees = true;
    asks_again(r);
}

static void one_fails(struct rank *r)
{
    failures = r->rank == 1;
    expect(r, 0, drail_connect(r->t, r->peer));
    talk(r);
    await_rails_up(r);
    talk(r);
}

static const struct test tests[] = {
    {"the one who asks is told", 2, asks_again, NULL, APART},
    {"the request is gone", 2, freed_with_it, NULL, APART},
    {"it asks again by itself", 2, one_fails, NULL, APART},
};

RUN_TESTS(tests)
