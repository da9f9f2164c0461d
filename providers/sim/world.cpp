/* SPDX-License-Identifier: BSD-3-Clause */
/* The world, by SimGrid (S4U). */
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "world.h"

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace
{

constexpr uint64_t FIRST_STEP_NS = 50, LONGEST_STEP_NS = 1000, STEP_PART = 16;
constexpr unsigned FREE_POLLS = 256;
constexpr double NS = 1e-9;

struct Sleeper {
    s4u::Actor *actor;
    Timer *alarm; /* or NULL */
    bool woken;
};

struct Rank {
    unsigned node;
    uint64_t news = 0;
    uint64_t step_ns = FIRST_STEP_NS;
    uint64_t stands_since = 0; /* when the first of these steps began */
    unsigned vain_polls = 0;
    unsigned unseen = 0; /* flags that it has set */
};

/* Copies in a memory that get the same each. */
struct Share {
    double served = 0;                       /* bytes of each so far */
    std::multimap<double, Sleeper *> ends{}; /* when so many are served */
};

struct Copies {
    Share memory{}, cache{};
    double as_of = 0;       /* when so much was served */
    Timer *alarm = nullptr; /* of the first that ends */
};

struct Flag { /* that others don't see yet */
    uint32_t *where;
    uint32_t value;
    unsigned rank;
};

struct Port;

struct Parcel {
    sim_flow *flow;
    Port *from;
    s4u::Host *to;
    uint64_t bytes;
    void (*call)(void *);
    void *arg;
    s4u::CommPtr comm = nullptr;
};

/* Of a rail: one of a node's. */
struct Port {
    s4u::Host *host;
    const sim_rail *rail;
    double free_s = 0;              /* the next message may begin to leave */
    double lands_s = 0;             /* the next one may land */
    std::vector<uint64_t> recent{}; /* flows, the latest one first */
    unsigned streams = 0;           /* parcels whose bytes flow */
    std::deque<Parcel> waiting{};   /* for one of these to have left */
};

struct World {
    const sim_platform *platform;
    std::vector<std::vector<Port>> ports; /* by node and rail */
    std::vector<Rank> ranks;
    std::unordered_map<aid_t, unsigned> actors; /* ranks of those that live */
    std::unordered_map<const void *, std::vector<Sleeper *>> sleepers;
    std::unordered_map<const void *, Parcel> under_way;
    uint64_t flows = 0;
    std::vector<std::vector<unsigned>> neighbours; /* ranks by node */
    std::vector<Copies> copies;                    /* by memory */
    std::map<uintptr_t, uintptr_t> carried{}; /* begin and end of bytes in the
                                                 caches of who brought them */
    std::deque<Flag> flags;                   /* the oldest first */
    bool stuck = false;
};

World *world;

double clock_s()
{
    return s4u::Engine::get_clock();
}

/* ------------------------------------------------------------- the network */

s4u::Link *link_new(s4u::NetZone *zone, const std::string &name, double rate)
{
    return zone->create_link(name, rate)->set_latency(0)->seal();
}

/* What all that share a part pass through: a link for each direction, and one
 * for both. None where there is no limit, or none that what comes from the
 * rails of the part, `most` in each direction, can reach. */
struct Part {
    s4u::Link *out = nullptr, *in = nullptr, *both = nullptr;

    Part(s4u::NetZone *zone, const std::string &name, const sim_limit &limit,
         double most)
    {
        if (limit.rate > 0 && limit.rate < most) {
            out = link_new(zone, name + "-out", limit.rate);
            in = link_new(zone, name + "-in", limit.rate);
        }
        if (limit.duplex_rate > 0 && limit.duplex_rate < 2 * most)
            both = link_new(zone, name, limit.duplex_rate);
    }

    void add_to(std::vector<s4u::LinkInRoute> &route, bool leaving) const
    {
        s4u::Link *one = leaving ? out : in;
        if (one)
            route.emplace_back(one);
        if (both)
            route.emplace_back(both);
    }
};

std::vector<s4u::LinkInRoute> route(const Part &rail, const Part &adapter,
                                    const Part &bus, bool leaving)
{
    std::vector<s4u::LinkInRoute> links;
    for (const Part *part : {&rail, &adapter, &bus})
        part->add_to(links, leaving);
    return links;
}

void node_new(World &w, s4u::NetZone *zone, unsigned node)
{
    const sim_platform &p = *w.platform;
    std::string name = "node" + std::to_string(node) + "-";
    std::vector<Part> buses, adapters;
    std::vector<double> of_bus(p.buses), of_adapter(p.adapters);
    for (unsigned i = 0; i < p.rails; i++) {
        unsigned adapter = p.rail[i].adapter;
        of_adapter[adapter] += p.rail[i].limit.rate;
        of_bus[p.adapter[adapter].bus] += p.rail[i].limit.rate;
    }
    for (unsigned i = 0; i < p.buses; i++)
        buses.emplace_back(zone, name + "bus" + std::to_string(i),
                           p.bus[i].limit, of_bus[i]);
    for (unsigned i = 0; i < p.adapters; i++)
        adapters.emplace_back(zone, name + "adapter" + std::to_string(i),
                              p.adapter[i].limit, of_adapter[i]);
    for (unsigned i = 0; i < p.rails; i++) {
        Part rail(zone, name + "rail" + std::to_string(i), p.rail[i].limit,
                  INFINITY);
        const Part &adapter = adapters[p.rail[i].adapter];
        const Part &bus = buses[p.adapter[p.rail[i].adapter].bus];
        s4u::Host *host = zone->create_host(name + std::to_string(i), 1e9);
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        route(rail, adapter, bus, true), false);
        zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr,
                        route(rail, adapter, bus, false), false);
        w.ports[node].push_back(Port{host, &p.rail[i]});
    }
}

