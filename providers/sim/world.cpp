/* SPDX-License-Identifier: BSD-3-Clause */
/* The world, by SimGrid (S4U). */
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
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

constexpr uint64_t STEP_NS = 1000, LONGEST_STEP_NS = 1000000, STEP_PART = 4;
constexpr unsigned FREE_POLLS = 256;
constexpr double NS = 1e-9;

/* Calls to be made later, by date; on one date in the order of setting. */
struct Call {
    void (*function)(void *);
    void *arg;
};
using Agenda = std::multimap<double, Call>;

/* A thread of a rank: an actor. */
struct Thread {
    unsigned rank;
    s4u::Actor *actor;
    uint64_t seen = 0; /* Rank.reasons, when it looked last */
};

struct Line;

struct Sleeper {
    s4u::Actor *actor;
    Line *line = nullptr; /* where it waits, or NULL … */
    Sleeper *before = nullptr, *next = nullptr;
    std::optional<Agenda::iterator> alarm{}; /* … and until when */
    bool woken = false;
};

/* Sleepers that wait for the same address, the earliest first. */
struct Line {
    const void *what = nullptr; /* in World.lines; NULL: a rank's line */
    Sleeper *first = nullptr, *last = nullptr;
    bool called = false; /* its sleepers are going to be woken */
};

struct Rank {
    unsigned node;
    Line line{};   /* of sleepers that wait for any notice */
    Line settle{}; /* of sleepers that wait until all its flags are seen */
    uint64_t notices = 0;
    uint64_t reasons = 0;      /* to look again, counted */
    uint64_t stands_since = 0; /* time of the last, or busy until */
    unsigned vain_polls = 0;
    unsigned unseen = 0; /* flags that it has set and others do not see yet */
};

/* Simultaneous copies in a memory, which all have the same rate. */
struct Share {
    double served = 0;                       /* bytes of each copy so far */
    std::multimap<double, Sleeper *> ends{}; /* by served at their end */
};

struct Copies {
    Share memory{}, cache{};
    double as_of = 0;       /* time at which served was computed */
    Share *first = nullptr; /* the share in which a copy ends first … */
    std::optional<Agenda::iterator> alarm{}; /* … and when */
};

struct Flag { /* set, and not seen by others yet */
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
    Call ended;
    s4u::CommPtr comm = nullptr;
};

/* A rail of a node. */
struct Port {
    s4u::Host *host;
    const sim_rail *rail;
    double free_s = 0;  /* when the next message may begin to leave */
    double lands_s = 0; /* when the next one may land */
    std::vector<uint64_t> recent{}; /* flows, the latest served first */
    unsigned streams = 0;           /* parcels whose bytes are leaving */
    std::deque<Parcel *> waiting{}; /* for one of these to end */
};

struct World {
    const sim_platform *platform;
    std::vector<std::vector<Port>> ports; /* by node and rail */
    std::vector<Rank> ranks;
    Thread *running = nullptr;
    std::unordered_map<const void *, Line> lines; /* by address */
    Agenda agenda;
    Timer *alarm = nullptr;    /* of the first call … */
    double alarm_s = INFINITY; /* … at this time; none before that is set */
    uint64_t flows = 0;
    std::vector<std::vector<unsigned>> neighbours; /* ranks by node */
    std::vector<Copies> copies;                    /* by memory */
    /* begin and end of bytes in caches of the processor that carried them */
    std::map<uintptr_t, uintptr_t> carried{};
    std::deque<Flag> flags; /* the oldest first */
    bool stuck = false;
};

World *world;

double clock_s()
{
    return s4u::Engine::get_clock();
}

/* ------------------------------------------------------------------ agenda */

void agenda_run();

/* Uses one timer of the simulator at a time. Many timers, most of which are
 * moved, would cost it more than everything else. */
void agenda_arm()
{
    World &w = *world;
    if (w.agenda.empty() || w.agenda.begin()->first >= w.alarm_s)
        return;
    if (w.alarm)
        w.alarm->remove();
    w.alarm_s = w.agenda.begin()->first;
    w.alarm = Timer::set(w.alarm_s, agenda_run);
}

/* Calls may set others, also for now. */
void agenda_run()
{
    World &w = *world;
    w.alarm = nullptr;
    w.alarm_s = -INFINITY;
    while (!w.agenda.empty() && w.agenda.begin()->first <= clock_s()) {
        Call call = w.agenda.begin()->second;
        w.agenda.erase(w.agenda.begin());
        call.function(call.arg);
    }
    w.alarm_s = INFINITY;
    agenda_arm();
}

