/* SPDX-License-Identifier: BSD-3-Clause */
/* No EP can be created for a lost link: attempts are repeated with backoff, not
 * in each call. */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/conn_request.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/health.h"
#include "dapl_rail/links/failover/reconnect.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

static uint64_t now = 1000 * MS;
static unsigned tries;

static uint64_t now_ns(const struct drail_platform *p)
{
    return now;
}

/* dat_ep_create() has failed */
int ep_open(struct link *link)
{
    tries++;
    return DRAIL_EDAT;
}

void link_lose(struct link *link, int code, const char *format, ...)
{
    assert_int_equal(link->ep.state, EP_NONE); /* does nothing then */
}

struct link_hello hello_of(const struct rail *rail, unsigned ep)
{
    return (struct link_hello){0};
}

DAT_RETURN conn_request_send(DAT_EP_HANDLE ep, const struct rail *rail,
                             unsigned rank, struct link_hello *hello)
{
    return DAT_INTERNAL_ERROR;
}

int dat_fail(struct rail *rail, const char *call, DAT_RETURN status)
{
    return DRAIL_EDAT;
}

DAT_RETURN conn_request_accept(DAT_CR_HANDLE cr, const struct link *link,
                               struct link_hello *answer)
{
    return DAT_INTERNAL_ERROR;
}

struct health link_health(const struct link *link)
{
    return (struct health){0};
}

static void no_ep(void **state)
{
    static const struct drail_platform platform = {.now_ns = now_ns};
    static drail_job_t job = {.platform = &platform};
    static drail_t t = {.job = &job};
    static struct rail rail = {.owner = &t};
    static struct peer peer = {.rank = 1};
    static struct failover failover;
    static struct link link = {.rail = &rail,
                               .peer = &peer,
                               .state = LINK_LOST,
                               .failover = &failover};
    for (unsigned ms = 0; ms < 2000; ms++, now += MS)
        reconnect_step(&link);
    assert_in_range(tries, 8, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_ep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