void network_new(World &w, unsigned nodes)
{
    s4u::NetZone *zone = s4u::create_star_zone("cluster");
    w.ports.resize(nodes);
    w.neighbours.resize(nodes);
    w.copies.resize(nodes); /* as many memories at most */
    for (unsigned n = 0; n < nodes; n++)
        node_new(w, zone, n);
    zone->seal();
}

/* Its connection turns to the next one. */
void parcel_left(const Parcel &parcel)
{
    double &free_s = parcel.flow->free_s;
    free_s = std::max(free_s, clock_s() + parcel.from->rail->turnaround);
    parcel.call(parcel.arg);
}

void parcel_flow(const Parcel &parcel)
{
    s4u::CommPtr comm =
        s4u::Comm::sendto_async(parcel.from->host, parcel.to, parcel.bytes);
    Parcel &moving = world->under_way[comm.get()] = parcel;
    moving.comm = comm;
}

/* A parcel of the port has left: the next one takes its place. */
void port_go_on(Port &port)
{
    if (port.waiting.empty()) {
        port.streams--;
        return;
    }
    Parcel next = port.waiting.front();
    port.waiting.pop_front();
    Timer::set(clock_s(), [next] { parcel_flow(next); });
}

void transfer_ended(const s4u::Activity &activity)
{
    auto at = world->under_way.find(&activity);
    Parcel parcel = at->second;
    world->under_way.erase(at);
    port_go_on(*parcel.from);
    parcel_left(parcel);
    /* the simulator, which tells it, still looks at it */
    Timer::set(s4u::Engine::get_clock(), [held = parcel.comm] {});
}

/* Has the rail so many connections in use that it has lost sight of this one?
 * It knows those that it has served last. */
bool is_unknown(Port &port, const sim_flow &flow)
{
    auto &recent = port.recent;
    auto at = std::find(recent.begin(), recent.end(), flow.number);
    bool full = recent.size() == port.rail->connections;
    bool unknown = at == recent.end() && full;
    if (at != recent.end() || full)
        recent.erase(at != recent.end() ? at : at - 1);
    recent.insert(recent.begin(), flow.number);
    return unknown;
}

/* When its bytes begin to leave. */
double leaves_at(Port &port, sim_flow &flow)
{
    const sim_rail &rail = *port.rail;
    double at = std::max(clock_s(), port.free_s);
    if (rail.connections && is_unknown(port, flow))
        at += rail.connection_cost;
    port.free_s = at + rail.gap;
    flow.free_s = at + rail.connection_gap;
    return at;
}

void parcel_leave(const Parcel &parcel)
{
    Port &port = *parcel.from;
    if (!parcel.bytes) {
        parcel_left(parcel);
    } else if (port.rail->streams && port.streams == port.rail->streams) {
        port.waiting.push_back(parcel);
    } else {
        port.streams++;
        parcel_flow(parcel);
    }
}

/* When its connection is free: another of it may have left meanwhile. Who waits
 * for the rail waits in turn. */
