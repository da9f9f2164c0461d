/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cmath>

#include "network.hpp"
#include "world.hpp"

namespace s4u = simgrid::s4u;

namespace sim
{

World *world;

static void configure()
{
    /* rates and latencies are the platform's; links are shared max-min fair */
    for (const char *option :
         {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
          "network/latency-factor:1", "network/bandwidth-factor:1",
          "contexts/factory:raw", "contexts/stack-size:256"})
        s4u::Engine::set_config(option);
}

} // namespace sim

using namespace sim;

int sim_run(const struct sim_platform *platform, unsigned nranks,
            const unsigned *node, void (*rank_main)(void *arg, unsigned rank),
            void *arg)
{
    char name[] = "sim", quiet[] = "--log=root.thresh:critical";
    char *argv[] = {name, quiet, nullptr};
    int argc = 2;
    s4u::Engine engine(&argc, argv);
    unsigned nodes = *std::max_element(node, node + nranks) + 1;
    World w;
    configure();
    world = &w;
    w.platform = platform;
    w.ports = network_new(*platform, nodes);
    w.ranks_of.resize(nodes);
    w.memories.resize(nodes); /* at least as many as there are */
    for (unsigned r = 0; r < nranks; r++) {
        w.ranks.push_back(Rank{node[r]});
        w.ranks_of[node[r]].push_back(r);
    }
    watch_sends();
    s4u::Engine::on_deadlock_cb([] { world->stuck = true; });
    for (unsigned r = 0; r < nranks; r++)
        actor_new(r, [rank_main, arg, r] { rank_main(arg, r); });
    engine.run();
    world = nullptr;
    return w.stuck ? -1 : 0;
}

const struct sim_platform *sim_running(void)
{
    return world ? world->platform : nullptr;
}

uint64_t sim_now(void)
{
    return static_cast<uint64_t>(std::llround(clock_s() / NS));
}

void sim_after(double seconds, void (*call)(void *arg), void *arg)
{
    world->agenda.add(clock_s() + seconds, {call, arg});
}
