/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The collectives of dat2/dat_ib_extensions.h (dat_ib_collective_*) for a
 * provider of dapl_rail. The provider has none of its own. It loads a library
 * that the parameter `collectives=LIBRARY` of a line of dat.conf names. The
 * library exports one struct dapl_collectives, named dapl_collectives.
 *
 * The provider checks handles and arguments, and posts the events. The library
 * exchanges the data. An IA has one member at a time; a group is one
 * communicator of members, one on each rank.
 *
 * Threads: calls for different groups may come at the same time. For one group,
 * start() and free_group() come from one thread at a time, and progress() from
 * any thread; free_group() and progress() never at the same time.
 */
#ifndef DAPL_COLLECTIVES_H
#define DAPL_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <netinet/in.h> /* dat2 needs it, and does not include it */

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#ifdef __cplusplus
extern "C" {
#endif

/** dapl_collectives.version: changes when this file does. */
#define DAPL_COLLECTIVES_VERSION 3

/** Bit of an operation in dapl_collectives.operations. */
#define DAPL_COLLECTIVE_BIT(op)                                                \
    (1u << ((unsigned)(op) - (unsigned)DAT_IB_COLLECTIVE_CREATE_MEMBER_OP))

/** A call of an operation. */
struct dapl_collective_call {
    DAT_IB_OP op;     /**< DAT_IB_COLLECTIVE_BARRIER_OP, … */
    const void *send; /**< NULL: in place, but for an all-to-allv. Of a
                           broadcast: not used */
    void *recv;       /**< of a broadcast: the buffer; of a scatter, NULL: in
                           place */
    size_t bytes;     /**< of one rank's block; of operations …V: of the block
                           that this rank sends, or in a scatter receives */
    unsigned root;    /**< of a broadcast, gather, scatter or reduce: less than
                           the group's size */
    /** Of operations …V: bytes of each rank's block, and where it begins. Only
     *  those that the operation has on this rank are not NULL. Valid during
     *  start(). */
    const DAT_COUNT *send_sizes, *send_displs, *recv_sizes, *recv_displs;
    DAT_IB_COLLECTIVE_REDUCE_DATA_OP reduction; /**< of a reduction … */
    DAT_IB_COLLECTIVE_DATA_TYPE type;           /**< … and its elements */
    DAT_CONTEXT context;                        /**< for done(), … */
    DAT_COMPLETION_FLAGS flags;                 /**< … as it is */
};

/** What a new group is made of. The pointers are valid during create_group(),
 *  but for owner, which is valid until free_group() has returned. */
struct dapl_collective_group {
    const void *const *members; /**< each rank's info of create_member() */
    unsigned size, self;        /**< number of ranks; this rank */
    DAT_IB_COLLECTIVE_ID id;    /**< the same on all ranks */
    const DAT_IB_COLLECTIVE_GROUP *layout; /**< ranks of nodes; or NULL */
    DAT_CONTEXT context; /**< for done(): the call is then of operation
                              DAT_IB_COLLECTIVE_CREATE_GROUP_OP */
    /** A call is complete, or the group is created: posts its event. Not
     *  called after free_group() has returned. Any thread. */
    void (*done)(void *owner, const struct dapl_collective_call *call, bool ok);
    void *owner; /**< the first argument of done */
};

/** What progress() has found in a group. */
enum dapl_collective_state {
    DAPL_COLLECTIVE_IDLE,   /**< it had no call */
    DAPL_COLLECTIVE_MOVING, /**< polls carry out its calls */
    DAPL_COLLECTIVE_AT_WORK /**< a thread of the library works for it */
};

struct dapl_collectives {
    unsigned version;    /**< DAPL_COLLECTIVES_VERSION */
    uint32_t operations; /**< DAPL_COLLECTIVE_BIT() of what it can do */
    /**
     * Makes this process reachable for other members.
     * @param ia_names    of dat.conf, and NULL at the end: this IA, or the
     *                    members of a bond. The library may open them.
     * @param address     of that IA.
     * @param member      owned by the provider until free_member().
     * @param info        what other ranks need, to be copied by the consumer;
     *                    valid until free_member().
     * @param bytes       of *info; the same for all members.
     * @return DAT_SUCCESS, or an error.
     */
    DAT_RETURN(*create_member)
    (const char *const *ia_names, const struct sockaddr *address, void **member,
     const void **info, DAT_COUNT *bytes);
    /** Frees a member. Its groups live on. If all of them are freed, it waits
     *  until they have ended, about 3 seconds at most. */
    void (*free_member)(void *member);
    /**
     * Begins to create a group, without waiting for other ranks; ends in
     * how->done(), also later than this call returns.
     * @param member of this rank.
     * @param group  owned by the provider until free_group(), also if the
     *               creation fails later. Set before done() is called.
     * @return DAT_SUCCESS, or an error: nothing was begun.
     */
    DAT_RETURN(*create_group)
    (void *member, const struct dapl_collective_group *how, void **group);
    /** Frees a group, in any state. Calls under way end by done(), not ok: that
     *  takes up to about two seconds if a peer does not answer. If its member
     *  is freed, and it is the last group, it waits as free_member() does. */
    void (*free_group)(void *group);
    /**
     * Begins a call, without waiting for other ranks; ends in done(), also
     * within this call. Calls of a group are carried out in order.
     * @param call copied; its buffers stay the caller's until done().
     * @return DAT_SUCCESS, or an error: nothing was begun.
     */
    DAT_RETURN (*start)(void *group, const struct dapl_collective_call *call);
    /** The consumer polls for events: makes some steps, without waiting for
     *  other ranks. */
    enum dapl_collective_state (*progress)(void *group);
    /** After progress(), if a group is at work and none moves: waits until the
     *  group is no longer at work, 0.2 ms at most. Threads: as progress(). */
    void (*leave_core)(void *group);
    /** The consumer goes to sleep until done() is called. Threads: as
     *  progress(). */
    void (*rest)(void *group);
};

#ifdef __cplusplus
}
#endif

#endif
