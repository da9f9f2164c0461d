/* SPDX-License-Identifier: BSD-3-Clause */
/* A port: the rail of a node, by which messages leave and arrive. */
#ifndef PROVIDERS_SIM_WORLD_PORT_HPP
#define PROVIDERS_SIM_WORLD_PORT_HPP

#include <cstdint>
#include <deque>
#include <vector>

#include <simgrid/s4u.hpp>

#include "providers/sim/platform.h"

namespace sim
{

struct Outgoing; /* a message on its way out of a port */

struct Port {
    simgrid::s4u::Host *host;
    const sim_rail *rail;
    double free_s = 0;  /* when the next message may begin to leave */
    double lands_s = 0; /* when the next message may arrive */
    std::vector<uint64_t> recent{};   /* flows, the latest served first */
    unsigned streams = 0;             /* messages whose bytes are leaving */
    std::deque<Outgoing *> waiting{}; /* for one of these to end */
};

/* By node and rail. */
using Ports = std::vector<std::vector<Port>>;

/* Sends begin to be reported as ended: once, before the first one. */
void watch_sends();

} // namespace sim
#endif
