/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.hpp"

namespace sim
{

void wake_up(Sleeper *s)
{
    s->woken = true;
    world->agenda.remove(s->timeout);
    s->actor->resume();
}

void sleep(const Sleeper &me)
{
    switching([&me] {
        while (!me.woken)
            simgrid::s4u::this_actor::suspend();
    });
}

/* Not inlined: gcc 12 takes a sleeper on its caller's stack for one that stays
 * in the queue, although it leaves the queue before its caller continues. */
[[gnu::noinline]] static void append(WaitQueue &queue, Sleeper *s)
{
    s->queue = &queue;
    s->before = queue.last;
    (queue.last ? queue.last->next : queue.first) = s;
    queue.last = s;
}

/* The queue is empty, and nothing is going to be woken. */
static void reset(WaitQueue &queue)
{
    if (queue.address)
        world->waiting.erase(queue.address);
    else
        queue = WaitQueue{};
}

static void leave_queue(const Sleeper *s)
{
    WaitQueue &queue = *s->queue;
    (s->before ? s->before->next : queue.first) = s->next;
    (s->next ? s->next->before : queue.last) = s->before;
    if (!queue.first && !queue.waking)
        reset(queue);
}

static void wake_all(WaitQueue *queue)
{
    Sleeper *s = queue->first;
    reset(*queue);
    while (s) {
        Sleeper *next = s->next; /* s lives on the stack of its actor */
        wake_up(s);
        s = next;
    }
}

void wake(WaitQueue &queue)
{
    if (queue.first && !queue.waking) {
        queue.waking = true;
        world->agenda.add_now<wake_all>(&queue);
    }
}

static void time_out(Sleeper *s)
{
    if (s->queue)
        leave_queue(s);
    s->timeout.reset();
    wake_up(s);
}

void sleep_until(double date)
{
    Sleeper me = {world->running->actor};
    me.timeout = world->agenda.add<time_out>(date, &me);
    sleep(me);
}

void wait_in(WaitQueue &queue, uint64_t until_ns)
{
    Sleeper me = {world->running->actor};
    if (until_ns <= sim_now())
        return;
    append(queue, &me);
    if (until_ns != SIM_FOREVER)
        me.timeout = world->agenda.add<time_out>(date_of(until_ns), &me);
    sleep(me);
}

} // namespace sim

void sim_wait(const void *what, uint64_t until_ns)
{
    auto &waiting = sim::world->waiting;
    if (until_ns > sim_now())
        wait_in(waiting.try_emplace(what, sim::WaitQueue{what}).first->second,
                until_ns);
}

void sim_wake(const void *what)
{
    auto at = sim::world->waiting.find(what);
    if (at != sim::world->waiting.end())
        wake(at->second);
}
