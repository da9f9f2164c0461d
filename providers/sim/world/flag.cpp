/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags in the memory of a node: other ranks see them a while after they are
 * set, in the order of setting. */
#include "world.hpp"

using namespace sim;

/* All that pause or wait on the node look again. */
static void node_looks_again(unsigned node)
{
    for (unsigned rank : world->ranks_of[node])
        look_again(world->ranks[rank]);
}

/* The oldest flag becomes visible: all take the same time. */
static void flag_appears(void *)
{
    Flag flag = world->flags.front();
    Rank &rank = world->ranks[flag.rank];
    world->flags.pop_front();
    __atomic_store_n(flag.where, flag.value, __ATOMIC_SEQ_CST);
    node_looks_again(rank.node);
    if (!--rank.unseen_flags)
        wake(rank.flag_waiters);
}

void sim_flag_set(uint32_t *flag, uint32_t value)
{
    double delay = world->platform->memory.flag;
    self().unseen_flags++;
    world->flags.push_back({flag, value, sim_rank()});
    if (delay > 0)
        sim_after(delay, flag_appears, nullptr);
    else
        flag_appears(nullptr);
}

void sim_flag_wait(uint64_t until_ns)
{
    wait_in(self().notice_waiters, until_ns);
}

void sim_flag_wake(void)
{
    node_looks_again(self().node);
}

void sim_flags_settle(void)
{
    Rank &rank = self();
    while (rank.unseen_flags)
        wait_in(rank.flag_waiters, SIM_FOREVER);
}