void parcel_send(const Parcel &parcel)
{
    if (parcel.flow->free_s > clock_s()) {
        Timer::set(parcel.flow->free_s, [parcel] { parcel_send(parcel); });
        return;
    }
    Timer::set(leaves_at(*parcel.from, *parcel.flow),
               [parcel] { parcel_leave(parcel); });
}

/* ------------------------------------------------------------------ actors */

void configure()
{
    /* rates and latencies are what the platform says, shared max-min fair */
    for (const char *option :
         {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
          "network/latency-factor:1", "network/bandwidth-factor:1",
          "contexts/factory:raw", "contexts/stack-size:256"})
        s4u::Engine::set_config(option);
}

Rank &self()
{
    return world->ranks[sim_rank()];
}

s4u::ActorPtr actor_new(unsigned rank, const std::function<void()> &body)
{
    s4u::Host *host = world->ports[world->ranks[rank].node][0].host;
    return s4u::Actor::create("rank" + std::to_string(rank), host,
                              [rank, body] {
                                  aid_t id = s4u::this_actor::get_pid();
                                  world->actors[id] = rank;
                                  body();
                                  world->actors.erase(id);
                              });
}

double date_of(uint64_t ns)
{
    return static_cast<double>(ns) * NS;
}

/* At this time, when all actors sleep: whom it resumes has gone to sleep, and
 * who asks for it is not interrupted. */
template <class F> void soon(F call)
{
    Timer::set(clock_s(), call);
}

void rouse(Sleeper *s)
{
    s->woken = true;
    if (s->alarm)
        s->alarm->remove();
    s->actor->resume();
}

void sleep(const Sleeper &me)
{
    while (!me.woken)
        s4u::this_actor::suspend();
}

void rouse_all(const void *what)
{
    auto at = world->sleepers.find(what);
    if (at == world->sleepers.end())
        return;
    std::vector<Sleeper *> list = std::move(at->second);
    world->sleepers.erase(at);
    for (Sleeper *s : list)
        rouse(s);
}

/* Its time is over. */
void give_up(const void *what, Sleeper *s)
{
    auto at = world->sleepers.find(what);
    auto &list = at->second;
    list.erase(std::find(list.begin(), list.end(), s));
    if (list.empty())
        world->sleepers.erase(at);
    s->alarm = nullptr;
    rouse(s);
}

/* ------------------------------------------------------- memory of a node */

Copies &memory_of(unsigned node)
{
    return world->copies[node / std::max(1u, world->platform->memory.nodes)];
}

/* How many of these are in another one's caches, where they are no more. */
uint64_t handed_over(uintptr_t begin, uintptr_t end)
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

unsigned copies_at_once(const Copies &c)
{
    return static_cast<unsigned>(c.memory.ends.size() + c.cache.ends.size());
}

/* Bytes a second of each; there are some. */
double share_rate(const Copies &c, const Share &share)
{
    const struct sim_platform *p = world->platform;
    unsigned n = copies_at_once(c);
    return &share == &c.cache ? sim_platform_cache_rate(p, n)
                              : sim_platform_copy_rate(p, n);
}

Share &share_of(Copies &c, uint64_t bytes)
{
    const auto &memory = world->platform->memory;
    bool cached = memory.cache_rate.count &&
                  static_cast<double>(bytes) <= memory.cache_bytes;
    return cached ? c.cache : c.memory;
}

/* To this moment, before another one begins or ends. */
void copies_serve(Copies &c)
{
    for (Share *share : {&c.memory, &c.cache})
        if (!share->ends.empty())
            share->served += (clock_s() - c.as_of) * share_rate(c, *share);
    c.as_of = clock_s();
}

/* The first of them ends in so many seconds. */
double share_left(const Copies &c, const Share &share)
{
    double bytes = std::max(0.0, share.ends.begin()->first - share.served);
    return bytes / share_rate(c, share);
}

void copies_end(Copies &c, Share &first);

void copies_go_on(Copies &c)
{
    Share *first = nullptr;
    for (Share *share : {&c.memory, &c.cache}) {
        if (share->ends.empty())
            share->served = 0;
        else if (!first || share_left(c, *share) < share_left(c, *first))
            first = share;
    }
    if (first)
        c.alarm = Timer::set(clock_s() + share_left(c, *first),
                             [&c, first] { copies_end(c, *first); });
}

/* The caller is one of them, for so many bytes. */
void copies_join(Copies &c, Share &share, double bytes)
{
    Sleeper me = {s4u::Actor::self(), nullptr, false};
    self().vain_polls = 0;
    copies_serve(c);
    share.ends.emplace(share.served + bytes, &me);
    if (c.alarm)
        c.alarm->remove();
    copies_go_on(c);
    sleep(me);
}

