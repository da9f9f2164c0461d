/* SPDX-License-Identifier: BSD-3-Clause */
/* The solicitation of a higher rank is lost, as if too many came at once: it is
 * repeated. */
#include "hello_said.h"

static _Atomic bool *connected; /* rank 1 is; in memory that the ranks share */
static enum { REFUSED, LOST } fate;
static unsigned solicitations; /* of this rank */

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    bool first = hello->kind && hello->rank == 1 && !solicitations;
    solicitations += hello->kind;
    if (first)
        *qual = 1;
    return !first || fate != LOST;
}

static void wait_until_connected(void)
{
    check_within(20, *connected);
}

static void talk(struct rank *r, unsigned peer)
{
    expect(r, 0, drail_notify(r->t, peer, 0, 0));
    expect(r, 0, drail_notify_wait(r->t, peer, NULL, -1));
}

/* Rank 0 does not know that rank 1 wants one: it waits for rank 2. */
static void told_again(struct rank *r)
{
    solicitations = 0;
    if (r->rank == 1) {
        expect(r, 0, drail_connect(r->t, 0));
        check(solicitations > 1);
        *connected = true;
        talk(r, 0);
        return;
    }
    expect(r, 0, drail_connect(r->t, 2 - r->rank));
    if (r->rank == 2)
        wait_until_connected();
    talk(r, 2 - r->rank);
    if (r->rank == 0)
        talk(r, 1);
}

static void refused(struct rank *r)
{
    fate = REFUSED;
    told_again(r);
}

static void lost(struct rank *r)
{
    fate = LOST;
    *connected = false;
    barrier(r);
    told_again(r);
}

static const struct test tests[] = {
    {"refused", 3, refused, NULL, APART},
    {"lost", 3, lost, NULL, APART},
};

RUN_TESTS_AFTER(connected = shared_memory(sizeof *connected), 1, tests)
