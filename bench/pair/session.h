/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that are connected over all rails, each with a source and a target
 * buffer. All configurations of a run share it, so that what is compared uses
 * the same connections and memory.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "bench/options/options.h"
#include "bench/options/plan.h"
#include "bench/launch/crowd.h"

/** Bytes before and after the target range that no benchmark may touch. */
#define SESSION_GUARD 4096

/** Where a rank's threads run. */
typedef struct pinning {
    int32_t core;   /**< core of the main thread, -1: not pinned */
    uint32_t base;  /**< first core for the engine's threads, counted among
                         the allowed ones */
    uint32_t cores; /**< number of allowed cores */
} pinning_t;

typedef struct session {
    const options_t *opts;
    drail_job_t *job;
    unsigned rank, peer;
    drail_t *rail;
    uint8_t *source, *target; /**< payloads; target lies between the guards */
    drail_mem_t *source_mem, *target_mem;
    drail_key_t remote;   /**< target buffer of the peer */
    drail_key_t readable; /**< its source; for reads */
    size_t capacity;      /**< longest payload */
    size_t room;          /**< of all payloads that take turns */
    uint64_t turn;        /**< whose it is: both ranks count the same */
    uint64_t seen;        /**< of what was read, so that it is */
    pinning_t pinning[2]; /**< of both ranks */
    crowd_t crowd;
} session_t;

/** Opens, connects, allocates; the peer does the same. On failure @p err says
 *  why; session_close in either case. */
int session_open(session_t *session, drail_job_t *job, const options_t *opts,
                 drail_error_t *err);
void session_close(session_t *session);

/** Switches engine, team, policy, …; the peer switches to the same. */
int session_switch(session_t *session, const setup_t *setup);

/** A message of @p bytes from the source to the peer's target. */
drail_xfer_t session_xfer(const session_t *session, size_t bytes);

/** A read of the peer's source into the target. */
drail_xfer_t session_read(const session_t *session, size_t bytes);

/** Do messages take turns in buffers, or are they read? */
bool session_turns(const session_t *session);
/** How many messages of @p bytes have room side by side. */
uint64_t session_buffers(const session_t *session, size_t bytes);
/** Where the payload of a message is, from source and target. */
size_t session_place(const session_t *session, size_t bytes, uint64_t message);
/** Reads each byte of a message in the target, if the user wants that. */
void session_look(session_t *session, size_t bytes, uint64_t message);

/** Control messages of fixed length; a different length is an error. */
int session_tell(session_t *session, const void *message, size_t bytes);
int session_hear(session_t *session, void *message, size_t bytes);
/** Returns once the peer has called it too. */
int session_sync(session_t *session);

/** Where a rank of the job runs; its core is chosen by session_pin. */
pinning_t session_pinning(const options_t *opts, unsigned rank);
/** Pins what the library leaves where it is: the calling thread and, for the
 *  team forkjoin, those of its OpenMP pool. After each drail_open, which looks
 *  at the cores that are allowed. */
void session_pin(pinning_t *pinning, const options_t *opts);
/** The transport as the options want it. */
void session_config(drail_config_t *cfg, const options_t *opts,
                    const pinning_t *pinning);

#endif
