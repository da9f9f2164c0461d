/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the ledger of a rank on another node: it never waits, and its buffer
 * stays until the read is over. The test plays the transport.
 */
#include "unit.h"
#include "coll/run/team/ledger.h"
#include "coll/run/team/team.h"

enum { RANKS = 3 };

static struct ledger remote[RANKS];
static unsigned looked_at; /* by the read under way */
static bool arrives;
static bool full; /* no room to read */
static unsigned forgotten, fenced;
static bool may_wait;
static int outcome; /* of a wait */

/* Keys of ledgers, and members: nothing of them counts. */
const void *drail_gathered_of(const drail_gathered_t *g, unsigned rank)
{
    static const struct member nobody;
    static const drail_key_t key;
    return g ? (const void *)&nobody : &key;
}

int drail_get(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, drail_req_t *req)
{
    assert_int_equal(xfer->bytes, sizeof(struct ledger));
    assert_int_equal(flags, DRAIL_NOWAIT);
    if (full)
        return DRAIL_EAGAIN;
    looked_at = peer;
    return 0;
}

int drail_test(drail_t *rail, drail_req_t *req)
{
    dcoll_team_t *team = (dcoll_team_t *)rail;
    if (!arrives)
        return DRAIL_EAGAIN;
    memcpy(team->remote_ledger.copy, &remote[looked_at], sizeof(struct ledger));
    return 0;
}

int drail_wait(drail_t *rail, drail_req_t *req, int timeout_ms)
{
    assert_true(may_wait);
    assert_in_range(timeout_ms, 1, 100);
    return outcome;
}

void drail_forget(drail_t *rail, drail_req_t *req)
{
    forgotten++;
}

int drail_fence(drail_t *rail, unsigned peer)
{
    assert_int_equal(peer, looked_at);
    fenced++;
    return 0;
}

/* Rank 0 of three nodes, all of which have made one call. */
static dcoll_team_t *setup(dcoll_team_t *team)
{
    static struct ledger mine, copy;
    static const unsigned begin[] = {0, 1, 2, 3};
    static bool connected[RANKS] = {false, true, true};
    const struct call call = {.what = 1, .bytes = 8};
    memset(team, 0, sizeof *team);
    memset(&mine, 0, sizeof mine);
    memset(remote, 0, sizeof remote);
    team->rail = (drail_t *)team;
    team->locals = 1;
    team->ledgers.base = (unsigned char *)&mine;
    team->ledger = &mine;
    team->members = (drail_gathered_t *)team;
    team->shape.nranks = team->shape.nnodes = RANKS;
    team->shape.node_begin = begin;
    team->connected = connected;
    team->remote_ledger.copy = &copy;
    ledger_append(&mine, &call);
    for (unsigned r = 1; r < RANKS; r++) {
        remote[r].ring[0] = call;
        atomic_store(&remote[r].calls, 1);
    }
    arrives = full = may_wait = false;
    forgotten = fenced = 0;
    return team;
}

static void test_never_waits(void **state)
{
    static dcoll_team_t team;
    setup(&team);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ledger_check(&team, 1), DRAIL_EAGAIN);
    arrives = true;
    assert_int_equal(ledger_check(&team, 1), 0);
}

/* An entry that was just being written may look different once. */
static void test_differs_twice(void **state)
{
    static dcoll_team_t team;
    setup(&team);
    arrives = true;
    remote[1].ring[0].bytes = 9;
    assert_int_equal(ledger_check(&team, 1), DRAIL_EAGAIN);
    remote[1].ring[0].bytes = 8;
    assert_int_equal(ledger_check(&team, 1), 0);
    remote[1].ring[0].bytes = 9;
    assert_int_equal(ledger_check(&team, 1), DRAIL_EAGAIN);
    assert_int_equal(ledger_check(&team, 1), DRAIL_EINVAL);
    assert_non_null(strstr(team.error.text, "rank 1 is"));
}

/* Two waiters take turns, and either hears of both. */
static void test_two_peers(void **state)
{
    static dcoll_team_t team;
    int rc = 0;
    setup(&team);
    atomic_store(&remote[2].error, DRAIL_EPEER);
    for (unsigned i = 0; i < 4 && rc != DRAIL_EPEER; i++) {
        arrives = false;
        assert_int_equal(ledger_check(&team, 1), DRAIL_EAGAIN);
        arrives = true;
        rc = ledger_check(&team, 2);
    }
    assert_int_equal(rc, DRAIL_EPEER);
    assert_non_null(strstr(team.error.text, "rank 2 gave up"));
}

/* Nor do two that differ, and are looked at in turn, hide one another. */
static void test_two_peers_differ(void **state)
{
    static dcoll_team_t team;
    int rc = 0;
    setup(&team);
    remote[1].ring[0].bytes = remote[2].ring[0].bytes = 9;
    assert_int_equal(ledger_check(&team, 1), DRAIL_EAGAIN);
    arrives = true;
    for (unsigned i = 0; i < 20 && rc != DRAIL_EINVAL; i++)
        rc = ledger_check(&team, i % 2 ? 1 : 2);
    assert_int_equal(rc, DRAIL_EINVAL);
}

static void test_no_room(void **state)
{
    static dcoll_team_t team;
    setup(&team);
    atomic_store(&remote[1].error, DRAIL_EPEER);
    full = arrives = true;
    assert_int_equal(ledger_check(&team, 1), DRAIL_EAGAIN);
    full = false;
    assert_int_equal(ledger_check(&team, 1), DRAIL_EPEER);
}

static void test_ends_before_the_memory(void **state)
{
    static dcoll_team_t team;
    setup(&team);
    ledger_close(&team);
    assert_int_equal(forgotten, 0);
    assert_int_equal(ledger_check(&team, 2), DRAIL_EAGAIN);
    ledger_close(&team);
    assert_int_equal(forgotten, 1);
    assert_int_equal(fenced, 1);
}

/* The team is freed, and the peer may be stopped. */
static void close_after(dcoll_team_t *team, int rc, bool complete)
{
    setup(team);
    assert_int_equal(ledger_check(team, 2), DRAIL_EAGAIN);
    team->remote_ledger.mem = (drail_mem_t *)&remote;
    may_wait = true;
    outcome = rc;
    arrives = complete;
    team->hurries = true;
    ledger_close(team);
    assert_int_equal(fenced, 0);
}

/* The read's buffer stays, whatever ends the wait. */
static void test_stopped(void **state)
{
    static const int codes[] = {DRAIL_ETIMEOUT, DRAIL_EINTR, DRAIL_EJOB};
    static dcoll_team_t team;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        close_after(&team, codes[i], false);
        assert_int_equal(forgotten, 1);
        assert_null(team.remote_ledger.mem);
    }
}

static void test_answers_before_the_end(void **state)
{
    static dcoll_team_t team;
    close_after(&team, 0, true);
    assert_int_equal(forgotten, 0);
    assert_non_null(team.remote_ledger.mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_waits),
        cmocka_unit_test(test_differs_twice),
        cmocka_unit_test(test_two_peers),
        cmocka_unit_test(test_two_peers_differ),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_ends_before_the_memory),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_answers_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
