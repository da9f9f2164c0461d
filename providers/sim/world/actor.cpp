/* SPDX-License-Identifier: BSD-3-Clause */
#include <utility>

#include "world.hpp"

namespace s4u = simgrid::s4u;

namespace sim
{

Thread *swap_running(Thread *next)
{
    return std::exchange(world->running, next);
}

static void thread_run(unsigned rank, const std::function<void()> &body)
{
    Thread me = {rank, s4u::Actor::self()};
    world->running = &me;
    body();
    world->running = nullptr;
}

s4u::ActorPtr actor_new(unsigned rank, const std::function<void()> &body)
{
    s4u::Host *host = world->ports[world->ranks[rank].node][0].host;
    return switching([&] {
        return s4u::Actor::create("rank" + std::to_string(rank), host,
                                  [rank, body] { thread_run(rank, body); });
    });
}

} // namespace sim

struct sim_threads {
    std::vector<s4u::ActorPtr> actors;
};

int sim_threads_start(unsigned n, void (*body)(void *arg, unsigned index),
                      void *arg, struct sim_threads **threads)
{
    auto *started = new sim_threads;
    if (n)
        sim_busy(sim::world->platform->threads.fork);
    for (unsigned i = 0; i < n; i++)
        started->actors.push_back(
            sim::actor_new(sim_rank(), [body, arg, i] { body(arg, i); }));
    *threads = started;
    return 0;
}

void sim_threads_join(struct sim_threads *threads)
{
    sim::switching([threads] {
        for (auto &actor : threads->actors)
            actor->join();
    });
    delete threads;
}
