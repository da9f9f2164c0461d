/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link model: when a message would arrive over ports, adapters and buses
 * of given rates. Posts copy the bytes at once; the receiver sees a message no
 * earlier than the model says (shm_head.due).
 */
#ifndef DAPL_SHM_MODEL_H
#define DAPL_SHM_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "providers/core/core.h"

struct shm_conn;
struct shm_doorbell;
struct shm_ia;

#define SHM_CLOCKS 64
#define SHM_HOPS   3

/* Until when a port, adapter or bus is busy: [0] outbound, [1] inbound. */
struct shm_clock {
    _Alignas(CORE_CACHELINE) _Atomic uint64_t busy_until[2]; /* ns */
    _Atomic uint64_t carried[2]; /* bytes, if the rate is to change */
};

/* The resources of its node that a message passes. */
struct shm_way {
    uint32_t hops; /* 0: no model */
    struct {
        uint32_t clock;
        double ns_per_byte;
    } hop[SHM_HOPS];           /* the first is the port */
    uint64_t change_after;     /* see shm_params */
    double change_ns_per_byte; /* 0: it does not change */
};

/* Sets up the model of a rail that has one. 0, or -1 after one line on stderr
 * (rails disagree about a resource) or without memory. */
int shm_model_open(struct shm_ia *sia);
/* Maps a peer's clocks and copies the way that uses them into *way. NULL: they
 * are not usable, because the peer's description of them is not valid. */
struct shm_clock *shm_model_map(pid_t pid, const struct shm_doorbell *door,
                                struct shm_way *way);
void shm_model_unmap(struct shm_clock *clocks);
/* Occupies the way of so many bytes, to the peer or (@p read) from it. Returns
 * when they arrive, in ns of this process's clock. */
uint64_t shm_model_deliver(struct shm_conn *c, uint64_t bytes, bool read);
/* Spends the CPU time of a post: spins. */
void shm_model_overhead(const struct shm_ia *sia);

#endif
