/* SPDX-License-Identifier: BSD-3-Clause */
/* A request is kept until the earlier link of its lane has ended. Its sender
 * may give it up meanwhile and send another: a request that the provider has
 * taken back does not block the next one. */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/connect/requests.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/failover/reconnect.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

/* Of the provider. */
struct request {
    struct link_hello hello;
    bool come, taken_back, accepted, rejected;
};

static struct request requests[2];
static struct rail rail;
static struct link before, after;
static struct peer *peer;
static drail_job_t job = {.rank = 1, .size = 2};

static drail_t t = {
    .job = &job, .rails = &rail, .nrails = 1, .cfg = {.eps = 1}};

DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    for (unsigned i = 0; i < 2; i++) {
        if (!requests[i].come)
            continue;
        requests[i].come = false;
        event->event_data.cr_arrival_event_data.cr_handle = &requests[i];
        return DAT_SUCCESS;
    }
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
}

DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask,
                        DAT_CR_PARAM *param)
{
    struct request *r = (struct request *)cr;
    if (r->taken_back || r->accepted || r->rejected)
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_HANDLE;
    param->private_data = &r->hello;
    param->private_data_size = sizeof r->hello;
    return DAT_SUCCESS;
}

DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT bytes,
                         const DAT_PVOID data)
{
    ((struct request *)cr)->accepted = true;
    return DAT_SUCCESS;
}

DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT bytes,
                         const DAT_PVOID data)
{
    ((struct request *)cr)->rejected = true;
    return DAT_SUCCESS;
}

bool hello_read(const struct rail *of, const void *data, DAT_COUNT bytes,
                struct link_hello *hello)
{
    memcpy(hello, data, sizeof *hello);
    return true;
}

struct link_hello hello_of(const struct rail *of, unsigned ep)
{
    return (struct link_hello){0};
}

void roster_address(const struct roster *r, unsigned rank, unsigned rail_at,
                    struct sockaddr_storage *address, DAT_CONN_QUAL *qual)
{
}

struct peer *peer_meet(drail_t *of, unsigned rank)
{
    return peer;
}

int connect_links(struct peer *to)
{
    to->lanes[0].link = &after;
    return 0;
}

int ep_open(struct link *link)
{
    assert_ptr_equal(link, &after);
    return 0;
}

void link_lose(struct link *link, int code, const char *format, ...)
{
}

/* The test ends it. */
void link_down(struct link *link, int code, const char *format, ...)
{
}

bool reconnect_accept(struct rail *of, DAT_CR_HANDLE cr, struct peer *from,
                      const struct link_hello *hello)
{
    return false;
}

void reconnect_await(struct link *link)
{
}

void rail_check(struct rail *of)
{
}

void peer_free(struct peer *of)
{
}

void solicit_reject(const struct rail *of, DAT_CR_HANDLE cr)
{
}

int dat_fail(struct rail *of, const char *call, DAT_RETURN status)
{
    return DRAIL_EDAT;
}

static void comes(unsigned i)
{
    requests[i] = (struct request){
        .hello = {.rank = 0, .attempt = 1, .rails = RAIL_BIT(0)}, .come = true};
    requests_take(&t);
}

/* A link of an earlier attempt is in its place. */
static int begin(void **state)
{
    rail = (struct rail){.owner = &t};
    before = (struct link){.state = LINK_DOWN};
    memset(requests, 0, sizeof requests);
    peer = calloc(1, sizeof *peer + sizeof *peer->lanes);
    if (!peer)
        return -1;
    peer->owner = &t;
    peer->connected = true;
    peer->inside = RAIL_BIT(0);
    peer->lanes[0].link = &before;
    comes(0);
    return 0;
}

static int end(void **state)
{
    free(peer);
    return 0;
}

static void link_ends(void)
{
    peer->lanes[0].link = NULL;
    requests_resume(peer);
}

static void waits(void **state)
{
    assert_true(requests_waiting(peer));
    link_ends();
    assert_true(requests[0].accepted);
    assert_ptr_equal(peer->lanes[0].link, &after);
}

static void the_next_is_too_many(void **state)
{
    comes(1);
    assert_true(requests[1].rejected);
    link_ends();
    assert_true(requests[0].accepted);
}

static void but_not_after_one_that_is_gone(void **state)
{
    requests[0].taken_back = true;
    comes(1);
    assert_false(requests[1].rejected);
    link_ends();
    assert_false(requests[0].accepted);
    assert_true(requests[1].accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(waits, begin, end),
        cmocka_unit_test_setup_teardown(the_next_is_too_many, begin, end),
        cmocka_unit_test_setup_teardown(but_not_after_one_that_is_gone, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
