/* SPDX-License-Identifier: BSD-3-Clause */
#include <simgrid/s4u.hpp>

#include "agenda.hpp"

using simgrid::kernel::timer::Timer;

namespace sim
{

double clock_s()
{
    return simgrid::s4u::Engine::get_clock();
}

/* Uses one timer of the simulator at a time. Many timers, most of which are
 * moved, would cost it more than everything else. */
void Agenda::set_timer()
{
    if (calls.empty() || calls.begin()->first >= timer_s)
        return;
    if (timer)
        timer->remove();
    timer_s = calls.begin()->first;
    timer = Timer::set(timer_s, [this] { run(); });
}

/* Calls may add others, also for now. */
void Agenda::run()
{
    timer = nullptr;
    timer_s = -INFINITY;
    while (!calls.empty() && calls.begin()->first <= clock_s()) {
        Call call = calls.begin()->second;
        calls.erase(calls.begin());
        call.function(call.arg);
    }
    timer_s = INFINITY;
    set_timer();
}

Agenda::Entry Agenda::add(double date, const Call &call)
{
    Entry entry = calls.emplace(date, call);
    set_timer();
    return entry;
}

void Agenda::remove(std::optional<Entry> &entry)
{
    if (entry)
        calls.erase(*entry);
    entry.reset();
}

} // namespace sim
