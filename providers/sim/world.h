/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world in virtual time: its ranks are actors of this process, of which one
 * runs at a time, until it lets time pass. Nothing but world.cpp knows the
 * simulator below. One world at a time, and one in the life of a process.
 *
 * Times are nanoseconds since the world began, and seconds where they are parts
 * of a sum. Calls are made by actors, unless they say otherwise.
 */
#ifndef PROVIDERS_SIM_WORLD_H
#define PROVIDERS_SIM_WORLD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/sim/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_FOREVER UINT64_MAX
#define SIM_NOBODY  UINT_MAX

struct sim_place {
    unsigned node, rail;
};

/* What leaves one end of a connection; zero at first. */
struct sim_flow {
    uint64_t number; /* 0: nothing has left yet */
    double free_s;   /* the next may leave */
};

struct sim_threads;

/* Runs rank_main(arg, rank) for each rank on its node, until all have returned.
 * 0, or -1 when those who are left wait for what never comes. Not by actors. */
int sim_run(const struct sim_platform *platform, unsigned nranks,
            const unsigned *node, void (*rank_main)(void *arg, unsigned rank),
            void *arg);

/* Of the calling actor; SIM_NOBODY: it is none. Anybody. */
unsigned sim_rank(void);
unsigned sim_node_of(unsigned rank);
/* That of the running world, or NULL. Anybody. */
const struct sim_platform *sim_running(void);

uint64_t sim_now(void);
void sim_sleep_until(uint64_t ns);
/* The actor's processor works so long, whatever comes meanwhile. */
void sim_busy(double seconds);

/* Sleeps until somebody wakes those who wait for this address, or it is so
 * late. Waking takes no time; anybody may, also with locks. */
void sim_wait(const void *what, uint64_t until_ns);
void sim_wake(const void *what);

/* Copies of a node share what its memory can do: so long takes one of so many
 * bytes from there, and longer the first of what was carried there. What was
 * carried to where it goes is gone. */
void sim_copy(const void *to, const void *from, uint64_t bytes);
/* So many bytes have been carried there. */
void sim_carried(const void *to, uint64_t bytes);
/* The same of one that reaches this rate when it is alone. */
void sim_carry(uint64_t bytes, double rate);

/* Memory of this range has no contents from now on, or has some again: nothing
 * is moved there or from there, and whoever else touches one of its pages is
 * ended. 0, or -1: no memory to note it, or part of it is in another range; or
 * its pages can't be touched again, and it is good for being unmapped alone. */
int sim_hollow(const void *address, size_t bytes, bool on);
/* As memcpy, unless one of the two has no contents. Takes no time. */
void *sim_move(void *to, const void *from, size_t bytes);

/* Sets a flag in memory that others of the node, or of the rank, look at. They
 * see it when the platform's time for that is over, in the order of its
 * setting, and those who pause or wait for a flag look again. */
void sim_flag_set(uint32_t *flag, uint32_t value);
/* Until it is so late, or any flag of the node may have been set. */
void sim_flag_wait(uint64_t until_ns);
/* Those who wait for a flag of the node look again. */
void sim_flag_wake(void);
/* Until all flags that the rank has set are seen: before their memory goes. */
void sim_flags_settle(void);

/* Something has come for the rank: whoever waits or polls in it looks again. */
void sim_news(unsigned rank);
uint64_t sim_news_count(unsigned rank);
/* Until there is more news than that. */
void sim_wait_news(uint64_t count, uint64_t until_ns);
/* Between two polls: until there is news, for a step that grows. */
void sim_pause(void);
/* A poll has found nothing: many that do so, and nothing else, pause. */
void sim_polled(void);

/* Threads of the calling rank: body(arg, i) for each i < n. 0, or -1. What they
 * cost, with their joining, is paid before they begin. */
int sim_threads_start(unsigned n, void (*body)(void *arg, unsigned index),
                      void *arg, struct sim_threads **threads);
void sim_threads_join(struct sim_threads *threads);

/* Calls back later, in no actor, where nothing may sleep. With locks, and by
 * anybody. */
void sim_after(double seconds, void (*call)(void *arg), void *arg);
/* The same of a message that comes to this place after so long, when those that
 * have come before it leave it room. */
void sim_arrive(struct sim_place at, double seconds, void (*call)(void *arg),
                void *arg);
/* The same when the last of these bytes has left, which begin to when their
 * connection and their rail are free. The flow lives until then. */
void sim_send(struct sim_flow *flow, struct sim_place from, struct sim_place to,
              uint64_t bytes, void (*call)(void *arg), void *arg);

/* What those need who load this library at run time, by the name of this. */
struct sim_api {
    int (*platform_read)(const char *name, unsigned ranks,
                         struct sim_platform *p, char why[SIM_WHY_MAX]);
    int (*run)(const struct sim_platform *platform, unsigned nranks,
               const unsigned *node,
               void (*rank_main)(void *arg, unsigned rank), void *arg);
    uint64_t (*now)(void);
    void (*sleep_until)(uint64_t ns);
    void (*busy)(double seconds);
    void (*wait)(const void *what, uint64_t until_ns);
    void (*wake)(const void *what);
    void (*copy)(const void *to, const void *from, uint64_t bytes);
    int (*hollow)(const void *address, size_t bytes, bool on);
    void *(*move)(void *to, const void *from, size_t bytes);
    void (*flag_set)(uint32_t *flag, uint32_t value);
    void (*flag_wait)(uint64_t until_ns);
    void (*flag_wake)(void);
    void (*flags_settle)(void);
    void (*pause)(void);
    int (*threads_start)(unsigned n, void (*body)(void *arg, unsigned index),
                         void *arg, struct sim_threads **threads);
    void (*threads_join)(struct sim_threads *threads);
};
__attribute__((visibility("default"))) extern const struct sim_api sim_api;

#ifdef __cplusplus
}
#endif
#endif