Agenda::iterator call_at(double date, void (*function)(void *), void *arg)
{
    auto entry = world->agenda.emplace(date, Call{function, arg});
    agenda_arm();
    return entry;
}

template <auto function, class T> Agenda::iterator at(double date, T *arg)
{
    return call_at(
        date, [](void *what) { function(static_cast<T *>(what)); }, arg);
}

/* Makes the calls of this time when all actors sleep: an actor that they wake
 * has gone to sleep before, and the actor that set them is not interrupted. */
template <auto function, class T> void soon(T *arg)
{
    at<function>(clock_s(), arg);
}

/* ------------------------------------------------------------- the network */

s4u::Link *link_new(s4u::NetZone *zone, const std::string &name, double rate)
{
    return zone->create_link(name, rate)->set_latency(0)->seal();
}

/* The links of a part, which all its users pass: one for each direction, and
 * one for both. None if there is no limit, or if the part's rails together
 * (`most` in each direction) can't reach it. */
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
    w.copies.resize(nodes); /* at least as many as memories */
    for (unsigned n = 0; n < nodes; n++)
        node_new(w, zone, n);
    zone->seal();
}

/* The connection begins to serve its next message. */
void parcel_left(Parcel *parcel)
{
    double &free_s = parcel->flow->free_s;
    free_s = std::max(free_s, clock_s() + parcel->from->rail->turnaround);
    parcel->ended.function(parcel->ended.arg);
}

void parcel_free(Parcel *parcel)
{
    delete parcel;
}

void parcel_flow(Parcel *parcel)
{
    parcel->comm =
        s4u::Comm::sendto_async(parcel->from->host, parcel->to, parcel->bytes);
    parcel->comm->set_data(parcel);
}

/* A parcel of the port has left; the next one begins. */
void port_go_on(Port &port)
{
    if (port.waiting.empty()) {
        port.streams--;
        return;
    }
    soon<parcel_flow>(port.waiting.front());
    port.waiting.pop_front();
}

void transfer_ended(const s4u::Activity &activity)
{
    Parcel *parcel = activity.get_data<Parcel>();
    port_go_on(*parcel->from);
    parcel_left(parcel);
    soon<parcel_free>(parcel); /* the simulator still uses its comm */
}

/* Has the rail lost this connection's state? It holds that of the connections
 * that it has used last. */
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

/* The time at which a message's bytes begin to leave. */
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

void parcel_leave(Parcel *parcel)
{
    Port &port = *parcel->from;
    if (!parcel->bytes) {
        parcel_left(parcel);
        parcel_free(parcel);
    } else if (port.rail->streams && port.streams == port.rail->streams) {
        port.waiting.push_back(parcel);
    } else {
        port.streams++;
        parcel_flow(parcel);
    }
}

/* Its connection is free now; another message of it may have left meanwhile. A
 * message that waits for the rail takes its turn. */
void parcel_send(Parcel *parcel)
{
    if (parcel->flow->free_s > clock_s())
        at<parcel_send>(parcel->flow->free_s, parcel);
    else
        at<parcel_leave>(leaves_at(*parcel->from, *parcel->flow), parcel);
}

/* ------------------------------------------------------------------ actors */

void configure()
{
    /* rates and latencies are the platform's; links are shared max-min fair */
    for (const char *option :
         {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
          "network/latency-factor:1", "network/bandwidth-factor:1",
          "contexts/factory:raw", "contexts/stack-size:256"})
        s4u::Engine::set_config(option);
}

Rank &self()
{
    return world->ranks[world->running->rank];
}

/* A call during which other actors run. */
template <class F> auto switching(F call)
{
    struct Back { /* back to the caller */
        Thread *running = world->running;
        Back()
        {
            world->running = nullptr;
        }
        ~Back()
        {
            world->running = running;
        }
    } back;
    return call();
}

void thread_run(unsigned rank, const std::function<void()> &body)
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

double date_of(uint64_t ns)
{
    return static_cast<double>(ns) * NS;
}

void alarm_end(std::optional<Agenda::iterator> &alarm)
{
    if (alarm)
        world->agenda.erase(*alarm);
    alarm.reset();
}

void rouse(Sleeper *s)
{
    s->woken = true;
    alarm_end(s->alarm);
    s->actor->resume();
}

