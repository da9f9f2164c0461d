/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>

#include "world.hpp"

namespace sim
{

constexpr uint64_t STEP_NS = 1000, LONGEST_STEP_NS = 1000000, STEP_PART = 4;
constexpr unsigned FREE_POLLS = 256;

Rank &self()
{
    return world->ranks[world->running->rank];
}

static void end_idling(Rank &rank)
{
    rank.vain_polls = 0;
    rank.idle_since = sim_now();
}

void look_again(Rank &rank)
{
    rank.reasons++;
    end_idling(rank);
    wake(rank.notice_waiters);
}

void others_look_again()
{
    Thread &me = *world->running;
    Rank &rank = self();
    me.seen += me.seen == rank.reasons;
    look_again(rank);
}

/* Sleeps until there is a reason to look again; at once, if there has been one
 * since this thread looked last. A change of other memory is noticed after a
 * part of the time that the rank has been idle. */
static void step(Rank &rank, Thread &me)
{
    uint64_t now = sim_now();
    uint64_t ns = (now - rank.idle_since) / STEP_PART;
    if (me.seen == rank.reasons)
        wait_in(rank.notice_waiters,
                now + std::clamp(ns, STEP_NS, LONGEST_STEP_NS));
    me.seen = rank.reasons;
}

} // namespace sim

using namespace sim;

unsigned sim_rank(void)
{
    return world && world->running ? world->running->rank : SIM_NOBODY;
}

unsigned sim_node_of(unsigned rank)
{
    return world->ranks[rank].node;
}

void sim_sleep_until(uint64_t ns)
{
    if (ns > sim_now())
        sleep_until(date_of(ns));
    end_idling(self());
}

void sim_busy(double seconds)
{
    if (seconds <= 0)
        return;
    sleep_until(clock_s() + seconds);
    others_look_again(); /* they may wait for a flag that it has reset */
}

void sim_notify(unsigned number)
{
    world->ranks[number].notices++;
    look_again(world->ranks[number]);
}

uint64_t sim_notices(unsigned rank)
{
    return world->ranks[rank].notices;
}

void sim_wait_notice(uint64_t count, uint64_t until_ns)
{
    Rank &rank = self();
    if (rank.notices == count)
        wait_in(rank.notice_waiters, until_ns);
    end_idling(rank);
}

void sim_pause(void)
{
    Rank &rank = self();
    rank.vain_polls = 0;
    step(rank, *world->running);
}

void sim_polled(void)
{
    Rank &rank = self();
    if (rank.vain_polls < FREE_POLLS)
        rank.vain_polls++;
    else
        step(rank, *world->running);
}