void copies_end(Copies &c, Share &first)
{
    c.alarm = nullptr;
    copies_serve(c);
    first.served = first.ends.begin()->first;
    while (!first.ends.empty() && first.ends.begin()->first <= first.served) {
        rouse(first.ends.begin()->second);
        first.ends.erase(first.ends.begin());
    }
    copies_go_on(c);
}

/* Whoever pauses or waits on the node looks again. */
void node_look(unsigned node)
{
    for (unsigned rank : world->neighbours[node]) {
        world->ranks[rank].step_ns = FIRST_STEP_NS;
        sim_wake(&world->ranks[rank]);
    }
}

/* The oldest one: all take the same time. */
void flag_seen()
{
    Flag flag = world->flags.front();
    Rank &rank = world->ranks[flag.rank];
    world->flags.pop_front();
    __atomic_store_n(flag.where, flag.value, __ATOMIC_SEQ_CST);
    node_look(rank.node);
    if (!--rank.unseen)
        sim_wake(&rank.unseen);
}

} // namespace

extern "C" {

int sim_run(const struct sim_platform *platform, unsigned nranks,
            const unsigned *node, void (*rank_main)(void *arg, unsigned rank),
            void *arg)
{
    char name[] = "sim", quiet[] = "--log=root.thresh:critical";
    char *argv[] = {name, quiet, nullptr};
    int argc = 2;
    s4u::Engine engine(&argc, argv);
    World w;
    configure();
    world = &w;
    w.platform = platform;
    network_new(w, *std::max_element(node, node + nranks) + 1);
    for (unsigned r = 0; r < nranks; r++) {
        w.ranks.emplace_back();
        w.ranks[r].node = node[r];
        w.neighbours[node[r]].push_back(r);
    }
    s4u::Comm::on_completion_cb(transfer_ended);
    s4u::Engine::on_deadlock_cb([] { world->stuck = true; });
    for (unsigned r = 0; r < nranks; r++)
        actor_new(r, [rank_main, arg, r] { rank_main(arg, r); });
    engine.run();
    world = nullptr;
    return w.stuck ? -1 : 0;
}

unsigned sim_rank(void)
{
    if (!world)
        return SIM_NOBODY;
    auto at = world->actors.find(s4u::this_actor::get_pid());
    return at == world->actors.end() ? SIM_NOBODY : at->second;
}

unsigned sim_node_of(unsigned rank)
{
    return world->ranks[rank].node;
}

const struct sim_platform *sim_running(void)
{
    return world ? world->platform : nullptr;
}

/* -------------------------------------------------------------------- time */

uint64_t sim_now(void)
{
    return static_cast<uint64_t>(std::llround(clock_s() / NS));
}

void sim_wait(const void *what, uint64_t until_ns)
{
    Sleeper me = {s4u::Actor::self(), nullptr, false};
    if (until_ns <= sim_now())
        return;
    if (until_ns != SIM_FOREVER)
        me.alarm =
            Timer::set(date_of(until_ns), [what, &me] { give_up(what, &me); });
    world->sleepers[what].push_back(&me);
    sleep(me);
}

void sim_busy(double seconds)
{
    Sleeper me = {s4u::Actor::self(), nullptr, false};
    if (seconds <= 0)
        return;
    self().vain_polls = 0;
    Timer::set(clock_s() + seconds, [&me] { rouse(&me); });
    sleep(me);
    sim_wake(&self()); /* others may wait for what it has had */
}

void sim_wake(const void *what)
{
    if (world->sleepers.count(what))
        soon([what] { rouse_all(what); });
}

void sim_sleep_until(uint64_t ns)
{
    Rank &rank = self();
    rank.vain_polls = 0;
    sim_wait(&ns, ns);
}

/* -------------------------------------------------------------------- news */

void sim_news(unsigned number)
{
    Rank &rank = world->ranks[number];
    rank.news++;
    rank.step_ns = FIRST_STEP_NS;
    rank.vain_polls = 0;
    sim_wake(&rank);
}

uint64_t sim_news_count(unsigned rank)
{
    return world->ranks[rank].news;
}

void sim_wait_news(uint64_t count, uint64_t until_ns)
{
    Rank &rank = self();
    rank.vain_polls = 0;
    if (rank.news == count)
        sim_wait(&rank, until_ns);
}

/* Twice the last one, up to a part of what the rank has waited. */
static void step(Rank &rank)
{
    uint64_t now = sim_now(), ns = rank.step_ns;
    if (ns == FIRST_STEP_NS)
        rank.stands_since = now;
    uint64_t most =
        std::max(LONGEST_STEP_NS, (now - rank.stands_since) / STEP_PART);
    rank.step_ns = std::min(2 * ns, most);
    sim_wait(&rank, now + ns);
}

void sim_pause(void)
{
    Rank &rank = self();
    rank.vain_polls = 0;
    step(rank);
}

void sim_polled(void)
{
    Rank &rank = self();
    if (rank.vain_polls < FREE_POLLS)
        rank.vain_polls++;
    else
        step(rank);
}

/* --------------------------------------------------------- memory of a node */

void sim_copy(const void *to, const void *from, uint64_t bytes)
{
    auto begin = reinterpret_cast<uintptr_t>(from);
    auto target = reinterpret_cast<uintptr_t>(to);
    double rate = world->platform->memory.handover_rate;
    if (!bytes)
        return;
    uint64_t foreign = handed_over(begin, begin + bytes);
    handed_over(target, target + bytes); /* it is written anew */
    Copies &c = memory_of(self().node);
    copies_join(c, share_of(c, bytes), static_cast<double>(bytes));
    if (foreign)
        sim_busy(static_cast<double>(foreign) / rate);
}

void sim_carried(const void *to, uint64_t bytes)
{
    auto begin = reinterpret_cast<uintptr_t>(to);
    if (!bytes || world->platform->memory.handover_rate <= 0)
        return;
    handed_over(begin, begin + bytes);
    world->carried[begin] = begin + bytes;
}

void sim_carry(uint64_t bytes, double rate)
{
    double alone = sim_platform_copy_rate(world->platform, 1);
    Copies &c = memory_of(self().node);
    if (bytes)
        copies_join(c, c.memory, static_cast<double>(bytes) * alone / rate);
    sim_wake(&self()); /* as after sim_busy */
}

void sim_flag_set(uint32_t *flag, uint32_t value)
{
    self().unseen++;
    world->flags.push_back({flag, value, sim_rank()});
    if (world->platform->memory.flag > 0)
        Timer::set(clock_s() + world->platform->memory.flag, flag_seen);
    else
        flag_seen();
}

void sim_flag_wait(uint64_t until_ns)
{
    sim_wait(&self(), until_ns);
}

void sim_flag_wake(void)
{
    node_look(self().node);
}

void sim_flags_settle(void)
{
    Rank &rank = self();
    while (rank.unseen)
        sim_wait(&rank.unseen, SIM_FOREVER);
}

/* ----------------------------------------------------------------- threads */

struct sim_threads {
    std::vector<s4u::ActorPtr> actors;
};

int sim_threads_start(unsigned n, void (*body)(void *arg, unsigned index),
                      void *arg, struct sim_threads **threads)
{
    auto *started = new sim_threads;
    if (n)
        sim_busy(world->platform->threads.fork);
    for (unsigned i = 0; i < n; i++)
        started->actors.push_back(
            actor_new(sim_rank(), [body, arg, i] { body(arg, i); }));
    *threads = started;
    return 0;
}

void sim_threads_join(struct sim_threads *threads)
{
    for (auto &actor : threads->actors)
        actor->join();
    delete threads;
}

/* --------------------------------------------------------------- transfers */

void sim_after(double seconds, void (*call)(void *arg), void *arg)
{
    Timer::set(clock_s() + seconds, [call, arg] { call(arg); });
}

void sim_arrive(struct sim_place at, double seconds, void (*call)(void *arg),
                void *arg)
{
    Port &port = world->ports[at.node][at.rail];
    double date = std::max(clock_s() + seconds, port.lands_s);
    port.lands_s = date + port.rail->receive_gap;
    Timer::set(date, [call, arg] { call(arg); });
}

void sim_send(struct sim_flow *flow, struct sim_place from, struct sim_place to,
              uint64_t bytes, void (*call)(void *arg), void *arg)
{
    Parcel parcel = {flow,
                     &world->ports[from.node][from.rail],
                     world->ports[to.node][to.rail].host,
                     bytes,
                     call,
                     arg};
    if (!flow->number)
        flow->number = ++world->flows;
    parcel_send(parcel); /* now: timers of one date keep no order */
}

} // extern "C"
