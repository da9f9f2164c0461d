/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in the memory of a host, and which data its processors' caches hold.
 */
#ifndef PROVIDERS_SIM_WORLD_MEMORY_HPP
#define PROVIDERS_SIM_WORLD_MEMORY_HPP

#include <map>
#include <optional>

#include "wait_queue.hpp"

namespace sim
{

/* Simultaneous copies, which all have the same rate. */
struct Copies {
    double served = 0;                       /* bytes of each copy so far */
    std::multimap<double, Sleeper *> ends{}; /* by served at their end */
};

struct Memory {
    Copies uncached{}, cached{};
    double as_of = 0;        /* time at which served was computed */
    Copies *first = nullptr; /* those in which a copy ends first … */
    std::optional<Agenda::Entry> end{}; /* … and when */
};

} // namespace sim
#endif
