/* SPDX-License-Identifier: BSD-3-Clause */
#include <cmath>
#include <map>
#include <string>

#include "network.hpp"

namespace s4u = simgrid::s4u;

namespace sim
{

static s4u::Link *link_new(s4u::NetZone *zone, const std::string &name,
                           double rate)
{
    return zone->create_link(name, rate)->set_latency(0)->seal();
}

/* The links of a rail, an adapter or a bus, which all its users pass: one for
 * each direction, and one for both. None if there is no limit, or if the part's
 * rails together (`most` in each direction) can't reach it. */
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

static std::vector<s4u::LinkInRoute>
route(const Part &rail, const Part &adapter, const Part &bus, bool leaving)
{
    std::vector<s4u::LinkInRoute> links;
    for (const Part *part : {&rail, &adapter, &bus})
        part->add_to(links, leaving);
    return links;
}

/* The leaves, by number; none: one switch connects all ports. */
class Leaves
{
    const sim_platform &platform;
    s4u::NetZone *spine;
    std::map<unsigned, s4u::NetZone *> leaves{};

  public:
    Leaves(const sim_platform &p, s4u::NetZone *s) : platform(p), spine(s)
    {
    }

    s4u::NetZone *of(unsigned node, unsigned rail)
    {
        if (!platform.leaf.ports)
            return spine;
        auto number = sim_platform_leaf(&platform, node, rail);
        s4u::NetZone *&leaf = leaves[number];
        if (!leaf)
            leaf = s4u::create_star_zone("leaf" + std::to_string(number))
                       ->set_parent(spine);
        return leaf;
    }

    void connect() const
    {
        double rate = platform.leaf.uplinks * platform.leaf.uplink_rate;
        for (auto [number, leaf] : leaves) {
            std::string name = leaf->get_name();
            auto *gateway = leaf->create_router(name + "-switch");
            spine->add_route(
                leaf->get_netpoint(), nullptr, gateway, nullptr,
                {s4u::LinkInRoute(link_new(spine, name + "-up", rate))}, false);
            spine->add_route(
                nullptr, leaf->get_netpoint(), nullptr, gateway,
                {s4u::LinkInRoute(link_new(spine, name + "-down", rate))},
                false);
            leaf->seal();
        }
    }
};

static std::vector<Port> node_new(const sim_platform &p, s4u::NetZone *zone,
                                  Leaves &leaves, unsigned node)
{
    std::string name = "node" + std::to_string(node) + "-";
    std::vector<Part> buses, adapters;
    std::vector<Port> ports;
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
        sim_limit limit = p.rail[i].limit;
        if (node < p.rail[i].slow_nodes)
            limit.rate = p.rail[i].slow_rate;
        Part rail(zone, name + "rail" + std::to_string(i), limit, INFINITY);
        const Part &adapter = adapters[p.rail[i].adapter];
        const Part &bus = buses[p.adapter[p.rail[i].adapter].bus];
        s4u::NetZone *leaf = leaves.of(node, i);
        s4u::Host *host = leaf->create_host(name + std::to_string(i), 1e9);
        leaf->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        route(rail, adapter, bus, true), false);
        leaf->add_route(nullptr, host->get_netpoint(), nullptr, nullptr,
                        route(rail, adapter, bus, false), false);
        ports.push_back(Port{host, &p.rail[i]});
    }
    return ports;
}

Ports network_new(const sim_platform &platform, unsigned nodes)
{
    s4u::NetZone *zone = s4u::create_star_zone("cluster");
    Leaves leaves(platform, zone);
    Ports ports;
    for (unsigned n = 0; n < nodes; n++)
        ports.push_back(node_new(platform, zone, leaves, n));
    leaves.connect();
    zone->seal();
    return ports;
}

} // namespace sim
