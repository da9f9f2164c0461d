/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of the ranks: actors of the simulator. One runs at a time. */
#ifndef PROVIDERS_SIM_WORLD_ACTOR_HPP
#define PROVIDERS_SIM_WORLD_ACTOR_HPP

#include <functional>

#include <simgrid/s4u.hpp>

namespace sim
{

struct Thread {
    unsigned rank;
    simgrid::s4u::Actor *actor;
    uint64_t seen = 0; /* Rank.reasons, when it looked last */
};

simgrid::s4u::ActorPtr actor_new(unsigned rank,
                                 const std::function<void()> &body);

/* The running thread, or NULL outside actors. */
Thread *swap_running(Thread *next);

/* A call during which other actors run. */
template <class F> auto switching(F call)
{
    struct Back { /* back to the caller */
        Thread *running = swap_running(nullptr);
        ~Back()
        {
            swap_running(running);
        }
    } back;
    return call();
}

} // namespace sim
#endif
