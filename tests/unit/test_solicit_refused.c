/* SPDX-License-Identifier: BSD-3-Clause */
/* A solicitation that a provider refuses is repeated some times, however many
 * were not answered before: while a peer computes, its queue of requests may be
 * full.
 */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/conn_request.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"

#define TRIES 4

static uint64_t now;
static struct rail rail;
static struct peer peer;

static uint64_t now_ns(const struct drail_platform *p)
{
    return now;
}

static const struct drail_platform platform = {.now_ns = now_ns};
static drail_job_t job = {.rank = 1, .size = 2, .platform = &platform};
static drail_t t = {.job = &job, .rails = &rail, .nrails = 1};

DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                         DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                         DAT_EVD_HANDLE conn, const DAT_EP_ATTR *attr,
                         DAT_EP_HANDLE *ep)
{
    *ep = &peer;
    return DAT_SUCCESS;
}

DAT_RETURN conn_request_send(DAT_EP_HANDLE ep, const struct rail *over,
                             unsigned rank, struct link_hello *hello)
{
    return DAT_SUCCESS;
}

DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
    return DAT_SUCCESS;
}

DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep)
{
    return DAT_SUCCESS;
}

struct link_hello hello_of(const struct rail *of, unsigned ep)
{
    return (struct link_hello){0};
}

bool hello_read(const struct rail *of, const void *data, DAT_COUNT bytes,
                struct link_hello *hello)
{
    *hello = (struct link_hello){0};
    return true;
}

int dat_fail(struct rail *of, const char *call, DAT_RETURN status)
{
    return DRAIL_EDAT;
}

static int begin(void **state)
{
    now = 1000 * MS;
    rail = (struct rail){.owner = &t};
    TAILQ_INIT(&t.soliciting);
    sentence_free(&peer.refused);
    peer = (struct peer){.owner = &t, .rails = 1};
    return 0;
}

static void solicit_now(void)
{
    assert_int_equal(solicit(&peer), 0);
    if (!peer.solicit.ep) {
        now = peer.solicit.due_ns;
        assert_int_equal(solicit(&peer), 0);
    }
    assert_non_null(peer.solicit.ep);
}

static void told(DAT_EVENT_NUMBER number)
{
    DAT_EVENT event = {.event_number = number};
    event.event_data.connect_event_data.ep_handle = peer.solicit.ep;
    solicit_answered(&rail, &event, "nobody listens");
}

static void not_answered(void)
{
    solicit_now();
    now = peer.solicit.due_ns;
    assert_true(solicit_expire(&peer));
}

static void refused(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        solicit_now();
        told(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
}

static void in_the_end(void **state)
{
    refused(TRIES - 1);
    assert_int_equal(peer.error, 0);
    refused(1);
    assert_int_equal(peer.error, DRAIL_EPEER);
    assert_true(peer.attempt.absent);
}

static void not_counting_silence(void **state)
{
    for (unsigned i = 0; i < TRIES; i++)
        not_answered();
    refused(TRIES - 1);
    assert_int_equal(peer.error, 0);
    refused(1);
    assert_int_equal(peer.error, DRAIL_EPEER);
}

static void not_before_an_answer(void **state)
{
    refused(TRIES - 1);
    solicit_now();
    told(DAT_CONNECTION_EVENT_PEER_REJECTED);
    refused(TRIES - 1);
    assert_int_equal(peer.error, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(in_the_end, begin),
        cmocka_unit_test_setup(not_counting_silence, begin),
        cmocka_unit_test_setup(not_before_an_answer, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
