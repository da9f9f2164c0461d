/* SPDX-License-Identifier: BSD-3-Clause */
/* An atomic that is refused, as its EP has just lost its connection, of which
 * no event has come yet: the sentence says why the rail is lost. Stands in for
 * dat_extension_op(). */
#include <stdarg.h>

#include "dapl_rail/base/dat.h"
#include "memory.h"
#include "ranks.h"
#include "tests/stand_in.h"

static bool refuses;
static DAT_EP_HANDLE refused_by;

STAND_IN DAT_RETURN dat_extension_op(DAT_HANDLE ep, DAT_EXTENDED_OP op, ...)
{
    uint64_t a[8];
    va_list args;
    if (refuses) {
        refused_by = ep;
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_STATE;
    }
    va_start(args, op);
    for (unsigned i = 0; i < 8; i++) /* words, as passed in registers */
        a[i] = va_arg(args, uint64_t);
    va_end(args);
    return real(dat_extension_op)(ep, op, a[0], a[1], a[2], a[3], a[4], a[5],
                                  a[6], a[7]);
}

static const char lost[] = "which is lost: ";

static int add(struct rank *r, const struct memory *m)
{
    uint64_t old;
    return drail_atomic(r->t, 1, DRAIL_FETCH_ADD, &m->keys[1], 0, 1, 0, &old);
}

static void refused(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 8);
    if (r->rank == 0) {
        refuses = true;
        expect(r, DRAIL_EPEER, add(r, &m));
        const char *why = strstr(drail_last_error(r->t), lost);
        check(why && why[strlen(lost)]);
        refuses = false;
        check(dat_ep_disconnect(refused_by, DAT_CLOSE_ABRUPT_FLAG) ==
              DAT_SUCCESS);
    }
    barrier(r);
    memory_close(r, &m);
}

static const struct test tests[] = {
    {"refused by an EP that has gone", 2, refused, NULL, 0},
};

RUN_TESTS(tests)
