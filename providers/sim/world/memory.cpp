/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>

#include "world.hpp"

using namespace sim;

static Memory &memory_of(unsigned node)
{
    return world->memories[node / std::max(1u, world->platform->memory.nodes)];
}

/* Rate of each copy; there is at least one. */
static double rate(const Memory &m, const Copies &copies)
{
    const struct sim_platform *p = world->platform;
    auto n =
        static_cast<unsigned>(m.uncached.ends.size() + m.cached.ends.size());
    return &copies == &m.cached ? sim_platform_cache_rate(p, n)
                                : sim_platform_copy_rate(p, n);
}

/* Computes served up to now, before a copy begins or ends. */
static void serve(Memory &m)
{
    for (Copies *copies : {&m.uncached, &m.cached})
        if (!copies->ends.empty())
            copies->served += (clock_s() - m.as_of) * rate(m, *copies);
    m.as_of = clock_s();
}

/* Seconds until the first of the copies ends. */
static double seconds_left(const Memory &m, const Copies &copies)
{
    double bytes = std::max(0.0, copies.ends.begin()->first - copies.served);
    return bytes / rate(m, copies);
}

static void end_first(Memory *m);

static void await_first(Memory &m)
{
    Copies *first = nullptr;
    for (Copies *copies : {&m.uncached, &m.cached}) {
        if (copies->ends.empty())
            copies->served = 0;
        else if (!first || seconds_left(m, *copies) < seconds_left(m, *first))
            first = copies;
    }
    m.first = first;
    if (first)
        m.end = world->agenda.add<end_first>(
            clock_s() + seconds_left(m, *first), &m);
}

static void end_first(Memory *m)
{
    Copies &first = *m->first;
    m->end.reset();
    serve(*m);
    first.served = first.ends.begin()->first;
    while (!first.ends.empty() && first.ends.begin()->first <= first.served) {
        wake_up(first.ends.begin()->second);
        first.ends.erase(first.ends.begin());
    }
    await_first(*m);
}

/* The caller copies so many bytes, and sleeps meanwhile. */
static void copy(Memory &m, Copies &copies, double bytes)
{
    Sleeper me = {world->running->actor};
    serve(m);
    copies.ends.emplace(copies.served + bytes, &me);
    world->agenda.remove(m.end);
    await_first(m);
    sleep(me);
    others_look_again(); /* as after sim_busy */
}

/* Takes these bytes out of the caches of the processor that carried them;
 * returns how many there were. */
static uint64_t take_carried(uintptr_t begin, uintptr_t end)
{
    auto &carried = world->carried;
    uint64_t bytes = 0;
    auto at = carried.lower_bound(begin);
    if (at != carried.begin() && std::prev(at)->second > begin)
        --at;
    while (at != carried.end() && at->first < end) {
        auto [from, to] = *at;
        at = carried.erase(at);
        bytes += std::min(to, end) - std::max(from, begin);
        if (from < begin)
            carried.emplace(from, begin);
        if (to > end)
            carried.emplace(end, to);
    }
    return bytes;
}

void sim_copy(const void *to, const void *from, uint64_t bytes)
{
    const auto &memory = world->platform->memory;
    auto begin = reinterpret_cast<uintptr_t>(from);
    auto target = reinterpret_cast<uintptr_t>(to);
    auto length = static_cast<double>(bytes);
    if (!bytes)
        return;
    uint64_t carried = take_carried(begin, begin + bytes);
    take_carried(target, target + bytes); /* its contents are overwritten */
    Memory &m = memory_of(self().node);
    bool cached = memory.cache_rate.count && length <= memory.cache_bytes;
    copy(m, cached ? m.cached : m.uncached, length);
    if (carried)
        sim_busy(static_cast<double>(carried) / memory.handover_rate);
}

void sim_carried(const void *to, uint64_t bytes)
{
    auto begin = reinterpret_cast<uintptr_t>(to);
    if (!bytes || world->platform->memory.handover_rate <= 0)
        return;
    take_carried(begin, begin + bytes);
    world->carried[begin] = begin + bytes;
}

void sim_carry(uint64_t bytes, double rate)
{
    double alone = sim_platform_copy_rate(world->platform, 1);
    Memory &m = memory_of(self().node);
    if (bytes)
        copy(m, m.uncached, static_cast<double>(bytes) * alone / rate);
}
