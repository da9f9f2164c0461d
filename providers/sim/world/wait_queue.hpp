/* SPDX-License-Identifier: BSD-3-Clause */
/* Actors that sleep: until a date, or in a queue until another wakes it. */
#ifndef PROVIDERS_SIM_WORLD_WAIT_QUEUE_HPP
#define PROVIDERS_SIM_WORLD_WAIT_QUEUE_HPP

#include <optional>

#include <simgrid/s4u.hpp>

#include "agenda.hpp"

namespace sim
{

struct WaitQueue;

/* A sleeping actor. It lives on the actor's stack. */
struct Sleeper {
    simgrid::s4u::Actor *actor;
    WaitQueue *queue = nullptr; /* where it waits, or NULL … */
    Sleeper *before = nullptr, *next = nullptr;
    std::optional<Agenda::Entry> timeout{}; /* … and until when */
    bool woken = false;
};

/* Actors that wait for the same event, the earliest first. */
struct WaitQueue {
    const void *address = nullptr; /* in World.waiting; NULL: a rank's queue */
    Sleeper *first = nullptr, *last = nullptr;
    bool waking = false; /* its actors are going to be woken */
};

/* The caller sleeps until wake_up(&me). */
void sleep(const Sleeper &me);
void wake_up(Sleeper *s);

void sleep_until(double date);
/* Sleeps in the queue until woken, or until that time. */
void wait_in(WaitQueue &queue, uint64_t until_ns);
void wake(WaitQueue &queue);

} // namespace sim
#endif
