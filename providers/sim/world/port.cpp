/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>

#include "world.hpp"

namespace s4u = simgrid::s4u;

namespace sim
{

struct Outgoing {
    sim_flow *flow;
    Port *from;
    s4u::Host *to;
    uint64_t bytes;
    Call left; /* to be made when its last byte has left */
    s4u::CommPtr comm = nullptr;
};

static void message_free(Outgoing *message)
{
    delete message;
}

/* The connection may begin to serve its next message. */
static void has_left(Outgoing *message)
{
    double &free_s = message->flow->free_s;
    free_s = std::max(free_s, clock_s() + message->from->rail->turnaround);
    message->left.function(message->left.arg);
}

static void stream(Outgoing *message)
{
    message->comm = s4u::Comm::sendto_async(message->from->host, message->to,
                                            message->bytes);
    message->comm->set_data(message);
}

/* A message of the port has left; the next one begins. */
static void stream_next(Port &port)
{
    if (port.waiting.empty()) {
        port.streams--;
        return;
    }
    world->agenda.add_now<stream>(port.waiting.front());
    port.waiting.pop_front();
}

void watch_sends()
{
    s4u::Comm::on_completion_cb([](const s4u::Activity &activity) {
        Outgoing *message = activity.get_data<Outgoing>();
        stream_next(*message->from);
        has_left(message);
        /* later: the simulator still uses its comm */
        world->agenda.add_now<message_free>(message);
    });
}

/* Has the rail lost this connection's state? It holds that of the connections
 * that it has used last. */
static bool is_unknown(Port &port, const sim_flow &flow)
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

/* Takes the message's turn on port and connection. Returns when its bytes begin
 * to leave. */
static double take_turn(Port &port, sim_flow &flow)
{
    const sim_rail &rail = *port.rail;
    double at = std::max(clock_s(), port.free_s);
    if (rail.connections && is_unknown(port, flow))
        at += rail.connection_cost;
    port.free_s = at + rail.gap;
    flow.free_s = at + rail.connection_gap;
    return at;
}

static void leave(Outgoing *message)
{
    Port &port = *message->from;
    if (!message->bytes) {
        has_left(message);
        message_free(message);
    } else if (port.rail->streams && port.streams == port.rail->streams) {
        port.waiting.push_back(message);
    } else {
        port.streams++;
        stream(message);
    }
}

/* Another message of its connection may have left while this one waited. If it
 * waits for the port, its turn is fixed. */
static void send(Outgoing *message)
{
    if (message->flow->free_s > clock_s())
        world->agenda.add<send>(message->flow->free_s, message);
    else
        world->agenda.add<leave>(take_turn(*message->from, *message->flow),
                                 message);
}

} // namespace sim

using namespace sim;

void sim_send(struct sim_flow *flow, struct sim_place from, struct sim_place to,
              uint64_t bytes, void (*call)(void *arg), void *arg)
{
    auto *message = new Outgoing{flow,
                                 &world->ports[from.node][from.rail],
                                 world->ports[to.node][to.rail].host,
                                 bytes,
                                 {call, arg}};
    if (!flow->number)
        flow->number = ++world->flows;
    send(message);
}

void sim_arrive(struct sim_place at, double seconds, void (*call)(void *arg),
                void *arg)
{
    Port &port = world->ports[at.node][at.rail];
    double date = std::max(clock_s() + seconds, port.lands_s);
    port.lands_s = date + port.rail->receive_gap;
    world->agenda.add(date, {call, arg});
}
