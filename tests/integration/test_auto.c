/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine auto with a clock of the test's: it shows for each message what one
 * that goes this way is made to cost, so that no other process disturbs.
 */
#include <sched.h>

#include "dapl_rail/batch.h"
#include "machine.h"
#include "explain.h"
#include "memory.h"
#include "ranks.h"
#include "tasks.h"

#define CAPACITY (1u << 20)
#define SHORT    (16u << 10)
#define ENOUGH   1000 /* messages, to make up one's mind */
#define ROW      60

/* ------------------------------------------------------------- the clock */

static struct {
    struct drail_platform platform;
    _Atomic uint64_t now, cost; /* cost: of what is under way */
    _Atomic bool started;       /* its start has been read */
} made;

/* The thread that begins reads the start; the rails' threads, which look at
 * the clock while they wait for work, may do so before it. */
static _Thread_local bool begins;

static uint64_t made_now(const struct drail_platform *p)
{
    uint64_t before = made.now;
    if (begins) {
        begins = false;
        made.started = true;
        return before;
    }
    return made.started ? before + made.cost : before;
}

static void begin(uint64_t cost)
{
    made.started = false;
    made.cost = cost;
    begins = true;
}

static void end(void)
{
    made.now += made.cost;
    made.cost = 0;
}

/* ------------------------------------------------------------ the machine */

/* The simulated cost in microseconds: a second rail pays for long messages, and
 * with threads only. */
static double cost_us(const char *way, size_t bytes)
{
    double copy = (double)bytes / 100;
    if (strstr(way, "auto (threaded)"))
        return copy / 2 + 2000;
    if (strstr(way, "auto (nonthreaded)"))
        return copy + 400;
    return strstr(way, "all over shm1") ? copy + 200 : copy + 100;
}

/* Moves a message, or some, and waits for the end. */
typedef void (*move_t)(struct rank *r, const struct memory *b, size_t bytes);

static void notify(struct rank *r, const struct memory *b, size_t bytes)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, b, bytes);
    expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, 1, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
}

static void batch(struct rank *r, const struct memory *b, size_t bytes)
{
    drail_batch_t ask = {.xfer = memory_xfer(r, b, bytes),
                         .count = 1,
                         .id = 1,
                         .await_reply = true};
    expect(r, 0, drail_batch(r->t, r->peer, &ask));
    check(ask.reply_id == 2);
}

/* A message goes as explained, and costs what that is made to cost. */
static void timed(struct rank *r, const struct memory *b, move_t move,
                  size_t bytes)
{
    const char *way = explained(r, bytes);
    bool first = !strstr(way, "all over shm1"), one = strstr(way, "all over");
    uint64_t puts[2] = {rail_stats(r, 0).puts, rail_stats(r, 1).puts};
    begin((uint64_t)(cost_us(way, bytes) * 1000));
    move(r, b, bytes);
    end();
    check(rail_stats(r, 0).puts - puts[0] == first);
    check(rail_stats(r, 1).puts - puts[1] == (!one || !first));
}

/* Moves messages until many in a row have gone this way, after all kinds have
 * been tried. */
static void settles(struct rank *r, const struct memory *b, move_t move,
                    size_t bytes, const char *kind)
{
    unsigned row = 0;
    for (unsigned n = 0; n < ENOUGH && row < ROW; n++) {
        const char *text = explained(r, bytes);
        bool usual = strstr(text, kind) && !strstr(text, "not yet");
        row = usual ? row + 1 : 0;
        timed(r, b, move, bytes);
    }
    check(says(r, bytes, kind) && row == ROW);
}

static void puts_by_size(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        unsigned before = threads();
        for (unsigned n = 0; n < 1000; n++)
            memory_put(r, &b, 8);
        check(says(r, 8, "8 bytes, auto, even: all over shm0 (shorter than"));
        check(says(r, SHORT,
                   "single not yet, nonthreaded not yet, threaded "
                   "not yet"));
        check(rail_stats(r, 1).puts == 0 && threads() == before);
        settles(r, &b, memory_put, SHORT, "auto (single), even: all over shm0");
        check(threads() > before);
        settles(r, &b, memory_put, CAPACITY,
                "auto (threaded), even: shm0 524288");
        check(rail_stats(r, 0).weight == 0.5);
        check(says(r, SHORT, "shm1 left out: with it "));
        check(says(r, SHORT, "single 62 MB/s, nonthreaded "));
    }
    memory_close(r, &b);
}

