/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/run/execute/wait.c: how a rank waits, in simulated time. The platform's
 * clock advances by sleeps and polls, and its hooks play the other ranks, which
 * set flags.
 */
#include "unit.h"
#include "coll/run/execute/executor.h"
#include "coll/run/execute/notifications.h"
#include "coll/run/execute/wait.h"

#define FLAGS 40
#define US    1000u
#define MS    1000000u

struct play {
    struct drail_platform platform; /* first: hooks get its address */
    uint64_t now;
    unsigned polls, yields;       /* yields are polls, too */
    unsigned sleeps, sleeps_then; /* then: when it came */
    unsigned sleeps_unpolled;     /* while the rails do not poll */
    bool there, came;             /* is it there; was it taken */
    uint64_t longest;             /* sleep */
    drail_polling_t polling, polling_asleep;
    void (*others)(struct play *p);
    unsigned next; /* flag that is set next */

    dcoll_team_t team;
    struct ledger ledger;
    struct node_header header;
    struct line words[2 * FLAGS];
    uint32_t seen[2][2 * FLAGS];
    dcoll_op_t ops[2][FLAGS];
    struct dcoll_request waits, other;
    drail_req_t reqs[1];
    struct partner partner;
};

bool drail_job_interrupted(const drail_job_t *job)
{
    return false;
}

const drail_config_t *drail_config_of(const drail_t *rail)
{
    static const drail_config_t config;
    return &config;
}

unsigned drail_nrails(const drail_t *rail)
{
    return 1;
}

static struct play *playing;

static void sleep_until(struct play *play, uint64_t until_ns)
{
    if (until_ns - play->now > play->longest)
        play->longest = until_ns - play->now;
    play->now = until_ns;
    play->sleeps++;
    play->sleeps_unpolled += play->polling != DRAIL_POLLING_ON;
    play->polling_asleep = play->polling;
    play->others(play);
}

/* After a while, a notification or credit comes just when progress is made for
 * all. */
uint64_t drail_moved(const drail_t *rail, unsigned rank)
{
    return 0;
}

int drail_progress(drail_t *rail)
{
    playing->there |= playing->now >= 30 * MS;
    return 0;
}

int drail_notify_test(drail_t *rail, unsigned peer, uint32_t *id)
{
    struct play *play = playing;
    if (play->came || !play->there)
        return DRAIL_EAGAIN;
    bool wait = play->waits.schedule.ops[0].kind == DCOLL_WAIT;
    play->came = true;
    play->sleeps_then = play->sleeps;
    *id = notification_id(&play->waits, wait ? DCOLL_DATA : DCOLL_READY);
    return 0;
}

int drail_notify_any(drail_t *rail, unsigned from, unsigned *peer)
{
    if (from > 1 || playing->came || !playing->there ||
        !playing->team.connected)
        return DRAIL_EAGAIN;
    *peer = 1;
    return 0;
}

int drail_notify_wait(drail_t *rail, unsigned peer, uint32_t *id,
                      int timeout_ms)
{
    struct play *play = playing;
    if (timeout_ms > 0) {
        sleep_until(play, play->now + (uint64_t)timeout_ms * MS);
        return DRAIL_ETIMEOUT;
    }
    return drail_notify_test(rail, peer, id);
}

drail_polling_t drail_set_polling(drail_t *rail, drail_polling_t polling)
{
    drail_polling_t before = playing->polling;
    playing->polling = polling;
    return before;
}

int drail_put(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, uint32_t id, drail_req_t *req)
{
    return playing->came ? 0 : DRAIL_EAGAIN;
}

static uint64_t now_hook(const struct drail_platform *p)
{
    return ((const struct play *)p)->now;
}

static void sleep_hook(const struct drail_platform *p, _Atomic uint32_t *flag,
                       uint32_t value, uint64_t until_ns, bool shared)
{
    struct play *play = (struct play *)p;
    assert_true(shared);
    assert_true(until_ns > play->now);
    sleep_until(play, until_ns);
}

static void nap_hook(const struct drail_platform *p, uint64_t until_ns)
{
    sleep_until((struct play *)p, until_ns);
}

static void poll_hook(const struct drail_platform *p)
{
    struct play *play = (struct play *)p;
    play->now += US / 2;
    play->polls++;
    play->others(play);
}

static void yield_hook(const struct drail_platform *p)
{
    ((struct play *)p)->yields++;
    poll_hook(p);
}

static void set(struct play *p, unsigned flag)
{
    atomic_store(&p->words[FLAGS + flag].value, 1);
}

