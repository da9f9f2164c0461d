/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The other end of a connection, in this process or in one of its own, driven
 * by the test in one line of thought: each peer_… call is done by the peer
 * before it returns. So every test can run over both.
 */
#ifndef TESTS_PROVIDER_PEER_H
#define TESTS_PROVIDER_PEER_H

#include <sys/types.h>

#include "util.h"

typedef enum peer_place {
    PEER_HERE,    /**< loopback within the process */
    PEER_PROCESS, /**< a forked process */
    PEER_PLACES
} peer_place_t;

/** EVDs of an end, for peer_wait. */
typedef enum end_evd { EVD_CONN, EVD_RECV, EVD_REQUEST, EVD_ASYNC } end_evd_t;

typedef struct peer {
    end_t end;  /**< of a peer in another process: only qual and mem's
                     address, bytes and contexts */
    pid_t pid;  /**< 0: the peer is in this process */
    int socket; /**< commands to the process */
} peer_t;

typedef struct peer_options {
    peer_place_t place;
    memory_kind_t memory;
    size_t bytes; /**< registered memory */
    DAT_MEM_PRIV_FLAGS privileges;
} peer_options_t;

/** Opens the peer. To be called before the test opens DAT objects itself
 *  (they would be inherited by the peer's process). */
void peer_start(peer_t *peer, const peer_options_t *options);
/** Connects @p me to the peer. */
void peer_connect(peer_t *peer, end_t *me);
/** Closes the peer and waits for its process, which must end well. */
void peer_stop(peer_t *peer);
/** The same after closing the test's own end. */
void peer_close(peer_t *peer, end_t *me);
/** Starts the peer, opens the test's own end with as much memory of the same
 *  kind, and connects both. */
void peer_open(peer_t *peer, end_t *me, const peer_options_t *options);
/** SIGKILL; the peer is gone afterwards. */
void peer_kill(peer_t *peer);

/** Fills the peer's memory, guards included, with noise of this seed. */
void peer_fill(peer_t *peer, uint64_t seed);
/** Copies out all of the peer's memory: mem.bytes + 2 * GUARD bytes. */
void peer_read(peer_t *peer, void *image);

void peer_post_recv(peer_t *peer, size_t offset, size_t bytes, uint64_t cookie);
void peer_post_send(peer_t *peer, size_t offset, size_t bytes, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags);
/** dat_evd_wait by the peer, for one event. */
DAT_RETURN peer_wait(peer_t *peer, end_evd_t evd, int milliseconds,
                     DAT_EVENT *event);
/** The peer waits for a DTO completion with this cookie, status, length. */
void peer_expect_dto(peer_t *peer, end_evd_t evd, uint64_t cookie,
                     DAT_DTO_COMPLETION_STATUS status, size_t length);
void peer_expect_event(peer_t *peer, end_evd_t evd, DAT_EVENT_NUMBER number);
void peer_free_lmr(peer_t *peer);
void peer_disconnect(peer_t *peer, DAT_CLOSE_FLAGS flags);
/** dat_ep_reset: the peer's endpoint can be connected again. */
void peer_reset(peer_t *peer);

/** Zeroed memory that forked processes share. */
void *shared_memory(size_t bytes);
void shared_free(void *memory, size_t bytes);

/** Forks a process that runs @p main and must then end well: see join. */
pid_t spawn(void (*main)(void *arg), void *arg);
/** The same, but it starts only when the caller has closed both ends of the
 *  pipe @p gate: so it can be forked before the caller opens DAT objects. */
pid_t spawn_behind(const int gate[2], void (*main)(void *arg), void *arg);
/** Opens @p me, without memory, and spawns a process that inherits no DAT
 *  objects: main(arg) begins when *qual, in shared memory, is @p me's. */
pid_t spawn_and_open(end_t *me, DAT_CONN_QUAL *qual, void (*main)(void *arg),
                     void *arg);
/** Waits for a spawned process; it must have returned from main. */
void join(pid_t pid);

#endif
