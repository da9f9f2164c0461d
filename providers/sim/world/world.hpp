/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated world behind providers/sim/world.h, by SimGrid (S4U). In
 * reading order:
 *
 *   world       starts and ends a world
 *   agenda      calls to be made later
 *   actor       the threads of the ranks
 *   wait_queue  actors that sleep, and what wakes them
 *   rank        notices; waiting and polling for them
 *   flag        flags in the memory of a node
 *   memory      copies, and data that processors have carried
 *   network     the simulator's hosts and links
 *   port        messages that leave and arrive
 */
#ifndef PROVIDERS_SIM_WORLD_WORLD_HPP
#define PROVIDERS_SIM_WORLD_WORLD_HPP

#include <unordered_map>

#include "actor.hpp"
#include "memory.hpp"
#include "port.hpp"
#include "providers/sim/world.h"
#include "rank.hpp"

namespace sim
{

struct Flag { /* set, and not visible to others yet */
    uint32_t *where;
    uint32_t value;
    unsigned rank;
};

struct World {
    const sim_platform *platform;
    Ports ports;
    std::vector<Rank> ranks;
    std::vector<std::vector<unsigned>> ranks_of; /* by node */
    Thread *running = nullptr;
    std::unordered_map<const void *, WaitQueue> waiting; /* by address */
    Agenda agenda;
    uint64_t flows = 0;
    std::vector<Memory> memories;
    /* begin and end of bytes in caches of the processor that carried them */
    std::map<uintptr_t, uintptr_t> carried;
    std::deque<Flag> flags; /* the oldest first */
    bool stuck = false;
};

extern World *world;

constexpr double NS = 1e-9;

inline double date_of(uint64_t ns)
{
    return static_cast<double>(ns) * NS;
}

} // namespace sim
#endif