/* Awaits flags first … first + n - 1 of rank 1. */
static void request(struct play *p, struct dcoll_request *q, unsigned which,
                    unsigned first, unsigned n)
{
    static const dcoll_algorithm_t algorithm;
    q->team = &p->team;
    q->algorithm = &algorithm;
    q->header = &p->header;
    q->words = p->words;
    q->seen = p->seen[which];
    q->reqs = p->reqs;
    p->partner = (struct partner){.rank = 1};
    q->partners = (struct partners){.at = &p->partner, .count = 1};
    q->args.depth = 2;
    q->schedule.flags = FLAGS;
    q->schedule.ops = p->ops[which];
    q->schedule.nops = n;
    for (unsigned i = 0; i < n; i++)
        q->schedule.ops[i] =
            (dcoll_op_t){.kind = DCOLL_AWAIT, .peer = 1, .flag = first + i};
    assert_int_equal(request_start(q), 0);
}

static struct play *setup(struct play *p, void (*others)(struct play *p))
{
    memset(p, 0, sizeof *p);
    p->platform = (struct drail_platform){.now_ns = now_hook,
                                          .wait = sleep_hook,
                                          .sleep_until = nap_hook,
                                          .yield = yield_hook,
                                          .relax = poll_hook};
    p->now = 1;
    p->polling = DRAIL_POLLING_ON;
    playing = p;
    p->others = others;
    p->team.platform = &p->platform;
    p->team.ledger = &p->ledger;
    p->team.locals = 2;
    p->team.timeout_ms = 1000;
    TAILQ_INIT(&p->team.requests);
    TAILQ_INIT(&p->team.active);
    return p;
}

/* Nothing moves for 30 ms; then flags of the other request are set, each as
 * soon as the one before has been seen, at last that of the waiter. */
static void chain(struct play *p)
{
    if (p->now < 30 * MS || p->other.pc < p->next)
        return;
    set(p, p->next++);
}

static void test_sleeper_advances_others(void **state)
{
    static struct play play;
    struct play *p = setup(&play, chain);
    request(p, &p->other, 0, 0, FLAGS - 1);
    request(p, &p->waits, 1, FLAGS - 1, 1);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
    assert_false(p->other.active);
    /* it has slept through the silence, and none of the 39 steps */
    assert_in_range(p->sleeps, 2, 28);
    assert_true(p->now < 40 * MS);
    assert_true(p->longest <= 16 * MS);
}

static void at_1_ms(struct play *p)
{
    if (p->now > MS)
        set(p, 0);
}

/* A short wait does not sleep. */
static void test_short_wait_polls(void **state)
{
    static struct play play;
    struct play *p = setup(&play, at_1_ms);
    request(p, &p->waits, 0, 0, 1);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
    assert_int_equal(p->sleeps, 0);
    assert_true(p->polls > 0);
}

/* Whatever the engine: the awaited rank may be kept from its core. */
static void test_longer_wait_yields(void **state)
{
    static struct play play;
    struct play *p = setup(&play, at_1_ms);
    request(p, &p->waits, 0, 0, 1);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
    assert_true(p->yields > 0);
    /* for a tenth of the time at most it kept the core */
    assert_true((p->polls - p->yields) * (US / 2) <= MS / 10);
}

static unsigned sleeps_of_crowded(bool spread, dcoll_collective_t collective,
                                  bool left)
{
    static struct play play;
    struct play *p = setup(&play, at_1_ms);
    static unsigned beside[] = {1}; /* shares our core */
    p->team.oversubscribed = true;
    p->team.core_sharers = beside;
    p->team.ncore_sharers = 1;
    p->team.several_hosts = spread;
    p->waits.args.collective = collective;
    p->polling = left ? DRAIL_POLLING_OFF : DRAIL_POLLING_ON;
    request(p, &p->waits, 0, 0, 1);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
    assert_int_equal(p->polls, p->yields);
    if (spread)
        assert_true(p->polls * (US / 2) < MS / 10);
    bool at_once = spread && collective == DCOLL_ALLREDUCE;
    assert_int_equal(p->sleeps_unpolled, at_once || left ? p->sleeps : 0);
    assert_int_equal(p->polls == 0, at_once);
    /* as the program has set it */
    assert_int_equal(p->polling, left ? DRAIL_POLLING_OFF : DRAIL_POLLING_ON);
    return p->sleeps;
}

static drail_polling_t polling_of(dcoll_collective_t collective, size_t bytes,
                                  bool contended)
{
    static struct play play;
    struct play *p = setup(&play, at_1_ms);
    p->team.oversubscribed = p->team.several_hosts = true;
    p->team.contended = contended;
    p->team.shape.nranks = 2;
    p->waits.args.collective = collective;
    p->waits.args.bytes = bytes;
    request(p, &p->waits, 0, 0, 1);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
    assert_int_equal(p->sleeps, 1);
    return p->polling_asleep;
}

