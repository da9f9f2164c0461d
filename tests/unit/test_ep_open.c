/* SPDX-License-Identifier: BSD-3-Clause */
/* A lost link gets another EP: the state of the last one is forgotten. */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "no_buffers.h"

static drail_t t;
static struct rail rail = {.owner = &t};
static struct peer peer = {.owner = &t};
static struct link link_;

DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                         DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                         DAT_EVD_HANDLE conn, const DAT_EP_ATTR *attr,
                         DAT_EP_HANDLE *ep)
{
    *ep = &link_;
    return DAT_SUCCESS;
}

DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
    return DAT_SUCCESS;
}

/* The EP has ended: it takes no request. */
DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                            DAT_LMR_TRIPLET *local, DAT_DTO_COOKIE cookie,
                            DAT_COMPLETION_FLAGS flags)
{
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_STATE;
}

static int open_again(void **state)
{
    static struct failover failover;
    static unsigned char journal; /* it has one */
    sentence_free(&link_.why);
    failover = (struct failover){
        .heartbeat = {.ended = 3, .silent_ns = 7, .probed = 5}};
    link_ = (struct link){.rail = &rail,
                          .peer = &peer,
                          .state = LINK_LOST,
                          .ep.ending = ENDING_RESET,
                          .journal.records = &journal,
                          .failover = &failover};
    return ep_open(&link_);
}

/* The last EP had been reset. */
static void ends(void **state)
{
    link_.ep.state = EP_UP;
    link_.state = LINK_UP;
    link_down(&link_, DRAIL_EDAT, "a malformed message arrived");
    assert_int_equal(link_.state, LINK_FLUSHED);
}

static void has_not_been_silent(void **state)
{
    assert_int_equal(link_.failover->heartbeat.silent_ns, 0);
    assert_int_equal(link_.failover->heartbeat.ended, 0);
    assert_int_equal(link_.failover->heartbeat.probed, 0);
}

static int forget(void **state)
{
    sentence_free(&link_.why);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ends, open_again),
        cmocka_unit_test_setup(has_not_been_silent, open_again),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