void sleep(const Sleeper &me)
{
    switching([&me] {
        while (!me.woken)
            s4u::this_actor::suspend();
    });
}

/* Not inlined: gcc 12 takes a sleeper on its caller's stack for one that stays
 * in the line, although it leaves the line before its caller continues. */
[[gnu::noinline]] void line_up(Line &line, Sleeper *s)
{
    s->line = &line;
    s->before = line.last;
    (line.last ? line.last->next : line.first) = s;
    line.last = s;
}

/* The line has no sleepers, and none is going to be woken. */
void line_end(Line &line)
{
    if (line.what)
        world->lines.erase(line.what);
    else
        line = Line{};
}

void line_leave(const Sleeper *s)
{
    Line &line = *s->line;
    (s->before ? s->before->next : line.first) = s->next;
    (s->next ? s->next->before : line.last) = s->before;
    if (!line.first && !line.called)
        line_end(line);
}

void rouse_all(Line *line)
{
    Sleeper *s = line->first;
    line_end(*line);
    while (s) {
        Sleeper *next = s->next; /* s lives on the stack of its actor */
        rouse(s);
        s = next;
    }
}

void wake(Line &line)
{
    if (line.first && !line.called) {
        line.called = true;
        soon<rouse_all>(&line);
    }
}

/* The rank does something other than polling. */
void acts(Rank &rank)
{
    rank.vain_polls = 0;
    rank.stands_since = sim_now();
}

/* Waiters and pollers of the rank look again. */
void look_again(Rank &rank)
{
    rank.reasons++;
    acts(rank);
    wake(rank.line);
}

/* The same, because of what the caller has done. */
void others_look_again(Rank &rank)
{
    Thread &me = *world->running;
    me.seen += me.seen == rank.reasons;
    look_again(rank);
}

/* The sleeper's time is over. */
void give_up(Sleeper *s)
{
    if (s->line)
        line_leave(s);
    s->alarm.reset();
    rouse(s);
}

void sleep_until(double date)
{
    Sleeper me = {world->running->actor};
    me.alarm = at<give_up>(date, &me);
    sleep(me);
}

/* Sleeps in the line until woken, or until that time. */
void wait_in(Line &line, uint64_t until_ns)
{
    Sleeper me = {world->running->actor};
    if (until_ns <= sim_now())
        return;
    line_up(line, &me);
    if (until_ns != SIM_FOREVER)
        me.alarm = at<give_up>(date_of(until_ns), &me);
    sleep(me);
}

/* ------------------------------------------------------- memory of a node */

Copies &memory_of(unsigned node)
{
    return world->copies[node / std::max(1u, world->platform->memory.nodes)];
}

/* Takes these bytes out of the caches of the processor that carried them;
 * returns how many there were. */
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

/* Rate of each copy; there is at least one. */
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

/* Computes served up to now, before a copy begins or ends. */
void copies_serve(Copies &c)
{
    for (Share *share : {&c.memory, &c.cache})
        if (!share->ends.empty())
            share->served += (clock_s() - c.as_of) * share_rate(c, *share);
    c.as_of = clock_s();
}

/* Seconds until the first of the copies ends. */
double share_left(const Copies &c, const Share &share)
{
    double bytes = std::max(0.0, share.ends.begin()->first - share.served);
    return bytes / share_rate(c, share);
}

void copies_end(Copies *c);

void copies_go_on(Copies &c)
{
    Share *first = nullptr;
    for (Share *share : {&c.memory, &c.cache}) {
        if (share->ends.empty())
            share->served = 0;
        else if (!first || share_left(c, *share) < share_left(c, *first))
            first = share;
    }
    c.first = first;
    if (first)
        c.alarm = at<copies_end>(clock_s() + share_left(c, *first), &c);
}

/* The caller copies so many bytes, and sleeps meanwhile. */
void copies_join(Copies &c, Share &share, double bytes)
{
    Sleeper me = {world->running->actor};
    copies_serve(c);
    share.ends.emplace(share.served + bytes, &me);
    alarm_end(c.alarm);
    copies_go_on(c);
    sleep(me);
    others_look_again(self()); /* as after sim_busy */
}

void copies_end(Copies *c)
{
    Share &first = *c->first;
    c->alarm.reset();
    copies_serve(*c);
    first.served = first.ends.begin()->first;
    while (!first.ends.empty() && first.ends.begin()->first <= first.served) {
        rouse(first.ends.begin()->second);
        first.ends.erase(first.ends.begin());
    }
    copies_go_on(*c);
}