/* Most messages are not timed when all is known, but a change is noticed. */
static void finds_out_again(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        settles(r, &b, memory_put, CAPACITY, "auto (threaded)");
        /* threads have become a hundred times as slow */
        for (unsigned n = 0; n < 20000; n++) {
            const char *way = explained(r, CAPACITY);
            if (strstr(way, "auto (single)") && !strstr(way, "; a trial"))
                break;
            begin(strstr(way, "auto (threaded)") ? 10000000 : 100000);
            memory_put(r, &b, CAPACITY);
            end();
        }
        check(says(r, CAPACITY, "auto (single)"));
    }
    memory_close(r, &b);
}

/* A rail without weight gets nothing, whatever is tried. */
static void weighted(struct rank *r)
{
    const double none[] = {1, 0}, third[] = {2, 1};
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_WEIGHTED, none, 0));
        for (unsigned n = 0; n < 100; n++)
            memory_put(r, &b, SHORT);
        check(rail_stats(r, 1).puts == 0);
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_WEIGHTED, third, 0));
        settles(r, &b, memory_put, SHORT,
                "auto (single), weighted: all over shm0");
        settles(r, &b, memory_put, CAPACITY,
                "auto (threaded), weighted: shm0 699008");
    }
    memory_close(r, &b);
}

static void adaptive(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_ADAPTIVE, NULL, 0));
    if (r->rank == 0) {
        settles(r, &b, memory_put, SHORT,
                "auto (single), adaptive: all over shm0");
        settles(r, &b, memory_put, CAPACITY,
                "auto (threaded), adaptive: shm0 ");
    }
    memory_close(r, &b);
}

/* The other side answers, until it is told 0. */
static void notified(struct rank *r)
{
    struct memory b;
    uint32_t id = 1;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        settles(r, &b, notify, SHORT, "auto (single), even: all over shm0");
        settles(r, &b, notify, CAPACITY, "auto (threaded), even: shm0 524288");
        expect(r, 0, drail_notify(r->t, 1, 0, 0));
    }
    while (r->rank == 1 && id) {
        expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        if (id)
            expect(r, 0, drail_notify(r->t, 0, 0, 2));
    }
    memory_close(r, &b);
}

static void batches(struct rank *r)
{
    struct memory b;
    uint32_t id = 1;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        settles(r, &b, batch, SHORT, "auto (single), even: all over shm0");
        settles(r, &b, batch, CAPACITY, "auto (threaded), even: shm0 524288");
        expect(r, 0, drail_notify(r->t, 1, 0, 0));
        expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
    }
    while (r->rank == 1 && id)
        expect(r, 0, drail_batch_answer(r->t, 0, true, 2, &id));
    memory_close(r, &b);
}

static void with_auto(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_AUTO;
    cfg->policy = DRAIL_POLICY_EVEN;
    cfg->rails[0] = "shm0";
    cfg->rails[1] = "shm1";
}

static void with_forkjoin(drail_config_t *cfg)
{
    with_auto(cfg);
    cfg->team = DRAIL_TEAM_FORKJOIN;
}

static const struct test tests[] = {
    {"puts, by size", 2, puts_by_size, with_auto, 0},
    {"puts, by size, fork and join", 2, puts_by_size, with_forkjoin, 0},
    {"finds out again", 2, finds_out_again, with_auto, 0},
    {"weighted", 2, weighted, with_auto, 0},
    {"adaptive", 2, adaptive, with_auto, 0},
    {"notified", 2, notified, with_auto, 0},
    {"batches", 2, batches, with_auto, 0},
};

int main(int argc, char **argv)
{
    const struct drail_platform *machine = machine_platform();
    cpu_set_t mine;
    if (!machine)
        return 1;
    if (!sched_getaffinity(0, sizeof mine, &mine) && CPU_COUNT(&mine) < 2) {
        printf("1..0 # SKIP on one core engine auto tries no threads\n");
        return 77;
    }
    made.platform = *machine;
    made.platform.now_ns = made_now;
    made.now = 1000000000;
    ranks_platform = &made.platform;
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
