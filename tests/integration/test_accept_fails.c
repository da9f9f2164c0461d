/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider that does not accept a request, and leaves it with its consumer:
 * whoever asked is told, and asks again; by itself where another rail is up. */
#include "rails_up.h"
#include "standin.h"

static unsigned failures; /* calls that are to fail */

__attribute__((visibility("default"))) DAT_RETURN
dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT bytes,
              const DAT_PVOID data)
{
    __typeof__(&dat_cr_accept) real;
    *(void **)&real = real_call("dat_cr_accept");
    if (failures && failures--)
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    return real(cr, ep, bytes, data);
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
}

static void one_rail(struct rank *r)
{
    failures = r->rank == 1;
    expect(r, 0, drail_connect(r->t, r->peer));
    talk(r);
    await_rails_up(r);
    talk(r);
}

static const struct test tests[] = {
    {"the one who asks is told", 2, asks_again, NULL, APART},
    {"it asks again by itself", 2, one_rail, NULL, APART},
};

RUN_TESTS(tests)