/* Those that pause or wait on the node look again. */
void node_look(unsigned node)
{
    for (unsigned rank : world->neighbours[node]) {
        look_again(world->ranks[rank]);
    }
}

/* The oldest flag is seen now: all take the same time. */
void flag_seen(void *)
{
    Flag flag = world->flags.front();
    Rank &rank = world->ranks[flag.rank];
    world->flags.pop_front();
    __atomic_store_n(flag.where, flag.value, __ATOMIC_SEQ_CST);
    node_look(rank.node);
    if (!--rank.unseen)
        wake(rank.settle);
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
    return world && world->running ? world->running->rank : SIM_NOBODY;
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
    if (until_ns > sim_now())
        wait_in(world->lines.try_emplace(what, Line{what}).first->second,
                until_ns);
}

void sim_busy(double seconds)
{
    if (seconds <= 0)
        return;
    sleep_until(clock_s() + seconds);
    others_look_again(self()); /* they may wait for a flag that it has reset */
}

void sim_wake(const void *what)
{
    auto at = world->lines.find(what);
    if (at != world->lines.end())
        wake(at->second);
}

void sim_sleep_until(uint64_t ns)
{
    if (ns > sim_now())
        sleep_until(date_of(ns));
    acts(self());
}

/* ----------------------------------------------------------------- notices */

void sim_notify(unsigned number)
{
    world->ranks[number].notices++;
    look_again(world->ranks[number]);
}

uint64_t sim_notices(unsigned rank)
{
    return world->ranks[rank].notices;
}

void sim_wait_notice(uint64_t count, uint64_t until_ns)
{
    Rank &rank = self();
    if (rank.notices == count)
        wait_in(rank.line, until_ns);
    acts(rank);
}

/* Sleeps until there is a reason to look again; at once, if there has been one
 * since this thread looked last. A change of other memory is noticed after a
 * part of the time that the rank has waited. */
static void step(Rank &rank, Thread &me)
{
    uint64_t now = sim_now();
    uint64_t ns = (now - rank.stands_since) / STEP_PART;
    if (me.seen == rank.reasons)
        wait_in(rank.line, now + std::clamp(ns, STEP_NS, LONGEST_STEP_NS));
    me.seen = rank.reasons;
}

void sim_pause(void)
{
    Rank &rank = self();
    rank.vain_polls = 0;
    step(rank, *world->running);
}

void sim_polled(void)
{
    Rank &rank = self();
    if (rank.vain_polls < FREE_POLLS)
        rank.vain_polls++;
    else
        step(rank, *world->running);
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
    handed_over(target, target + bytes); /* its contents are overwritten */
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
}

void sim_flag_set(uint32_t *flag, uint32_t value)
{
    self().unseen++;
    world->flags.push_back({flag, value, sim_rank()});
    if (world->platform->memory.flag > 0)
        call_at(clock_s() + world->platform->memory.flag, flag_seen, nullptr);
    else
        flag_seen(nullptr);
}

void sim_flag_wait(uint64_t until_ns)
{
    wait_in(self().line, until_ns);
}

void sim_flag_wake(void)
{
    node_look(self().node);
}

void sim_flags_settle(void)
{
    Rank &rank = self();
    while (rank.unseen)
        wait_in(rank.settle, SIM_FOREVER);
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
    switching([threads] {
        for (auto &actor : threads->actors)
            actor->join();
    });
    delete threads;
}

/* --------------------------------------------------------------- transfers */

void sim_after(double seconds, void (*call)(void *arg), void *arg)
{
    call_at(clock_s() + seconds, call, arg);
}

void sim_arrive(struct sim_place at, double seconds, void (*call)(void *arg),
                void *arg)
{
    Port &port = world->ports[at.node][at.rail];
    double date = std::max(clock_s() + seconds, port.lands_s);
    port.lands_s = date + port.rail->receive_gap;
    call_at(date, call, arg);
}

void sim_send(struct sim_flow *flow, struct sim_place from, struct sim_place to,
              uint64_t bytes, void (*call)(void *arg), void *arg)
{
    auto *parcel = new Parcel{flow,
                              &world->ports[from.node][from.rail],
                              world->ports[to.node][to.rail].host,
                              bytes,
                              {call, arg}};
    if (!flow->number)
        flow->number = ++world->flows;
    parcel_send(parcel);
}

} // extern "C"
