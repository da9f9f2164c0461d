/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world in virtual time. Its ranks are actors of this process; one runs at a
 * time, until it lets time pass. Only world/ knows the simulator (SimGrid).
 * A process has one world in its life.
 *
 * Times are nanoseconds since the world began, or seconds where they are added
 * up. Only actors call these functions, except those marked "any caller".
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

/* A connection's messages in one direction; zero at first. */
struct sim_flow {
    uint64_t number; /* 0: no message has left yet */
    double free_s;   /* when the next one may leave */
};

struct sim_threads;

/* Runs rank_main(arg, rank) for each rank on its node, until all have returned.
 * 0, or -1 when the remaining actors wait for events that never come. Not
 * called by an actor. */
int sim_run(const struct sim_platform *platform, unsigned nranks,
            const unsigned *node, void (*rank_main)(void *arg, unsigned rank),
            void *arg);

/* The rank of the calling actor; SIM_NOBODY: the caller is no actor. Any
 * caller. */
unsigned sim_rank(void);
unsigned sim_node_of(unsigned rank);
/* The platform of the running world, or NULL. Any caller. */
const struct sim_platform *sim_running(void);

uint64_t sim_now(void);
void sim_sleep_until(uint64_t ns);
/* Keeps the actor's processor busy for so long, whatever arrives meanwhile. */
void sim_busy(double seconds);

/* Sleeps until sim_wake for this address, or until that time. Waking takes no
 * time. sim_wake: any caller, also with locks. */
void sim_wait(const void *what, uint64_t until_ns);
void sim_wake(const void *what);

/* Lets the time of a copy pass, which shares the rates of its node's memory.
 * The first copy of data that were carried there takes longer. Data that were
 * carried to the target are overwritten. */
void sim_copy(const void *to, const void *from, uint64_t bytes);
/* Notes that a processor has carried so many bytes there. */
void sim_carried(const void *to, uint64_t bytes);
/* Lets the time of carrying pass: as a copy with this rate when it is alone. */
void sim_carry(uint64_t bytes, double rate);

/* Marks memory as being without contents (on), or with contents again. No bytes
 * are moved to or from marked memory, and a process that touches one of its
 * pages is killed. 0; or -1: out of memory, or part of it belongs to another
 * range; or, when it gets contents again, its pages stay protected and it can
 * only be unmapped. */
int sim_hollow(const void *address, size_t bytes, bool on);
/* Like memcpy, unless one of the two has no contents. Takes no time. */
void *sim_move(void *to, const void *from, size_t bytes);

/* Sets a flag in memory that other ranks of the node, or threads of the rank,
 * read. They see it after the platform's time for that, in the order of
 * setting; then those that pause or wait for a flag look again. */
void sim_flag_set(uint32_t *flag, uint32_t value);
/* Sleeps until that time, or until a flag of the node may have been set. */
void sim_flag_wait(uint64_t until_ns);
/* Lets those that wait for a flag of the node look again. */
void sim_flag_wake(void);
/* Sleeps until all flags that the rank has set are seen: to be called before
 * their memory goes. */
void sim_flags_settle(void);

/* Wakes the waiters and pollers of a rank: something has arrived for it. */
void sim_notify(unsigned rank);
uint64_t sim_notices(unsigned rank);
/* Sleeps until there are more notices than that. */
void sim_wait_notice(uint64_t count, uint64_t until_ns);
/* Sleeps between two polls: until a notice, or for a step that grows. */
void sim_pause(void);
/* A poll has found nothing: after many in a row, this pauses. */
void sim_polled(void);

/* Starts threads of the calling rank: body(arg, i) for each i < n. 0, or -1.
 * The time for starting and joining passes before they begin. */
int sim_threads_start(unsigned n, void (*body)(void *arg, unsigned index),
                      void *arg, struct sim_threads **threads);
void sim_threads_join(struct sim_threads *threads);

/* Calls back later, outside any actor: the callback may not sleep. Any caller,
 * also with locks. */
void sim_after(double seconds, void (*call)(void *arg), void *arg);
/* The same for a message that arrives at this place so much later, and then
 * waits for those that have arrived before it. */
void sim_arrive(struct sim_place at, double seconds, void (*call)(void *arg),
                void *arg);
/* The same when the last of these bytes has left. They begin to leave when
 * their connection and their rail are free. The flow must live until then. */
void sim_send(struct sim_flow *flow, struct sim_place from, struct sim_place to,
              uint64_t bytes, void (*call)(void *arg), void *arg);

/* Functions for programs that load this library at run time, by the name
 * sim_api. */
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
    uint64_t (*notices)(unsigned rank);
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
