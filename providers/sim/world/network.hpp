/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's hosts and links: one host for each rail of each node. */
#ifndef PROVIDERS_SIM_WORLD_NETWORK_HPP
#define PROVIDERS_SIM_WORLD_NETWORK_HPP

#include "port.hpp"

namespace sim
{

Ports network_new(const sim_platform &platform, unsigned nodes);

} // namespace sim
#endif
