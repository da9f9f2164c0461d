/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls to be made later, by date; calls of one date in the order of adding. */
#ifndef PROVIDERS_SIM_WORLD_AGENDA_HPP
#define PROVIDERS_SIM_WORLD_AGENDA_HPP

#include <cmath>
#include <map>
#include <optional>

#include <simgrid/kernel/Timer.hpp>

namespace sim
{

double clock_s();

struct Call {
    void (*function)(void *);
    void *arg;
};

class Agenda
{
  public:
    using Entry = std::multimap<double, Call>::iterator;

    Entry add(double date, const Call &call);

    template <auto function, class T> Entry add(double date, T *arg)
    {
        return add(date,
                   {[](void *what) { function(static_cast<T *>(what)); }, arg});
    }

    /* Makes the call of this time when all actors sleep: an actor that it wakes
     * has gone to sleep before, and the caller is not interrupted. */
    template <auto function, class T> void add_now(T *arg)
    {
        add<function>(clock_s(), arg);
    }

    void remove(std::optional<Entry> &entry);

  private:
    void set_timer();
    void run();

    std::multimap<double, Call> calls;
    simgrid::kernel::timer::Timer *timer = nullptr; /* of the first call … */
    double timer_s = INFINITY; /* … at this time; none before that is set */
};

} // namespace sim
#endif