/* Waits yield; but if only other hosts share the core, for short vectors. */
static void test_crowded_hosts_yield(void **state)
{
    const drail_polling_t off = DRAIL_POLLING_OFF,
                          yields = DRAIL_POLLING_YIELDING;
    assert_int_equal(polling_of(DCOLL_ALLREDUCE, 4096, false), yields);
    assert_int_equal(polling_of(DCOLL_ALLREDUCE, 512, true), yields);
    assert_int_equal(polling_of(DCOLL_ALLREDUCE, 4096, true), off);
    assert_int_equal(polling_of(DCOLL_ALLGATHER, 512, false), yields);
    assert_int_equal(polling_of(DCOLL_ALLTOALL, 8, false), off);
    assert_int_equal(polling_of(DCOLL_ALLGATHER, 8, true), yields);
    assert_int_equal(polling_of(DCOLL_ALLGATHER, 512, true), off);
}

/* A message of another host takes longer than to be woken; what ranks of one
 * host do for each other does not. Barriers poll for a moment first, as do
 * calls whose blocks may be long. */
static void test_crowded_hosts_sleep_soon(void **state)
{
    assert_int_equal(sleeps_of_crowded(false, DCOLL_ALLREDUCE, false), 0);
    assert_int_equal(sleeps_of_crowded(true, DCOLL_ALLREDUCE, false), 1);
    assert_int_equal(sleeps_of_crowded(true, DCOLL_ALLREDUCE, true), 1);
    assert_true(sleeps_of_crowded(true, DCOLL_BARRIER, false) >= 1);
    assert_true(sleeps_of_crowded(true, DCOLL_ALLTOALLV, false) >= 1);
}

static void nobody(struct play *p)
{
}

/* The machine stands still for longer than the wait may take; what is waited
 * for comes when it goes on. */
static void after_a_standstill(struct play *p)
{
    if (p->sleeps == 2 && !p->next++)
        p->now += 20000 * (uint64_t)MS;
    p->waits.checked_ns = p->now; /* at the ledgers, of which there are none */
    if (p->sleeps == 5)
        set(p, 0);
}

static void test_standstill_is_no_wait(void **state)
{
    static struct play play;
    struct play *p = setup(&play, after_a_standstill);
    request(p, &p->waits, 0, 0, 1);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
}

/* A rank that makes progress for all and meanwhile finds its notification does
 * not sleep first. */
static void comes_with_progress(dcoll_op_t op)
{
    static struct play play;
    static bool connected[] = {false, true};
    struct play *p = setup(&play, nobody);
    p->team.shape.nranks = 2;
    p->team.connected = connected;
    request(p, &p->waits, 0, 0, 1);
    p->waits.schedule.ops[0] = op;
    LIST_INSERT_HEAD(&p->team.by_id[0], &p->waits, same_bucket);
    assert_int_equal(request_finish(&p->waits, 1000), 0);
    assert_true(p->came && p->sleeps_then > 0);
    assert_int_equal(p->sleeps, p->sleeps_then);
}

static void test_notification_with_progress(void **state)
{
    comes_with_progress((dcoll_op_t){.kind = DCOLL_WAIT, .peer = 1});
}

static void test_credit_with_progress(void **state)
{
    comes_with_progress((dcoll_op_t){.kind = DCOLL_PUT, .peer = 1});
}

/* A notification names a request that is being prepared, and has no room for
 * it. */
static void test_notification_too_early(void **state)
{
    static struct play play;
    struct play *p = setup(&play, nobody);
    static bool connected[] = {false, true};
    p->team.shape.nranks = 2;
    p->team.connected = connected;
    LIST_INSERT_HEAD(&p->team.by_id[0], &p->waits, same_bucket);
    p->ops[0][0].kind = DCOLL_PUT;
    p->waits.schedule.ops = p->ops[0];
    p->now = 30 * MS;
    assert_int_equal(team_progress(&p->team), 0);
    assert_true(p->came);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleeper_advances_others),
        cmocka_unit_test(test_short_wait_polls),
        cmocka_unit_test(test_longer_wait_yields),
        cmocka_unit_test(test_crowded_hosts_sleep_soon),
        cmocka_unit_test(test_crowded_hosts_yield),
        cmocka_unit_test(test_standstill_is_no_wait),
        cmocka_unit_test(test_notification_with_progress),
        cmocka_unit_test(test_credit_with_progress),
        cmocka_unit_test(test_notification_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
