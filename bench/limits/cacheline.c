/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <sched.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "cacheline.h"
#include "bench/clock.h"
#include "team.h"

#define LINE              64
#define POLLS_BEFORE_LOOK (1u << 16)
#define TIMEOUT_NS        UINT64_C(5000000000)

/* One side writes this. Each line has a pair of lines of its own, because
 * processors prefetch the neighbour. */
typedef struct mailbox {
    alignas(2 * LINE) volatile uint64_t payload;
    alignas(2 * LINE) _Atomic uint64_t flag;
    char end[LINE];
} mailbox_t;

typedef struct pingpong {
    mailbox_t box[2]; /* by writer */
    transfer_t transfer;
    uint64_t warmup, rounds;
    uint64_t ns;
    atomic_bool failed;
} pingpong_t;

static void put(pingpong_t *p, unsigned side, uint64_t round)
{
    if (p->transfer == TRANSFER_TWO)
        p->box[side].payload = round;
    atomic_store_explicit(&p->box[side].flag, round, memory_order_release);
}

/* Waits for the peer's flag and reads its payload; false when the peer is
 * stuck or sent another payload. */
static bool get(pingpong_t *p, unsigned side, uint64_t round)
{
    mailbox_t *box = &p->box[!side];
    uint64_t deadline = 0;
    for (unsigned polls = 1;
         atomic_load_explicit(&box->flag, memory_order_acquire) != round;
         polls++) {
        if (polls % POLLS_BEFORE_LOOK)
            continue;
        uint64_t now = clock_ns();
        if (!deadline)
            deadline = now + TIMEOUT_NS;
        if (now > deadline || atomic_load(&p->failed))
            return false;
        sched_yield();
    }
    return p->transfer == TRANSFER_ONE || box->payload == round;
}

static void work(team_t *team, unsigned side, void *arg)
{
    pingpong_t *p = arg;
    uint64_t start = 0;
    bool good = true;
    team_start(team);
    for (uint64_t i = 1; good && i <= p->warmup + p->rounds; i++) {
        if (i == p->warmup + 1)
            start = clock_ns();
        if (side == 0)
            put(p, side, i);
        good = get(p, side, i);
        if (side == 1)
            put(p, side, i);
    }
    if (side == 0)
        p->ns = clock_ns() - start;
    if (!good)
        atomic_store(&p->failed, true);
}

double cacheline_run(int a, int b, transfer_t transfer, uint64_t rounds)
{
    pingpong_t p = {
        .transfer = transfer, .warmup = rounds / 10 + 1, .rounds = rounds};
    team_t team = {.work = work, .arg = &p};
    int cpus[2] = {a, b};
    if (team_run(&team, 2, cpus) || atomic_load(&p.failed))
        return NAN;
    return (double)p.ns / (2 * (double)rounds);
}
